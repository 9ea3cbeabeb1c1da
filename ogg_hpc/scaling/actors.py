"""Steps a second against the number of actors: a study, each of whose points is a run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ogg_hpc.actors.gateway.announcement import controllers_folder
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.actors.throughput import Throughput, throughput_of
from ogg_hpc.errors import OggError, SettingsError
from ogg_hpc.runtime.launch import die_with_parent
from ogg_hpc.runtime.run_folder import RECORD

HOSTS = ("local", "remote")
_PATIENCE = 60.0  # seconds for a learner to tell where remote actors connect, and for these to end
_LOOK = 0.05


@dataclass(frozen=True)
class ActorStudy:
    """What is measured.

    Attributes
    ----------
    config
        A TOML file or a preset, as for ``ogg-hpc actors run``.
    overrides
        ``section.key=value`` texts that win over it.
    actors
        Numbers of environment processes.
    seeds
        How many runs of each, with the seeds 0, 1, …
    rounds
        Rounds that are measured in each, after the one in which actors are started.
    hosts
        Whether the processes are ``local``, the learner's own, or ``remote``, behind a controller.
    """

    config: str
    overrides: tuple[str, ...]
    actors: tuple[int, ...]
    seeds: int
    rounds: int
    hosts: str = "local"

    def __post_init__(self) -> None:
        if not self.actors or min(self.actors) < 1:
            raise SettingsError("--actors are numbers from 1")
        if self.seeds < 1 or self.rounds < 1:
            raise SettingsError("--seeds and --rounds must be at least 1")
        if self.hosts not in HOSTS:
            raise SettingsError(f"--hosts is {' or '.join(HOSTS)}, not {self.hosts!r}")


def measure_points(
    study: ActorStudy, settings: ActorsSettings, folder: Path, say: Callable[[str], None]
) -> list[Throughput]:
    """Measure all points of a study that the folder does not hold yet; return all of them.

    Parameters
    ----------
    study
        What to measure.
    settings
        What its configuration says.
    folder
        Where the runs go; a study that was interrupted goes on.
    say
        Told of each point.

    Raises
    ------
    SettingsError
        The configuration learns in no rounds.
    OggError
        A run fails.
    """
    if settings.algorithm != "ppo":
        raise SettingsError("rounds are those of proximal policy optimisation: algorithm = ppo")
    points = []
    for actors in sorted(set(study.actors)):
        for seed in range(study.seeds):
            run = folder / f"{study.hosts}-{actors:04d}-seed{seed}"
            if not (run / RECORD).exists():
                _measure(study, settings, run, actors, seed)
            point = throughput_of(run, actors, seed)
            say(f"{run.name}: {point.rate:,.1f} steps/s")
            points.append(point)
    return points


def _measure(
    study: ActorStudy, settings: ActorsSettings, run: Path, actors: int, seed: int
) -> None:
    """Make one run."""
    remote = study.hosts == "remote"
    decided = [
        f"seed={seed}",
        f"steps={(study.rounds + 1) * settings.ppo.round_steps}",
        "output.tensorboard=false",
        f"roles.processes={actors}",
        *(["remote.listen=127.0.0.1:0", "roles.local=false"] if remote else []),
    ]
    texts = [*study.overrides, *decided]
    command = ["run", study.config, "--output", str(run), "--json"]
    command += [word for text in texts for word in ("--set", text)]
    with _started(command, run) as learner:
        if remote:
            file = _announced(run, learner)
            sizes = ["--processes", str(actors)]
            sizes += ["--environments", str(settings.roles.environments)]
            with _started(["actor", "--connect", str(file), *sizes], run) as host:
                _wait(learner, run)
                _wait(host, run, _PATIENCE)
        else:
            _wait(learner, run)


@contextmanager
def _started(command: Sequence[str], run: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command of ``ogg-hpc actors``, and see to it that it ends."""
    run.parent.mkdir(parents=True, exist_ok=True)
    with (
        _log(run).open("ab") as log,
        subprocess.Popen(
            [sys.executable, "-m", "ogg_hpc", "actors", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            preexec_fn=die_with_parent,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()


def _announced(run: Path, learner: subprocess.Popen[bytes]) -> Path:
    """Return the file that tells remote actors where to connect, once it is there."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and learner.poll() is None:
        if files := [*controllers_folder(run).glob("[!.]*.json")]:
            return files[0]
        time.sleep(_LOOK)
    raise OggError(f"{run}: the learner tells no address; see {_log(run)}")


def _wait(process: subprocess.Popen[bytes], run: Path, seconds: float | None = None) -> None:
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        raise OggError(f"{run}: no end after {seconds:.0f} s; see {_log(run)}") from None
    if code:
        words = _log(run).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise OggError(f"{run}: {words[-1] if words else f'exit code {code}'}")


def _log(run: Path) -> Path:
    return run.with_name(f"{run.name}.log")
