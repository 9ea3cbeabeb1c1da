"""Every jobscript is free of the usual faults of shell scripts."""

import subprocess
import sys
from pathlib import Path

import pytest

JOBSCRIPTS = Path(__file__).parents[2] / "jobscripts"


@pytest.mark.parametrize(
    "script", sorted(JOBSCRIPTS.rglob("*.sh")), ids=lambda path: str(path.relative_to(JOBSCRIPTS))
)
def test_shellcheck_has_nothing_to_say(script: Path) -> None:
    shellcheck = Path(sys.executable).with_name("shellcheck")
    found = subprocess.run(
        [shellcheck, script], cwd=JOBSCRIPTS.parent, capture_output=True, text=True
    )
    assert found.returncode == 0, f"{found.stdout}\n{found.stderr}"
