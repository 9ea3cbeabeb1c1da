import json

import numpy as np


def test_classification_does_not_depend_on_the_ranks(run_ranks, tmp_path):
    vectors = np.random.default_rng(0).normal(size=(40, 3)).round(3)
    rows = "".join(f"{i} {' '.join(map(str, row))}\n" for i, row in enumerate(vectors.tolist()))
    (tmp_path / "vectors.txt").write_text(f"40 3\n{rows}")
    (tmp_path / "classes.txt").write_text("".join(f"{i} {i % 3}\n" for i in range(40)))
    command = [
        "-m", "ogg_hpc", "embed-eval", "classify", tmp_path / "vectors.txt",
        "--labels", tmp_path / "classes.txt", "--shuffles", "2", "--json",
    ]  # fmt: skip
    results = []
    for ranks in (1, 3):
        ended = run_ranks(ranks, command)
        assert ended.returncode == 0, ended.stderr
        record = json.loads(ended.stdout)
        assert record["ranks"] == ranks
        results.append(record["results"])
    assert results[0] == results[1]


def test_an_error_speaks_once(run_ranks, tmp_path):
    (tmp_path / "vectors.txt").write_text("2 1\n0 1\n1 2\n")
    missing = tmp_path / "classes.txt"
    ended = run_ranks(
        2,
        ["-m", "ogg_hpc", "embed-eval", "classify", tmp_path / "vectors.txt", "--labels", missing],
    )
    assert ended.returncode == 2
    assert ended.stderr.count("no such file") == 1
