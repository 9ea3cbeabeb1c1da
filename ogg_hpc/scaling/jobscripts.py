"""Jobscripts of a study, from the templates of the package: one for each number of ranks.

Such a job measures all cases at its P, each as a run of its own, and leaves out what has a record
already: submitting it again goes on.
"""

from __future__ import annotations

import math
import re
import shlex
from importlib.resources import files
from pathlib import Path

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.files import write_whole
from ogg_hpc.scaling.folder import StudyFolder
from ogg_hpc.scaling.launcher import LSF, SLURM, launch_command

SCHEDULERS = (SLURM, LSF)


def job_file(folder: StudyFolder, ranks: int) -> Path:
    """Return where the jobscript for P ranks is."""
    return folder.path / "jobs" / f"{folder.study.name}-p{ranks:04d}.sh"


def write_jobscripts(folder: StudyFolder, scheduler: str, ranks_per_node: int) -> list[Path]:
    """Write the jobscripts of a study; return where they are.

    Parameters
    ----------
    folder
        The planned study.
    scheduler
        One of `SCHEDULERS`.
    ranks_per_node
        Most ranks on a node.
    """
    if ranks_per_node < 1:
        raise SettingsError("--ranks-per-node must be at least 1")
    template = (files("ogg_hpc.scaling") / "templates" / f"{scheduler}.sh").read_text("utf-8")
    paths = []
    for ranks in sorted(folder.study.ranks):
        path = job_file(folder, ranks)
        with write_whole(path) as temporary:
            text = _filled(template, _values(folder, scheduler, ranks, ranks_per_node))
            temporary.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def _values(folder: StudyFolder, scheduler: str, ranks: int, ranks_per_node: int) -> dict[str, str]:
    study, root = folder.study, folder.path.resolve()
    names = [point.name for point in folder.points if point.ranks == ranks]
    gpu = study.device == "cuda"
    if re.search(r"\s", str(root)):
        raise SettingsError(f"{root}: no spaces in the folder of a study that is submitted")
    return {
        "STUDY": study.name,
        "NAME": f"{study.name}-p{ranks:04d}",
        "FOLDER": shlex.quote(str(root)),
        "POINTS": " ".join(names),
        "RANKS": str(ranks),
        "NODES": str(math.ceil(ranks / ranks_per_node)),
        "RANKS_PER_NODE": str(min(ranks, ranks_per_node)),
        "THREADS": str(study.threads),
        "MINUTES": str(study.minutes),
        "LAUNCH": shlex.join(launch_command(scheduler, ranks, study.threads, gpu)),
        "DEVICE": study.device,
        "GPUS": str(int(gpu)),
    }


def _filled(template: str, values: dict[str, str]) -> str:
    """Replace each @NAME@ by its value."""
    return re.sub(r"@([A-Z_]+)@", lambda found: values[found[1]], template)
