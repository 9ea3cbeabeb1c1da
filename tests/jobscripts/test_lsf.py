"""The jobscripts for LSF, run by a stub of it that checks their options (`lsf_stub.py`)."""

import json
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from ogg_hpc.embedding.store import read_embedding
from ogg_hpc.policies.file import load_policy

# Ranks that wait for one another spin, which takes long where other work has the cores.
pytestmark = pytest.mark.timeout(600)

ROOT = Path(__file__).parents[2]
STUB = Path(__file__).with_name("lsf_stub.py")
GOLDEN = Path(__file__).with_name("lsf_command_lines.txt")

SLURM = sorted(set((ROOT / "jobscripts/slurm").glob("*.sh")) - {ROOT / "jobscripts/slurm/srun.sh"})

# What the golden file has for each script.
ARGUMENTS = {
    "train.sh": "mine.toml runs/mine --set learning.steps=500",
    "solve.sh": "graph.mtx --polish 60 --json",
    "solve-array.sh": "graphs.txt results --problem mis",
    "preprocess.sh": "stores a.mtx 'b c.mtx'",
    "convert.sh": "'edges 1.txt.gz' 'stores/edges 1.h5' --undirected",
    "embed.sh": "graph.h5 'emb/a b.h5' --method line",
    "evolve.sh": "mvc-evolution runs/evolved",
    "actors.sh": "cartpole runs/pole",
    "actor.sh": "runs/pole/controllers/n1.json --environments 8",
}


GRAPHS = """
[[train]]
family = "er"
nodes = 60
p = 0.1
count = 8
[[validation]]
family = "er"
nodes = 60
p = 0.1
count = 2
seed = 9
[output]
checkpoint_every = 2
evaluate_every = 20
tensorboard = false
"""
CONFIGS = {
    "train.sh": f"[learning]\nsteps = 60\n{GRAPHS}",
    "evolve.sh": (
        'method = "evolution"\npolicy = "degree-messages"\n'
        f"[evolution]\ngenerations = 30\npopulation = 4\n{GRAPHS}"
    ),
}


ACTORS = """
steps = 640
[environment]
name = "synthetic"
options = { seconds = 0.01 }
[network.model]
hidden = [8]
[roles]
environments = 1
[ppo]
round_steps = 32
minibatch = 32
epochs = 1
[output]
tensorboard = false
"""


@pytest.fixture
def lsf(tmp_path, clean_environment, mpiexec):
    """Submit a script in a folder of its own: two GPUs a node there, so that few ranks are many."""
    del mpiexec  # beside this Python, where the stub looks for it
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, start in (
        ("bsub", f"{STUB} bsub"),
        ("jsrun", f"{STUB} jsrun"),
        ("ogg-hpc", "-m ogg_hpc"),
    ):
        (commands / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {start} "$@"\n')
        (commands / name).chmod(0o755)
    (tmp_path / "jobscripts").symlink_to(ROOT / "jobscripts")
    (tmp_path / "graphs.txt").write_text("a.mtx\n\nb.mtx\n")
    site = tmp_path / "site.sh"
    site.write_text(f'export PATH="{commands}:$PATH"\nexport GPUS_PER_NODE=2 CORES_PER_GPU=2\n')
    environment = {
        **clean_environment,
        "PATH": f"{commands}:{clean_environment['PATH']}",
        "PYTHONPATH": str(ROOT),
        "OGG_HPC_SITE": str(site),
        "STUB_LOG": str(tmp_path / "steps.txt"),
    }

    def submit(script, arguments, *options, **variables):
        with (ROOT / "jobscripts" / "lsf" / script).open() as text:
            job = subprocess.run(
                ["bsub", *options], stdin=text, cwd=tmp_path, capture_output=True, text=True,
                env={**environment, "ARGUMENTS": arguments, **variables}, timeout=280,
            )  # fmt: skip
        job.output = "".join(
            file.read_text() for file in sorted(tmp_path.glob(f"{Path(script).stem}-4711*.out"))
        )
        log = tmp_path / "steps.txt"
        job.steps = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return job

    submit.folder, submit.environment, submit.site = tmp_path, environment, site
    return submit


def command_lines(lsf):
    """Return what every script runs on 1, 2 and 4 nodes of Summit's shape."""
    lsf.site.write_text(f'export PATH="{lsf.folder / "bin"}:$PATH"\n')
    text = ""
    for script, arguments in ARGUMENTS.items():
        array = ["-J", "array[1-1]"] if script == "solve-array.sh" else []
        for nodes in ("1", "2", "4"):
            shutil.rmtree(lsf.folder / "results", ignore_errors=True)
            job = lsf(script, arguments, *array, "-nnodes", nodes, STUB_DRY="1")
            assert job.returncode == 0, job.output + job.stderr
            text += f"{script} {arguments}, {nodes} nodes:\n"
            text += "".join(f"    {step}\n" for step in sorted(job.steps))
            resources = lsf.folder / f"{Path(script).stem}-4711.erf"
            if nodes == "1" and resources.exists():
                text += textwrap.indent(resources.read_text(), "    ")
    return text


def test_command_lines_are_those_of_the_golden_file(lsf):
    assert command_lines(lsf) == GOLDEN.read_text()


@pytest.mark.parametrize("script", [path.name for path in SLURM])
def test_arguments_are_those_of_the_script_for_slurm(script):
    """The heads of both say how to submit, which is what users go by."""
    slurm, lsf = ((ROOT / "jobscripts" / name / script).read_text() for name in ("slurm", "lsf"))
    wanted, *_ = re.findall(rf"^# +sbatch .*/{script} (\S.*)$", slurm, re.MULTILINE)
    (given,) = re.findall(r'^# +ARGUMENTS="(.*)"', lsf, re.MULTILINE)
    assert given == wanted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-n7 -a1 -g1 -c1", "7 resource sets do not fit on 1 nodes at 6 a node"),
        ("-n6 -r7 -a1 -g1 -c1", "7 resource sets of 1 cores and 1 GPUs do not fit on a node"),
        ("-n1 -r6 -g1 -c8", "6 resource sets of 8 cores and 1 GPUs do not fit on a node"),
        ("-n1 -g7", "a resource set of 1 cores and 7 GPUs is larger than a node"),
        ("-n1 -a4 -c2", "4 tasks bound by packed:1 need more than 2 cores"),
        ("-n1 -a2 -c7 -bpacked:4", "2 tasks bound by packed:4 need more than 7 cores"),
        ("-n1 -c7 -brs -EOMP_NUM_THREADS=8", "8 threads a task on 7 cores"),
        ("-n1 -c7 -EOMP_NUM_THREADS=7", "7 threads a task on 1 cores"),
        ("-n1 --gpus=1", "unknown option --gpus"),
        ("-n0", "option --nrs cannot be '0'"),
        ("-n1 -dspread", "option --launch_distribution cannot be 'spread'"),
    ],
)
def test_stub_of_jsrun_refuses_what_jsrun_cannot_do(lsf, options, message):
    text = f"#BSUB -nnodes 1\njsrun {options} true\n"
    job = subprocess.run(
        ["bsub"], input=text, cwd=lsf.folder, env=lsf.environment, capture_output=True, text=True
    )
    assert job.returncode == 1
    assert message in (lsf.folder / "4711.out").read_text()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("#BSUB --nodes 1", "unknown option --nodes"),
        ("#BSUB -nnodes many", "option -nnodes cannot be 'many'"),
        ("#BSUB -nnodes 1\n#BSUB -W 2:00\n#BSUB -wt 2", "-wa and -wt have an effect only together"),
        ("#BSUB -W 2\n#BSUB -wa URG\n#BSUB -wt 2", "the warning would come before the job"),
        ("#BSUB -J array[0-3]", "option -J cannot be 'array[0-3]'"),
    ],
)
def test_stub_of_bsub_refuses_what_bsub_cannot_do(lsf, lines, message):
    job = subprocess.run(
        ["bsub"], input=lines, cwd=lsf.folder, env=lsf.environment, capture_output=True, text=True
    )
    assert job.returncode == 1
    assert message in job.stderr


STUDY = """
name = "small"
ranks = [1, 2, 8]
device = "{device}"
threads = {threads}
[[cases]]
name = "search"
graph = "er:n=40,p=0.3,seed=1"
engine = "reference"
steps = 2
"""


def test_a_study_is_measured_within_one_allocation(lsf):
    text = STUDY.format(device="cpu", threads=1).replace(", 8", "")
    (lsf.folder / "study.toml").write_text(text)
    job = lsf("scaling.sh", "study.toml out")
    assert job.returncode == 0, job.output + job.stderr
    assert len(job.steps) == 2
    records = {path.name for path in (lsf.folder / "out" / "records").glob("*.json")}
    assert records == {"search.p0001.json", "search.p0002.json"}


def test_planned_jobs_of_a_study_fit_on_their_nodes(lsf):
    (lsf.folder / "study.toml").write_text(STUDY.format(device="cuda", threads=7))
    plan = ["study.toml", "--output", "out", "--scheduler", "lsf", "--ranks-per-node", "6"]
    subprocess.run(
        ["ogg-hpc", "scale", "plan", *plan], cwd=lsf.folder, env=lsf.environment, check=True
    )
    jobs = sorted((lsf.folder / "out" / "jobs").glob("*.sh"))
    assert len(jobs) == 3
    for script in jobs:
        job = lsf(script, "", STUB_DRY="1")
        assert (job.returncode, len(job.steps)) == (0, 1), job.stderr


@pytest.fixture
def graph(lsf):
    """A graph that a polish could work on for ever."""
    path = lsf.folder / "graph.h5"
    subprocess.run(
        ["ogg-hpc", "data", "generate", "er", "--nodes", "300", "--p", "0.1", "--output", path],
        env=lsf.environment, cwd=lsf.folder, check=True,
    )  # fmt: skip
    return path


@pytest.mark.parametrize("reached", ["job", "script"])
def test_solve_is_warned_and_writes_its_best_solution(lsf, graph, reached):
    arguments = f"{graph.name} --polish 3600 --output cover.json --json"
    # In one file the launcher may put the record into the line of a warning.
    variables = {"STUB_WARN": reached, "STUB_WARN_WHEN": str(graph)}
    job = lsf("solve.sh", arguments, "-e", "errors.txt", **variables)
    assert job.returncode == 0, job.output + job.stderr
    (line,) = (line for line in job.output.splitlines() if line.startswith("{"))
    record = json.loads(line)
    assert (record["stopped"], record["ranks"], record["feasible"]) == ("signal", 2, True)
    verified = ["ogg-hpc", "verify", graph.name, "cover.json"]
    subprocess.run(verified, env=lsf.environment, cwd=lsf.folder, check=True)


def test_array_solves_every_graph_once_and_goes_on_after_a_failure(lsf, graph):
    names = [f"g{number}.h5" for number in range(3)]
    for name in names[:-1]:
        (lsf.folder / name).symlink_to(graph)
    (lsf.folder / "graphs.txt").write_text("\n".join(names))
    for solves, code in ((3, 1), (1, 0), (0, 0)):
        job = lsf("solve-array.sh", "graphs.txt results", "-J", "array[1-2]")
        assert (job.returncode, len(job.steps)) == (code, solves), job.output + job.stderr
        if code:
            (lsf.folder / names[-1]).symlink_to(graph)
    records = [json.loads(path.read_text()) for path in lsf.folder.glob("results/*.record.json")]
    assert sorted(record["graph"]["path"] for record in records) == names
    assert len({record["objective"] for record in records}) == 1
    assert all(record["ranks"] == 1 for record in records)


def test_preprocessing_converts_what_is_missing_and_checks_all(lsf):
    (lsf.folder / "a b.edges").write_text("1 2\n2 3\n")
    (lsf.folder / "c.edges").write_text("x y\n")
    job = lsf("preprocess.sh", "stores 'a b.edges' c.edges")
    assert job.returncode == 0, job.output + job.stderr
    stores = sorted(path.name for path in (lsf.folder / "stores").iterdir())
    assert stores == ["a b.h5", "c.h5"]
    whole = (lsf.folder / "stores" / "c.h5").read_bytes()
    (lsf.folder / "stores" / "c.h5").write_bytes(whole[:-100])
    assert lsf("preprocess.sh", "stores 'a b.edges' c.edges").returncode != 0


@pytest.mark.parametrize(("script", "reached"), [("train.sh", "job"), ("evolve.sh", "script")])
def test_training_is_warned_and_goes_on_in_the_next_part_to_the_same_policy(lsf, script, reached):
    (lsf.folder / "mine.toml").write_text(CONFIGS[script])
    with lsf.site.open("a") as site:
        site.write("export GPUS_PER_NODE=1\n" if script == "evolve.sh" else "")
    warning = {"STUB_WARN": reached, "STUB_WARN_WHEN": str(lsf.folder / "warned/metrics.jsonl")}
    for run, variables, parts in (("whole", {}, 1), ("warned", warning, 2)):
        job = lsf(script, f"mine.toml {run}", **variables)
        assert (job.returncode, len(job.steps)) == (0, parts), job.output + job.stderr
        assert not (lsf.folder / run / "UNFINISHED").exists()
    assert "resumed at " in job.output
    whole, warned = (
        load_policy(str(lsf.folder / run / "last.npz"), "mvc").arrays for run in ("whole", "warned")
    )
    assert whole.keys() == warned.keys()
    for name, array in whole.items():
        np.testing.assert_array_equal(array, warned[name])


def test_actors_are_warned_and_go_on_in_the_next_part(lsf):
    (lsf.folder / "mine.toml").write_text(ACTORS)
    with lsf.site.open("a") as site:
        site.write("export GPUS_PER_NODE=1\n")
    warning = {"STUB_WARN": "script", "STUB_WARN_WHEN": str(lsf.folder / "run/metrics.jsonl")}
    job = lsf("actors.sh", "mine.toml run", **warning)
    assert (job.returncode, len(job.steps)) == (0, 2), job.output + job.stderr
    assert "resumed at step " in job.output
    record = json.loads((lsf.folder / "run" / "record.json").read_text())
    assert (record["ranks"], record["learners"]) == (2, 1)
    assert record["steps"] == 640


def test_embedding_is_warned_and_goes_on_in_the_next_part_to_the_same_vectors(lsf, graph):
    options = "--dim 8 --epochs 150 --walks 1 --walk-length 5"
    with lsf.site.open("a") as site:
        site.write("export GPUS_PER_NODE=1\n")
    warning = {
        "STUB_WARN": "script",
        "STUB_WARN_WHEN": str(lsf.folder / "warned.h5.run/metrics.jsonl"),
    }
    for name, variables, parts in (("whole", {}, 1), ("warned", warning, 2)):
        job = lsf("embed.sh", f"{graph.name} {name}.h5 {options}", **variables)
        assert (job.returncode, len(job.steps)) == (0, parts), job.output + job.stderr
        assert not (lsf.folder / f"{name}.h5.run" / "UNFINISHED").exists()
    assert "resumed at step " in job.output
    whole, warned = (read_embedding(lsf.folder / f"{name}.h5") for name in ("whole", "warned"))
    np.testing.assert_array_equal(whole.vectors, warned.vectors)
    np.testing.assert_array_equal(whole.context, warned.context)


def test_training_that_has_failed_is_not_submitted_again(lsf):
    (lsf.folder / "run").mkdir()
    (lsf.folder / "run" / "UNFINISHED").touch()  # of an earlier part
    job = lsf("train.sh", "missing.toml run")
    assert (job.returncode, len(job.steps)) == (2, 1), job.output + job.stderr
    # A launcher that fails does not come as far as to remove the marker.
    (lsf.folder / "bin" / "jsrun").write_text("#!/bin/sh\nexit 1\n")
    (lsf.folder / "run" / "UNFINISHED").touch()
    assert lsf("train.sh", "missing.toml run").returncode == 1
