"""What tests start as daemons ends with them."""

import os
from pathlib import Path

from contained_process import ContainedProcess
from local_slurm import wait_until


def test_crash_ends_daemons_that_have_left_their_parent(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    daemon = f"setsid sh -c 'echo $$ >{pid_file}.part; mv {pid_file}.part {pid_file}; sleep 600' &"
    process = ContainedProcess(["sh", "-c", daemon], os.environ, tmp_path / "log")
    wait_until(pid_file.exists, 30, "the daemon runs")
    pid = pid_file.read_text().strip()
    assert Path("/proc", pid).exists()
    process.crash()
    assert not Path("/proc", pid).exists()
