import json
import os
import signal
import sys
from pathlib import Path

import pytest

from ogg_hpc.graphs.shards import GraphStore, check_store
from ogg_hpc.runtime.launch import promised_size

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "make_training_set.py"
CONFIG = """
graphs_per_shard = 2
objectives = ["mvc", "maxcut"]
method = "search"

[[graphs]]
family = "er"
nodes = [6, 14]
p = 0.3
count = 9

[[graphs]]
family = "ba"
nodes = 12
d = 2
count = 6
"""

pytestmark = pytest.mark.skipif(promised_size() is not None, reason="the script starts ranks")


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    path = tmp_path_factory.mktemp("config") / "set.toml"
    path.write_text(CONFIG)
    return path


@pytest.fixture(scope="module")
def sets(run_ranks, config, tmp_path_factory):
    """The same training set made by one, two and three ranks."""
    folder = tmp_path_factory.mktemp("sets")
    for ranks in (1, 2, 3):
        done = run_ranks(ranks, [SCRIPT, config, "--output", folder / f"{ranks}", "--json"], 300)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["ranks"] == ranks
    return folder


def content(folder):
    """What the shards and the manifest hold; the record tells of seconds."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "record.json"}


def test_every_number_of_ranks_makes_the_same_bytes(sets):
    one = content(sets / "1")
    assert len(one) == 8 + 2
    assert content(sets / "2") == one
    assert content(sets / "3") == one


WAITING = """
import time
from pathlib import Path

from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover


class Waiting(MinimumVertexCover):
    name = "waiting"
    calls = 0

    def optimum(self, graph):
        Waiting.calls += 1
        while Waiting.calls > 3 and not Path(__file__).with_name("go").exists():
            time.sleep(0.01)
        return super().optimum(graph)
"""


def test_a_killed_job_goes_on_where_it_was(
    config, mpiexec, run_ranks, clean_environment, tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    from watched_job import WatchedJob

    (tmp_path / "waiting.py").write_text(WAITING)
    problem = f"objectives=['{tmp_path}/waiting.py:Waiting']"

    def command(name):
        return [SCRIPT, config, "--output", tmp_path / name, "--set", problem, "--json"]

    killed = tmp_path / "killed"
    launched = [mpiexec, "-n", "2", sys.executable, *command("killed")]
    # A shard is finished when it has been noted, a moment after it is there.
    notes = tmp_path / ".killed.parts"
    with WatchedJob(launched, clean_environment, tmp_path) as job:
        assert job.wait_until(lambda: len([*notes.glob("shard-*")]) == 2, 300)
        for pid in job.processes():
            os.kill(pid, signal.SIGKILL)
        job.wait_for_the_end(60)
    kept = {path: path.stat().st_mtime_ns for path in killed.glob("shard-*.h5")}
    (tmp_path / "go").touch()
    for name, made in (("killed", 11), ("undisturbed", 15)):
        done = run_ranks(3, command(name), 300)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["made"] == made
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert content(killed) == content(tmp_path / "undisturbed")


def test_mistakes_are_one_message_of_all_ranks(run_ranks, config, sets, tmp_path):
    for options, message in (
        (["--output", sets / "1", "--set", "limit=3"], "limit = 10.0, not 3.0; choose another"),
        (["--output", tmp_path / "new", "--set", "limit=-1"], "limit must be positive"),
    ):
        done = run_ranks(2, [SCRIPT, config, *options])
        assert done.returncode == 2
        assert done.stderr.count("ogg-hpc: ") == 1
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_the_example_is_made_and_all_of_it_is_solved(run_ranks, tmp_path):
    config = ROOT / "examples" / "training_set.toml"
    done = run_ranks(2, [SCRIPT, config, "--output", tmp_path, "--json"], 600)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["graphs"] == 900
    for family in record["families"]:
        assert (
            family["known"]
            == family["proven"]
            == dict.fromkeys(("maxcut", "mvc"), family["graphs"])
        )
    assert check_store(tmp_path) == []
    with GraphStore(tmp_path) as store:
        assert len(store) == 900
