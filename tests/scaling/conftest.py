import sys
from dataclasses import replace

import pytest

from ogg_hpc.scaling.folder import plan_folder
from ogg_hpc.scaling.records import Record
from ogg_hpc.scaling.study import load_study

STUDY = """\
name = "small"
ranks = [1, 2, 4]
device = "cpu"

[[cases]]
name = "search"
graph = "er:n=40,p=0.3,seed=1"
engine = "reference"
steps = 2

[[cases]]
name = "train"
kind = "training"
graph = "er:n=30,p=0.3,seed=1"
engine = "scalar"
overrides = ["learning.batch=4"]
steps = 1
"""

# Stands in for a launcher: writes the record of the point that it should measure, notes that, and
# fails where it is told to. Arguments: FOLDER FAILING RANKS, and the command to start.
_STAND_IN = """\
import json, sys
from pathlib import Path
folder, failing, ranks, *command = sys.argv[1:]
place = command.index("measure")
point, record = Path(command[place + 1]), Path(command[place + 3])
with open(Path(folder, "started"), "a") as started:
    started.write(f"{point.stem} {ranks}\\n")
if failing and failing in point.stem:
    sys.exit("ogg-hpc: the point is not to be measured")
document = json.loads(Path(folder, "record.json").read_text())
document |= {"case": point.stem.partition(".")[0], "ranks": int(ranks)}
document["hosts"] = [{"host": "n1", "ranks": int(ranks), "cores": 2, "gpus": 0, "load": 0.5}]
record.write_text(json.dumps(document))
"""


@pytest.fixture
def study_file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def folder(study_file, tmp_path):
    """A planned study."""
    return plan_folder(load_study(study_file), tmp_path / "out")


@pytest.fixture
def record():
    """Make a record of a strong case whose step takes some seconds on P ranks of 64 cores."""

    def make(ranks=1, seconds=1.0, **changes):
        record = Record(
            study="small",
            case="search",
            kind="inference",
            scaling="strong",
            graph="er:n=40,p=0.3,seed=1",
            nodes=1000,
            edges=50_000,
            entries=100_000,
            engine="reference",
            device="cpu",
            seed=1,
            threads=1,
            ranks=ranks,
            hosts=[{"host": "n1", "ranks": ranks, "cores": 64, "gpus": 0, "load": 0.5}],
            steps=10,
            step_seconds=[seconds * 1.1, seconds, seconds * 0.9],
            phases={
                name: {"min": seconds * share, "median": seconds * share, "max": seconds * share}
                for name, share in (("step", 1.0), ("computation", 0.75), ("allgatherv", 0.25))
            },
            collectives={"allgatherv": {"calls": 2, "bytes": 8000 * (ranks - 1) / ranks}},
            traffic={"message": 24, "unit": "nodes", "exact": None, "paper": None},
            network={} if ranks == 1 else {"8": 1e-5, "8000000": 1e-2},
            peak_memory_bytes=2**30,
            date="2026-01-02T03:04:05+00:00",
            commit="abc",
        )
        return replace(record, **changes)

    return make


@pytest.fixture
def stand_in(tmp_path, record):
    """A launcher that measures nothing; ``stand_in.started()`` tells what it was asked to start."""
    from ogg_hpc.scaling.records import write_record

    script = tmp_path / "stand_in.py"
    script.write_text(_STAND_IN)
    write_record(tmp_path / "record.json", record())

    class StandIn:
        def launcher(self, failing="''"):
            return f"{sys.executable} {script} {tmp_path} {failing} {{ranks}}"

        def started(self):
            path = tmp_path / "started"
            lines = path.read_text().split("\n")[:-1] if path.exists() else []
            path.unlink(missing_ok=True)
            return lines

    return StandIn()
