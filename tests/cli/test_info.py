import platform


def test_record(ogg, one_object):
    code, out, err = ogg("info", "--json")
    record = one_object(out)
    assert (code, err) == (0, "")
    assert record["versions"]["python"] == platform.python_version()
    assert record["versions"]["numpy"]
    assert record["mpi"] == {"library": "none: one rank", "gpu_aware": False}
    [rank] = record["ranks"]
    assert set(rank) == {"rank", "host", "local_rank", "device", "threads"}
    assert (rank["rank"], rank["local_rank"]) == (0, 0)


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
