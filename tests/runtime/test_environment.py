import json
import os
import platform
import re
import shutil
import socket
import subprocess

import pytest

from ogg_hpc.runtime import environment as module
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.environment import commit, describe, hosts, launcher, versions
from ogg_hpc.runtime.mistakes import common_mistakes


def test_versions_are_those_installed():
    import numpy

    found = versions()
    assert found["numpy"] == numpy.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", found["ogg-hpc"])
    assert re.fullmatch(r"3\.\d+\.\d+.*", found["python"])
    assert {"torch", "scipy", "numba", "h5py", "networkx", "mpi4py", "cupy"} <= set(found)


def test_description_of_one_rank_names_its_place(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    record = describe(Communicator())
    assert record["versions"] == versions()
    assert record["mpi"]["gpu_aware"] is False
    (rank,) = record["ranks"]
    assert rank["rank"] == rank["local_rank"] == 0
    assert rank["device"] == "cpu"
    assert rank["threads"] == 3
    assert rank["host"]
    assert record["system"]["kernel"] == platform.release()
    assert record["launcher"]["variables"] == launcher()["variables"]
    assert record["warnings"] == common_mistakes(record)
    json.dumps(record)


@pytest.mark.parametrize(
    ("value", "threads"), [("7", 7), ("4,2", 4), ("", None), ("0", None), ("many", None)]
)
def test_threads_are_those_of_the_outermost_level(monkeypatch, value, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    [rank] = describe(Communicator())["ranks"]
    assert rank["threads"] == (threads or os.cpu_count())


def test_description_of_several_ranks(run_ranks, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import json\n"
        "from ogg_hpc.runtime.environment import describe\n"
        "from ogg_hpc.runtime.launch import start\n"
        "comm = start('cpu')\n"
        "record = describe(comm)\n"
        "if comm.rank == 1: print(json.dumps(record))\n"
    )
    run = run_ranks(2, [script])
    record = json.loads(run.stdout)
    assert [rank["rank"] for rank in record["ranks"]] == [0, 1]
    assert [rank["local_rank"] for rank in record["ranks"]] == [0, 1]
    assert [rank["threads"] for rank in record["ranks"]] == [1, 1]
    assert "MPI" in record["mpi"]["library"]


@pytest.fixture
def package_in(monkeypatch, tmp_path):
    """Pretend that the package lies in a folder, and what pip has noted of where it is from."""

    class Installed:
        noted: str | None = None

        def read_text(self, name):
            return self.noted if name == "direct_url.json" else None

    installed = Installed()
    monkeypatch.setattr(module, "__file__", str(tmp_path / "ogg_hpc" / "runtime" / "module.py"))
    monkeypatch.setattr(module, "distribution", lambda name: installed)
    commit.cache_clear()
    yield tmp_path, installed
    commit.cache_clear()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_commit_of_a_checkout_is_described(package_in):
    folder, _ = package_in

    def git(*arguments):
        author = ["-c", "user.name=a", "-c", "user.email=a@b"]
        run = subprocess.run(
            ["git", *author, *arguments], cwd=folder, capture_output=True, text=True, check=True
        )
        return run.stdout.strip()

    git("init", "-q")
    (folder / "file").write_text("1")
    git("add", "file")
    git("commit", "-qm", "first")
    first = git("rev-parse", "HEAD")
    assert first.startswith(commit())
    (folder / "file").write_text("2")
    assert commit() + "-dirty" == module.commit.__wrapped__()
    git("commit", "-qam", "second")
    git("tag", "v1")
    assert commit.__wrapped__() == "v1"


def test_commit_of_an_installed_package_is_what_pip_noted(package_in):
    _, installed = package_in
    assert commit() is None
    for noted, expected in (
        ('{"url": "https://host/x.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}', "abc"),
        ('{"url": "file:///x", "dir_info": {"editable": true}}', None),
        ("damaged", None),
    ):
        installed.noted = noted
        assert commit.__wrapped__() == expected


def test_no_commit_where_git_cannot_say(package_in, monkeypatch):
    folder, _ = package_in
    (folder / ".git").mkdir()
    assert commit() is None
    monkeypatch.setenv("PATH", "")
    assert commit.__wrapped__() is None


def test_hosts_of_one_rank():
    assert hosts(Communicator()) == [{"host": socket.gethostname(), "ranks": 1}]


def test_hosts_are_counted_in_rank_order():
    class Ranks(Communicator):
        def gather_objects(self, value):
            return ["n2", "n1", "n2", "n1", "n2"]

    assert hosts(Ranks()) == [{"host": "n2", "ranks": 3}, {"host": "n1", "ranks": 2}]


def test_launcher_is_told_with_sizes_and_ids_but_no_secrets():
    environment = {
        "SLURM_STEP_NUM_TASKS": "8", "SLURM_JOB_ID": "4711", "SLURM_GPUS_PER_TASK": "1",
        "SLURM_JWT": "secret", "SLURM_JOB_USER": "me", "PMI_SECRET": "secret", "HOME": "/home/me",
    }  # fmt: skip
    found = launcher(environment)
    assert (found["name"], found["ranks"]) == ("srun", 8)
    assert found["variables"] == {
        "SLURM_STEP_NUM_TASKS": "8", "SLURM_JOB_ID": "4711", "SLURM_GPUS_PER_TASK": "1",
    }  # fmt: skip
    assert launcher({}) == {"name": None, "ranks": 1, "variables": {}}
