import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ogg_hpc.runtime.launch import promised_size

sys.path.append(str(Path(__file__).parents[2] / "scripts"))
from watched_job import WatchedJob


@pytest.fixture
def start_job(mpiexec, clean_environment, tmp_path) -> Callable[..., WatchedJob]:
    """Start ``ogg-hpc`` with arguments on several ranks, in a folder of its own."""
    if promised_size() is not None:
        pytest.skip("starts ranks itself")

    def start(ranks, *arguments):
        ogg = [sys.executable, "-m", "ogg_hpc", *arguments]
        return WatchedJob([mpiexec, "-n", ranks, *ogg], clean_environment, tmp_path)

    return start
