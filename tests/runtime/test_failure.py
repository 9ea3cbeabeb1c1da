"""One failing rank ends the whole job, soon and with a reason."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "mpi" / "conftest.py"

PRELUDE = """
import sys
import time

import numpy as np

from ogg_hpc.errors import OggError, SettingsError
from ogg_hpc.runtime.launch import end_job, start


def out_of_luck():
    print(f"raised at {time.time()}", file=sys.stderr, flush=True)
    raise RuntimeError("out of luck")
"""

IN_SEARCH = """
from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.search.policy_search import search

comm = start("cpu")


class Scorer:
    residual = False
    calls = 0

    def __call__(self, batch, solution):
        self.calls += 1
        if comm.rank == 1 and self.calls == 3:
            out_of_luck()
        degrees = batch.degrees(solution.active)
        return degrees, degrees


graph = erdos_renyi(20, p=0.3, seed=1)
search(GraphBatch(comm, [row_block(graph, comm.rank, comm.size)]), MinimumVertexCover(), Scorer())
"""

IN_TRAINING = """
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.training.reference_engine import ReferenceEngine
from ogg_hpc.training.rows import HeldRows, TrainingRows
from ogg_hpc.training.settings import LearningSettings
from ogg_hpc.training.trainer import Trainer

comm = start("cpu")


class Unlucky(Structure2Vec):
    calls = 0

    def forward(self, *args, **options):
        self.calls += 1
        if comm.rank == 1 and self.calls == 4:
            out_of_luck()
        return super().forward(*args, **options)


block = row_block(erdos_renyi(20, p=0.3, seed=1), comm.rank, comm.size)
policy = Unlucky(Structure2VecSettings(width=4))
settings = LearningSettings(batch=4)
engine = ReferenceEngine(comm, TrainingRows([HeldRows([block])]), MinimumVertexCover())
trainer = Trainer(comm, comm, 0, 1, engine, policy, settings, seed=0)
for step in range(100):
    trainer.act(step)
    trainer.learn(step, 0)
"""

BETWEEN_LETTERS = """
comm = start("cpu")
mailbox = comm.mailbox()
if comm.rank == 1:
    out_of_luck()
with mailbox.watched():
    mailbox.arrived(60)
"""

IN_A_TEST = """

def test_that_fails_inside_a_collective(comm):
    comm.allreduce(np.ones(3))
    if comm.rank == 1:
        out_of_luck()
    comm.allreduce(np.ones(3))
"""


def as_script(run_ranks, folder, text):
    script = folder / "script.py"
    script.write_text(PRELUDE + text)
    return run_ranks(3, [script])


def as_tests(run_ranks, folder, text):
    conftest = CONFTEST.read_text()
    (folder / "conftest.py").write_text(re.sub(r"(?m)^LIMIT = .*", "LIMIT = 3.0", conftest))
    (folder / "test_it.py").write_text(PRELUDE + text)
    options = ["--color=no", "-p", "no:cacheprovider", "--rootdir", folder]
    return run_ranks(3, ["-m", "pytest", folder, *options])


@pytest.mark.parametrize(
    ("execute", "text"),
    [
        (as_script, IN_SEARCH),
        (as_script, IN_TRAINING),
        (as_script, BETWEEN_LETTERS),
        (as_tests, IN_A_TEST),
    ],
    ids=["search", "training", "letters", "test"],
)
def test_exception_on_one_rank_ends_the_job_within_seconds(run_ranks, tmp_path, execute, text):
    run = execute(run_ranks, tmp_path, text)
    ended = time.time()
    raised = re.search(r"raised at (\d+\.\d+)", run.stderr)
    assert raised, run.stderr
    assert ended - float(raised[1]) < 5
    assert run.returncode != 0
    assert re.search(r"^\[rank 1\] .*RuntimeError: out of luck$", run.stderr, re.MULTILINE)
    assert re.search(r"^\[rank 1\] .*out_of_luck\(\)$", run.stderr, re.MULTILINE), "no traceback"
    assert "[rank 0]" not in run.stderr
    assert "[rank 2]" not in run.stderr


def test_failed_assertion_on_one_rank_fails_on_all_and_the_next_test_runs(run_ranks, tmp_path):
    run = as_tests(
        run_ranks,
        tmp_path,
        """
def test_wrong_on_one_rank(comm):
    assert comm.rank != 2

def test_right(comm):
    assert comm.allreduce(np.ones(1))[0] == 3
""",
    )
    assert run.returncode == 1
    assert "1 failed, 1 passed" in run.stdout
    assert run.stdout.count("1 failed, 1 passed") == 1, "only rank 0 reports"
    assert re.search(r"\[rank 2\] E +assert 2 != 2", run.stdout)


def test_ranks_that_hang_end_with_their_stacks(run_ranks, tmp_path):
    run = as_tests(
        run_ranks,
        tmp_path,
        """
def test_wait_for_rank_1(comm):
    if comm.rank == 1:
        time.sleep(30)
    comm.barrier()
""",
    )
    assert run.returncode != 0
    assert "test_wait_for_rank_1" in run.stderr
    assert "most recent call first" in run.stderr


def test_test_file_that_cannot_be_imported_on_one_rank_ends_the_job(run_ranks, tmp_path):
    run = as_tests(
        run_ranks,
        tmp_path,
        """
from ogg_hpc.runtime.launch import promised_rank

if promised_rank() == 1:
    out_of_luck()

def test_anything(comm):
    comm.barrier()
""",
    )
    assert run.returncode != 0
    assert re.search(r"^\[rank 1\] .*RuntimeError: out of luck", run.stderr, re.MULTILINE)


def test_users_error_on_one_rank_names_the_rank(run_ranks, tmp_path):
    run = as_script(
        run_ranks,
        tmp_path,
        """
comm = start("cpu")
try:
    if comm.rank == 1:
        raise SettingsError("this rank has no memory left")
    comm.barrier()
except OggError as error:
    sys.exit(end_job(error))
""",
    )
    assert run.returncode == 2
    assert re.findall(r"^ogg-hpc: .*", run.stderr, re.MULTILINE) == [
        "ogg-hpc: rank 1: this rank has no memory left"
    ]
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("method", ["on_root", "on_all"])
def test_users_error_of_all_ranks_is_printed_once(run_ranks, tmp_path, method):
    run = as_script(
        run_ranks,
        tmp_path,
        f"""
comm = start("cpu")

def read():
    raise SettingsError("no such graph")

try:
    comm.{method}(read)
except OggError as error:
    sys.exit(end_job(error))
""",
    )
    assert run.returncode == 2
    assert re.findall(r"^ogg-hpc: .*", run.stderr, re.MULTILINE) == ["ogg-hpc: no such graph"]
    assert "Traceback" not in run.stderr


def test_exception_on_the_root_is_shown_once(run_ranks, tmp_path):
    run = as_script(run_ranks, tmp_path, 'start("cpu").on_root(out_of_luck)\n')
    assert run.returncode != 0
    assert run.stderr.count("RuntimeError: out of luck") == 1
    assert re.search(r"^\[rank 0\] RuntimeError: out of luck$", run.stderr, re.MULTILINE)


def test_launcher_of_another_mpi_is_refused(mpiexec, clean_environment):
    run = subprocess.run(
        [sys.executable, "-c", "from ogg_hpc.runtime.launch import start; start()"],
        env={**clean_environment, "PMI_SIZE": "4"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode != 0
    assert (
        "SettingsError: mpiexec (PMI) started 4 ranks but MPI sees 1: the launcher does not belong"
        " to the library that mpi4py is built with (" in run.stderr
    )


def test_no_rank_outlives_its_launcher(mpiexec, clean_environment, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        PRELUDE
        + """
import os
comm = start("cpu")
if comm.rank == 0:
    print(*comm.gather_objects(os.getpid()), flush=True)
else:
    comm.gather_objects(os.getpid())
while True:
    comm.barrier()
"""
    )
    with subprocess.Popen(
        [mpiexec, "-n", "3", sys.executable, script],
        env=clean_environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as launcher:
        ranks = [int(pid) for pid in launcher.stdout.readline().split()]
        try:
            assert len(ranks) == 3
            assert all(map(is_running, ranks))
            launcher.kill()
            deadline = time.monotonic() + 5
            while any(map(is_running, ranks)) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not any(map(is_running, ranks))
        finally:
            for rank in filter(is_running, ranks):
                os.kill(rank, signal.SIGKILL)


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
