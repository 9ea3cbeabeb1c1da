import json
import subprocess
import sys
from pathlib import Path

import pytest

from ogg_hpc.runtime.launch import promised_size

SCRIPT = Path(__file__).parents[2] / "scripts" / "kill_soak.py"


@pytest.mark.skipif(promised_size() is not None, reason="the script starts ranks itself")
def test_a_training_that_is_killed_three_times_ends_as_an_undisturbed_one(
    mpiexec, clean_environment
):
    options = ["--kills", "3", "--steps", "12", "--methods", "q-learning", "--every", "4"]
    done = subprocess.run(
        [sys.executable, SCRIPT, *options], env=clean_environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["kills"] == 3
    assert record["runs_equal_to_undisturbed"] == record["runs"] >= 1
    assert 0 <= record["steps_lost"]["max"] < 4
