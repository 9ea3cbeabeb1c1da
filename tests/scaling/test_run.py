import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ogg_hpc.errors import OggError, SettingsError, StoppedError
from ogg_hpc.scaling.jobscripts import write_jobscripts
from ogg_hpc.scaling.launcher import LSF, MPIEXEC, SLURM, launch_command, launcher_here
from ogg_hpc.scaling.run import run_points, submit


def test_every_point_is_started_on_its_ranks(folder, stand_in):
    said = []
    assert run_points(folder, stand_in.launcher(), said.append) == {}
    assert stand_in.started() == [f"{point.name} {point.ranks}" for point in folder.points]
    assert said[0] == "[1/6] search.p0001: 1 s a step"
    assert folder.missing() == []


def test_what_has_a_record_is_not_measured_again(folder, stand_in):
    run_points(folder, stand_in.launcher(), print)
    stand_in.started()
    folder.record_file(folder.points[4]).unlink()
    assert run_points(folder, stand_in.launcher(), print) == {}
    assert stand_in.started() == ["train.p0002 2"]


def test_the_others_go_on_after_a_point_that_fails(folder, stand_in):
    said = []
    failures = run_points(folder, stand_in.launcher("search.p0002"), said.append)
    assert failures == {"search.p0002": "the point is not to be measured"}
    assert "search.p0002: failed: the point is not to be measured (see " in said[1]
    assert [point.name for point in folder.missing()] == ["search.p0002"]


def test_a_record_counts_even_where_nothing_was_said(folder, tmp_path):
    script = tmp_path / "silent.py"
    script.write_text("raise SystemExit(0)")
    failures = run_points(folder, f"{sys.executable} {script} {{ranks}}", print)
    assert set(failures.values()) == {"exit code 0"}


def test_a_signal_ends_the_point_and_says_what_is_left(folder, tmp_path):
    script = tmp_path / "waits.py"
    pid = tmp_path / "pid"
    script.write_text(
        "import os, pathlib, time\n"
        f"pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))\n"
        "time.sleep(600)\n"
    )

    def interrupt():
        while not (pid.exists() and pid.read_text()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(StoppedError, match="stopped by a signal with 6 of 6 points to measure"):
        run_points(folder, f"{sys.executable} {script} {{ranks}}", print)
    thread.join()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_a_launcher_does_not_outlive_the_kill_of_the_run(folder, tmp_path):
    pid = tmp_path / "pid"
    script = tmp_path / "waits.py"
    script.write_text(
        "import os, pathlib, time\n"
        f"pathlib.Path({str(tmp_path / 'new')!r}).write_text(str(os.getpid()))\n"
        f"os.rename({str(tmp_path / 'new')!r}, {str(pid)!r})\n"
        "time.sleep(600)\n"
    )
    program = (
        "from ogg_hpc.scaling.folder import StudyFolder\n"
        "from ogg_hpc.scaling.run import run_points\n"
        f"launcher = '{sys.executable} {script} {{ranks}}'\n"
        f"run_points(StudyFolder({str(folder.path)!r}), launcher, print)"
    )
    run = subprocess.Popen([sys.executable, "-c", program])
    while not pid.exists():
        assert run.poll() is None
        time.sleep(0.01)
    run.kill()
    run.wait()
    launcher = Path("/proc") / pid.read_text() / "stat"
    while launcher.exists() and launcher.read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)  # pytest's time limit ends this


def test_a_launcher_that_is_not_there_is_named(folder):
    with pytest.raises(SettingsError, match="no-such-launcher cannot be started"):
        run_points(folder, "no-such-launcher -n {ranks}", print)


@pytest.mark.parametrize(
    ("launcher", "gpu", "words"),
    [
        (SLURM, False, "srun --kill-on-bad-exit=1 --ntasks=4 --cpus-per-task=7"),
        (
            SLURM,
            True,
            "srun --kill-on-bad-exit=1 --ntasks=4 --cpus-per-task=7 --gpus-per-task=1",
        ),
        (LSF, False, "jsrun -n4 -a1 -g0 -c7 -brs -dpacked -EOMP_NUM_THREADS=7"),
        (
            LSF,
            True,
            "jsrun -n4 -a1 -g1 -c7 -brs -dpacked -EOMP_NUM_THREADS=7 --smpiargs=-gpu",
        ),
        ("mpirun --np={ranks} -v", False, "mpirun --np=4 -v"),
    ],
)
def test_launch_commands(launcher, gpu, words):
    assert launch_command(launcher, 4, 7, gpu) == words.split()


def test_a_launcher_says_where_the_number_of_ranks_goes():
    with pytest.raises(SettingsError, match=r"write \{ranks\} where the number of ranks goes"):
        launch_command("mpiexec -n 2", 4)


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Put a command on PATH, alone: one that notes its input and answers."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def make(name, answer="Submitted batch job 17", code=0):
        path = folder / name
        path.write_text(f"#!/bin/sh\ncat > {folder}/$$.input\necho '{answer}'\nexit {code}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return folder

    return make


def test_the_launcher_of_the_allocation_is_taken(commands):
    assert launcher_here({}) == MPIEXEC
    commands("jsrun")
    assert launcher_here({"LSB_JOBID": "3"}) == LSF
    commands("srun")
    assert launcher_here({"SLURM_JOB_ID": "3"}) == SLURM
    assert launcher_here({}) == MPIEXEC


def test_no_step_of_slurm_has_the_name_of_one_before_a_requeue(folder, commands, monkeypatch):
    names = commands("srun") / "names"
    (names.parent / "srun").write_text(f'#!/bin/sh\necho "$SLURM_PMI2_PMI_JOBID" >> {names}\n')
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    for restarts in ("0", "1"):
        monkeypatch.setenv("SLURM_RESTART_COUNT", restarts)
        assert len(run_points(folder, SLURM, print)) == 6
    assert len(set(names.read_text().split())) == 12


@pytest.mark.parametrize(("scheduler", "command"), [("slurm", "sbatch"), ("lsf", "bsub")])
def test_submitting_hands_over_what_is_missing(folder, stand_in, commands, scheduler, command):
    inputs = commands(command)
    write_jobscripts(folder, scheduler, 2)
    run_points(folder, stand_in.launcher("p0004"), print)
    assert submit(folder) == {"small-p0004.sh": "Submitted batch job 17"}
    [text] = [path.read_text() for path in inputs.glob("*.input")]
    assert text == (folder.path / "jobs" / "small-p0004.sh").read_text()


def test_submitting_what_is_not_planned(folder):
    with pytest.raises(SettingsError, match="no such jobscript; plan with --scheduler slurm or"):
        submit(folder)


def test_a_job_that_is_refused(folder, commands):
    commands("sbatch", "Invalid account", 1)
    write_jobscripts(folder, "slurm", 2)
    with pytest.raises(OggError, match="Invalid account"):
        submit(folder)
