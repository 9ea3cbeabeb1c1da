import json
import subprocess
import sys
from pathlib import Path

import pytest

from ogg_hpc.runtime.launch import promised_size

SCRIPT = Path(__file__).parents[2] / "scripts" / "kill_conversions.py"


@pytest.mark.skipif(promised_size() is not None, reason="the script starts ranks itself")
def test_a_conversion_that_is_killed_ends_with_the_bytes_of_an_undisturbed_one(
    mpiexec, clean_environment
):
    options = ["--kills", "2", "--edges", "30000"]
    done = subprocess.run(
        [sys.executable, SCRIPT, *options], env=clean_environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["stores_equal_to_undisturbed"] == record["kills"] == 2
