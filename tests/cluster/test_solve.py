"""One graph on many ranks, and many graphs as an array."""

import json

import pytest

pytestmark = pytest.mark.timeout(600)

CPUS = ("--cpus-per-task=1",)


def record(job):
    """Parse the JSON line between the warnings of a job's output."""
    return json.loads(next(line for line in job.output().splitlines() if line.startswith("{")))


def covers(nodes, path):
    return all(set(line.split()) & set(map(str, nodes)) for line in path.read_text().splitlines())


def test_each_rank_has_a_gpu_of_its_own_and_its_cores(submit, places, tmp_path, graphs):
    job = submit(
        "solve.sh", "graphs/five.txt", "--json", "--output", "five.json",
        options=["--nodes=2", "--ntasks-per-node=2", "--cpus-per-task=2"],
    )  # fmt: skip
    assert job.end() == "COMPLETED", job.report()
    found = record(job)
    assert (found["ranks"], found["objective"], found["stopped"]) == (4, 3, None)
    nodes = json.loads((tmp_path / "five.json").read_text())["nodes"]
    assert covers(nodes, tmp_path / "graphs/five.txt")
    ranks = places(job)
    assert [place.rank for place in ranks] == list("0123")
    assert {place.threads for place in ranks} == {"2"}
    for node in "n1", "n2":
        gpus = [place.gpus for place in ranks if place.node == node]
        assert len(gpus) == len(set(gpus)) == 2
        assert all(gpu in set("012345") for gpu in gpus)


def test_wrong_launcher_is_refused_on_every_rank(submit, make_site, graphs):
    job = submit(
        "solve.sh",
        "graphs/five.txt",
        options=[*CPUS, "--ntasks-per-node=2"],
        site=make_site("none"),
    )
    assert job.end() == "FAILED", job.report()
    assert job.field("ExitCode") == "2:0"
    assert "srun started 2 ranks but MPI sees 1" in job.output()
    assert "Traceback" not in job.output()


def test_time_limit_gives_the_best_solution_so_far(submit, tmp_path):
    """The one test that waits for the real limit; Slurm signals up to a minute early."""
    edges = (f"{i} {(i * i + j) % 997}\n" for i in range(997) for j in (1, 5, 25))
    (tmp_path / "hard.txt").write_text("".join(edges))
    job = submit(
        "solve.sh", "hard.txt", "--polish", 600, "--json",
        options=[*CPUS, "--ntasks-per-node=1", "--time=2", "--signal=URG@80"],
    )  # fmt: skip
    assert job.end() == "COMPLETED", job.report()
    assert record(job)["stopped"] == "signal"
    nodes = json.loads((tmp_path / "hard.mvc.json").read_text())["nodes"]
    assert covers(nodes, tmp_path / "hard.txt")


def test_array_solves_every_graph_and_again_what_is_missing(submit, tmp_path, graphs):
    (tmp_path / "list.txt").write_text("\n".join([*graphs, "", "graphs/late.txt"]) + "\n")

    def run():
        return submit(
            "solve-array.sh", "list.txt", "results", "--problem", "mvc",
            options=[*CPUS, "--array=3-7:4"],
        )  # fmt: skip

    first = run()
    first.end()
    assert sorted(first.fields("JobState")) == ["COMPLETED", "FAILED"], first.report()
    assert "graphs/late.txt" in first.output()
    results = tmp_path / "results"
    for path, size in graphs.items():
        name = path.replace("/", "%")
        found = json.loads((results / f"{name}.record.json").read_text())
        assert (found["objective"], found["feasible"]) == (size, True)
        nodes = json.loads((results / f"{name}.solution.json").read_text())["nodes"]
        assert len(nodes) == size
        assert covers(nodes, tmp_path / path)
    assert not (results / "graphs%late.txt.record.json").exists()

    (tmp_path / "graphs/late.txt").write_text("1 2\n")
    (results / "graphs%five.txt.record.json").unlink()
    before = {path: path.stat().st_mtime_ns for path in results.glob("*.record.json")}
    second = run()
    second.end()
    assert second.fields("JobState") == ["COMPLETED", "COMPLETED"], second.report()
    assert len(list(results.glob("*.record.json"))) == len(graphs) + 1
    assert {path: path.stat().st_mtime_ns for path in before} == before
