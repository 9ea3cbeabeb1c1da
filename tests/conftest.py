import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Graphs of tests are too small to share: waking threads takes ten times as long as the work. Read
# when torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The first call of a compiled function takes as long as its compilation.
settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")

# What several test modules share.
pytest.register_assert_rewrite(
    "batch_device_checks", "cuda_emulation", "frontier_device_checks", "scalar_device_checks"
)

_LAUNCHER_VARIABLES = ("HYDI_", "HYDRA_", "JSM_", "OMPI_", "PMI", "PRTE_", "SLURM_")
_OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real graphs beside the repository, which may not be redistributed with it."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("OGG_HPC_SHARED_DATA") or beside)
    if not folder.is_dir():
        pytest.skip("needs the real graphs of ../shared/data")
    return folder


@pytest.fixture(scope="session")
def read_trace() -> Callable[[Path], tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Read a trace; return what it tells of its rank, and its spans, after a check of all."""

    def read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        document = json.loads(path.read_text())
        about, events = document["otherData"], document["traceEvents"]
        assert path.name == f"rank-{about['rank']:05}.json"
        names = {event["name"]: event["args"] for event in events if event["ph"] == "M"}
        assert names["process_name"] == {"name": f"rank {about['rank']}"}
        assert names["process_sort_index"] == {"sort_index": about["rank"]}
        assert about["host"] in names["process_labels"]["labels"]
        assert about["device"] in names["process_labels"]["labels"]
        spans = [event for event in events if event["ph"] == "X"]
        assert len(spans) + len(names) == len(events)
        for event in events:
            assert event["pid"] == event["tid"] == about["rank"]
        around: list[float] = []  # ends of the spans around the present one
        for span in sorted(spans, key=lambda span: (span["ts"], -span["dur"])):
            assert set(span) == {"ph", "pid", "tid", "cat", "name", "ts", "dur", "args"}
            assert span["ts"] >= 0
            assert span["dur"] >= 0
            while around and span["ts"] >= around[-1] - 0.002:
                around.pop()
            end = span["ts"] + span["dur"]
            assert not around or end <= around[-1] + 0.002, "spans overlap"
            around.append(end)
        return about, spans

    return read


@pytest.fixture(scope="session")
def clean_environment() -> dict[str, str]:
    """Environment variables without those of a launcher that the tests may run under."""
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith(_LAUNCHER_VARIABLES)},
        **_OPEN_MPI,
        "OMP_NUM_THREADS": "1",
        # MPICH: let other ranks have the core after each look for messages; it is shared here.
        "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",
    }


@pytest.fixture(scope="session")
def mpiexec() -> str:
    """Path of the launcher of the installed MPI."""
    beside = Path(sys.executable).with_name("mpiexec")
    launcher = str(beside) if beside.exists() else shutil.which("mpiexec")
    if importlib.util.find_spec("mpi4py") is None or launcher is None:
        # Where everything is installed, a missing part must not pass unnoticed.
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        give_up("needs mpi4py and mpiexec: pip install 'ogg-hpc[mpi]'")
    return launcher


@pytest.fixture(scope="session")
def run_ranks(
    mpiexec: str, clean_environment: dict[str, str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command of this Python on several ranks; a run past its limit is ended."""

    def run(
        ranks: int,
        arguments: Sequence[str | Path],
        limit: float = 60,
        variables: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        command = [mpiexec, "-n", str(ranks), sys.executable, *map(str, arguments)]
        with subprocess.Popen(
            command,
            env={**clean_environment, **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                output, errors = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                process.terminate()  # lets the launcher end its ranks
                with suppress(subprocess.TimeoutExpired):
                    process.communicate(timeout=5)
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                output, errors = process.communicate()
                pytest.fail(f"no end within {limit} s: {command}\n{output}\n{errors}")
        return subprocess.CompletedProcess(command, process.returncode, output, errors)

    return run


@pytest.fixture
def ogg(capsys):
    """Run the command line in this process; return its exit code, output and errors."""
    from ogg_hpc.cli.main import main

    def run(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return end.value.code, out, err

    return run
