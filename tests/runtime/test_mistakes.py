import pytest

from ogg_hpc.runtime.mistakes import common_mistakes


def rank(number, host="n1", threads=1, cores=8, first=0, gpu=None, installed=0, visible=None):
    last = first + cores - 1
    return {
        "rank": number, "host": host, "threads": threads,
        "cores": {"count": cores, "list": f"{first}-{last}" if cores > 1 else str(first)},
        "gpu": gpu and {"bus": gpu}, "gpus_installed": installed,
        "visible_devices": {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible},
    }  # fmt: skip


def job(*ranks, launcher="srun", variables=None, gpu_aware=True, cupy="13.0"):
    return {
        "ranks": list(ranks),
        "launcher": {"name": launcher, "variables": variables or {}},
        "mpi": {"gpu_aware": gpu_aware},
        "versions": {"cupy": cupy},
    }


@pytest.mark.parametrize(
    "description",
    [
        job(rank(0), launcher=None),
        job(rank(0), launcher=None, variables={"SLURM_NTASKS": "1"}),
        job(*(rank(i, threads=2) for i in range(4))),
        job(*(rank(i, threads=2, cores=2, first=2 * i) for i in range(4))),
        # the same cores and the same GPU, but of other hosts
        job(rank(0, "n1", threads=8, gpu="0:1"), rank(1, "n2", threads=8, gpu="0:1")),
        job(rank(0, gpu="0:1"), rank(1, gpu="0:2")),
        job(rank(0, installed=4, visible="")),  # the batch system gave none
    ],
)
def test_a_good_job_has_no_warnings(description):
    assert common_mistakes(description) == []


@pytest.mark.parametrize(
    ("description", "texts"),
    [
        (
            job(rank(0), launcher=None, variables={"SLURM_NTASKS": "4"}),
            ["one rank in a job of 4", "by srun"],
        ),
        (
            job(rank(0), launcher=None, variables={"LSB_DJOB_NUMPROC": "42"}),
            ["one rank in a job of 42", "jsrun"],
        ),
        (
            job(*(rank(i, threads=8) for i in range(4))),
            ["n1: 32 threads of ranks 0-3 on 8 of its cores (0-7)", "OMP_NUM_THREADS=2"],
        ),
        (
            job(rank(0, threads=4, cores=1, first=3)),
            ["n1: 4 threads of rank 0 on 1 of its cores (3)", "OMP_NUM_THREADS=1"],
        ),
        (
            job(rank(0, cores=1), rank(1, cores=1)),
            ["2 threads of ranks 0-1 on 1 of its cores", "fewer ranks"],
        ),
        (
            job(rank(0, gpu="0:1"), rank(1, gpu="0:2"), rank(2, gpu="0:1")),
            ["n1: ranks 0,2 share one GPU (0:1)", "--gpus-per-task=1"],
        ),
        (
            job(rank(0, installed=4), cupy=None),
            ["n1: no GPU is used by rank 0, though 4 are visible", "pip install"],
        ),
        (
            job(rank(0, gpu="0:1", installed=2), rank(1, installed=2, visible="0,1")),
            ["n1: no GPU is used by rank 1, though 2 are visible", "--device cpu"],
        ),
        (
            job(rank(0, "n1", gpu="0:1"), rank(1, "n2", gpu="0:1"), gpu_aware=False),
            ["not GPU-aware", "--smpiargs"],
        ),
    ],
)
def test_a_mistake_is_one_warning_that_says_what_to_do(description, texts):
    [warning] = common_mistakes(description)
    for text in texts:
        assert text in warning
