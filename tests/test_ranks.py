"""Run tests/mpi under a launcher, on several numbers of ranks."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("mpi")


# One rank without a launcher runs all of the folder; what a launcher changes is the communicator.
@pytest.mark.timeout(700)
@pytest.mark.parametrize(
    ("ranks", "tests"),
    [(1, FOLDER / "test_communicator.py"), (2, FOLDER), (3, FOLDER), (4, FOLDER)],
    ids=["1", "2", "3", "4"],
)
def test_suite_passes_on_every_number_of_ranks(run_ranks, ranks: int, tests: Path) -> None:
    run = run_ranks(
        ranks, ["-m", "pytest", tests, "--color=no", "-p", "no:cacheprovider"], limit=600
    )
    assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"
    assert re.search(r"^=+ \d+ passed[^=]* =+$", run.stdout, re.MULTILINE), run.stdout
