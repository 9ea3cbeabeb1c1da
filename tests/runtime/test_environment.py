import json
import re

from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.environment import describe, versions


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
    json.dumps(record)


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
