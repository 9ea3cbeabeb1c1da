import os
import platform


def test_record(ogg, one_object):
    code, out, err = ogg("info", "--json")
    record = one_object(out)
    assert (code, err) == (0, "")
    assert record["versions"]["python"] == platform.python_version()
    assert record["versions"]["numpy"]
    assert record["mpi"] == {"library": "none: one rank", "gpu_aware": False}
    [rank] = record["ranks"]
    assert {"rank", "host", "local_rank", "device", "threads"} <= set(rank)
    assert (rank["rank"], rank["local_rank"]) == (0, 0)
    assert rank["cores"]["count"] == len(os.sched_getaffinity(0))
    assert record["hosts"][0]["memory_bytes"] > 2**20
    assert record["folder"]["path"] == os.getcwd()


def test_table(ogg):
    code, out, _ = ogg("info", "--device", "cpu")
    assert code == 0
    for text in ("numpy", "torch", "MPI: none: one rank (GPU-aware: no)", "local rank", "cpu"):
        assert text in out


def test_ranks_are_listed_once(run_ranks, one_object):
    done = run_ranks(2, ["-m", "ogg_hpc", "info", "--json"])
    record = one_object(done.stdout)
    assert done.returncode == 0
    assert [rank["rank"] for rank in record["ranks"]] == [0, 1]
    assert record["mpi"]["library"] != "none: one rank"


def test_mistakes_are_warnings_of_the_report(ogg, one_object, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1000")
    warning = f"slow one another: set OMP_NUM_THREADS={len(os.sched_getaffinity(0))}"
    code, out, _ = ogg("info")
    assert code == 0
    assert warning in out
    assert any(warning in told for told in one_object(ogg("info", "--json")[1])["warnings"])


def test_a_gpu_is_shown_with_its_memory_and_driver(ogg, monkeypatch):
    gpu = {
        "name": "Tesla V100-SXM2-16GB", "bus": "0004:04:00.0", "memory_bytes": 16 * 2**30,
        "free_bytes": 12 * 2**30, "compute_capability": "7.0", "driver": "535.104.05",
        "cuda": "12.2",
    }  # fmt: skip
    monkeypatch.setattr("ogg_hpc.runtime.device.CPUDevice.gpu", lambda self: gpu)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2")
    monkeypatch.setenv("COLUMNS", "200")
    _, out, _ = ogg("info", "--device", "cpu")
    shown = "".join(out.split())
    for text in ("Tesla V100-SXM2-16GB at 0004:04:00.0", "12.0 GiB of 16.0 GiB free",
                 "driver 535.104.05, CUDA 12.2", "CUDA_VISIBLE_DEVICES=2"):  # fmt: skip
        for word in text.split():
            assert word in shown
