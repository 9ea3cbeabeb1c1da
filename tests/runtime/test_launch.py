import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime import launch as module
from ogg_hpc.runtime.launch import library_is_gpu_aware, promised_rank, promised_size, start

OPEN_MPI = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "3"}
PMI = {"PMI_SIZE": "5", "PMI_RANK": "2"}
JSRUN = {"JSM_NAMESPACE_SIZE": "6", "JSM_NAMESPACE_RANK": "5"}
SRUN = {"SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "7"}


@pytest.mark.parametrize(
    ("variables", "launcher", "size", "rank"),
    [
        (OPEN_MPI, "mpiexec (Open MPI)", 4, 3),
        (PMI, "mpiexec (PMI)", 5, 2),
        (JSRUN, "jsrun", 6, 5),
        (SRUN, "srun", 8, 7),
        # The innermost launcher started this process: an mpiexec within a job step.
        ({**SRUN, **PMI}, "mpiexec (PMI)", 5, 2),
        ({**JSRUN, **OPEN_MPI}, "mpiexec (Open MPI)", 4, 3),
        ({**SRUN, **OPEN_MPI}, "mpiexec (Open MPI)", 4, 3),
        ({"PMI_SIZE": "1", "PMI_RANK": "0"}, "mpiexec (PMI)", 1, 0),
    ],
)
def test_launcher_is_known_by_its_variables(variables, launcher, size, rank):
    assert promised_size(variables) == (launcher, size)
    assert promised_rank(variables) == rank


@pytest.mark.parametrize(
    "variables",
    [
        {},
        # A batch script that starts Python itself is not a job step.
        {"SLURM_NTASKS": "8", "SLURM_PROCID": "0"},
        {"PMI_SIZE": "", "PMI_RANK": ""},
        {"PMI_SIZE": "many"},
    ],
)
def test_without_a_launcher_there_is_one_rank(variables):
    assert promised_size(variables) is None
    assert promised_rank(variables) == 0


def test_missing_rank_number_counts_as_zero():
    assert promised_rank({"PMI_SIZE": "4"}) == 0
    assert promised_rank({"PMI_SIZE": "4", "PMI_RANK": "?"}) == 0


def test_unknown_gpu_awareness_is_refused():
    with pytest.raises(SettingsError, match="'maybe' is unknown; use auto, on or off"):
        start(gpu_aware="maybe")


MPICH = "MPICH Version:      4.3.0"
CRAY_MPICH = "MPI VERSION    : CRAY MPICH version 8.1.28.29 (ANL base 3.4a2)"


@pytest.mark.parametrize(
    ("platform", "answers", "aware"),
    [
        ("cuda", {"MPIX_Query_cuda_support": 1}, True),
        ("cuda", {"MPIX_Query_cuda_support": 0}, False),
        ("cuda", {}, False),
        ("hip", {"MPIX_Query_rocm_support": 1}, True),
        ("hip", {"MPIX_Query_rocm_support": 0, "MPIX_Query_hip_support": 1}, True),
        # Buffers of the one kind of GPU are none of the other.
        ("hip", {"MPIX_Query_cuda_support": 1, "MPIX_Query_hip_support": 0}, False),
        ("cuda", {"MPIX_Query_hip_support": 1}, False),
        ("cpu", {"MPIX_Query_cuda_support": 1, "MPIX_Query_hip_support": 1}, False),
    ],
)
def test_library_is_asked_for_the_gpus_of_this_platform(monkeypatch, platform, answers, aware):
    library = SimpleNamespace(
        **{name: lambda value=value: value for name, value in answers.items()}
    )
    monkeypatch.setattr(module, "_mpi_libraries", lambda: iter([SimpleNamespace(), library]))
    assert library_is_gpu_aware(platform, MPICH) is aware


@pytest.mark.parametrize("platform", ["cuda", "hip"])
@pytest.mark.parametrize(("value", "aware"), [("1", True), ("0", False), (None, False)])
def test_cray_mpich_takes_gpu_buffers_where_its_switch_is_on(monkeypatch, platform, value, aware):
    monkeypatch.setattr(module, "_mpi_libraries", lambda: iter(()))
    if value is None:
        monkeypatch.delenv("MPICH_GPU_SUPPORT_ENABLED", raising=False)
    else:
        monkeypatch.setenv("MPICH_GPU_SUPPORT_ENABLED", value)
    assert library_is_gpu_aware(platform, CRAY_MPICH) is aware
    # A library that does not know the switch would be handed what it cannot read.
    assert library_is_gpu_aware(platform, MPICH) is False


def python(code, environment):
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_one_rank_imports_nothing_of_mpi_and_no_torch(clean_environment):
    code = """
import sys
from ogg_hpc.runtime.launch import start
comm = start()
print(comm.rank, comm.size, [m for m in ("mpi4py", "torch", "cupy") if m in sys.modules])
"""
    assert python(code, clean_environment) == "0 1 []"


THREADS = """
import os
from ogg_hpc.runtime.launch import start
comm = start("cpu")
everyone = comm.gather_objects(os.environ["OMP_NUM_THREADS"])
if comm.rank == 0:
    print(*everyone)
"""


def test_one_rank_gets_all_cores(clean_environment):
    environment = {k: v for k, v in clean_environment.items() if k != "OMP_NUM_THREADS"}
    assert python(THREADS, environment) == str(len(os.sched_getaffinity(0)))


def test_number_of_threads_set_by_the_user_stays(clean_environment):
    assert python(THREADS, {**clean_environment, "OMP_NUM_THREADS": "3"}) == "3"


def test_ranks_share_the_cores_of_their_node(run_ranks, tmp_path):
    script = tmp_path / "script.py"
    script.write_text('import os\ndel os.environ["OMP_NUM_THREADS"]\n' + THREADS)
    run = run_ranks(2, [script])
    share = max(1, len(os.sched_getaffinity(0)) // 2)
    assert run.stdout.split() == [str(share)] * 2, run.stderr


def test_ranks_that_are_bound_to_cores_of_their_own_use_all_of_them(run_ranks, tmp_path):
    script = tmp_path / "script.py"
    bound = """
import os
from ogg_hpc.runtime.launch import promised_rank

first = 4 * promised_rank()
os.sched_getaffinity = lambda _: set(range(first, first + 4))
del os.environ["OMP_NUM_THREADS"]
"""
    script.write_text(bound + THREADS)
    run = run_ranks(2, [script])
    assert run.stdout.split() == ["4", "4"], run.stderr
