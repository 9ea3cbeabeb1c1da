import logging
import re
import subprocess
import sys
import warnings

import pytest

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.log import LOG, log_to, say

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} \[rank (\d+)\] (.*)")


def on_rank(rank):
    comm = Communicator()
    comm.rank = rank
    return comm


def lines(path):
    """The rank and the text of each line."""
    found = [LINE.fullmatch(line) for line in path.read_text().splitlines()]
    return [(int(each[1]), each[2]) for each in found]


def test_what_rank_0_says_is_on_standard_error_and_in_the_file(tmp_path, capsys):
    path = tmp_path / "log.txt"
    say(on_rank(0), "before")
    for number in range(2):  # a run and its resumption
        with log_to(on_rank(0), path):
            say(on_rank(0), f"step {number}")
            say(on_rank(1), "nothing")
    say(on_rank(0), "after")
    assert capsys.readouterr().err == "before\nstep 0\nstep 1\nafter\n"
    assert lines(path) == [(0, "step 0"), (0, "step 1")]


def test_an_error_stream_that_cannot_be_written_is_no_reason_to_stop(tmp_path, monkeypatch):
    with open("/dev/full", "w", buffering=1) as full, log_to(on_rank(0), tmp_path / "log.txt"):
        monkeypatch.setattr(sys, "stderr", full)
        say(on_rank(0), "step 0")
        monkeypatch.undo()
        with pytest.raises(OSError, match="No space left"):
            full.close()
    assert lines(tmp_path / "log.txt") == [(0, "step 0")]


def test_a_rank_without_a_word_opens_no_file(tmp_path):
    with log_to(on_rank(3), tmp_path / "log.txt"):
        say(on_rank(3), "nothing")
    assert list(tmp_path.iterdir()) == []


def test_warnings_of_any_rank_carry_its_number(tmp_path):
    path = tmp_path / "log.txt"
    show = warnings.showwarning
    with pytest.warns(UserWarning, match="look out"), log_to(on_rank(3), path):
        warnings.warn("look out", UserWarning, stacklevel=1)
    first, *_ = path.read_text().splitlines()
    assert "[rank 3]" in first
    assert "UserWarning: look out" in first
    assert warnings.showwarning is show


@pytest.mark.parametrize(
    ("error", "ranks"),
    [(SettingsError("wrong").shared(), [0]), (SettingsError("wrong"), [0, 1])],
)
def test_an_error_of_a_user_is_one_line(tmp_path, error, ranks):
    path = tmp_path / "log.txt"
    for rank in range(2):
        with pytest.raises(SettingsError), log_to(on_rank(rank), path):
            raise error
    assert lines(path) == [(rank, "wrong") for rank in ranks]


def test_a_bug_leaves_its_traceback(tmp_path):
    with pytest.raises(ZeroDivisionError), log_to(on_rank(2), tmp_path / "log.txt"):
        print(1 // 0)
    text = (tmp_path / "log.txt").read_text()
    assert "[rank 2] ended by an error:\nTraceback" in text
    assert "ZeroDivisionError" in text


def test_a_file_that_cannot_be_written_stops_nothing(tmp_path, capsys):
    for path in (tmp_path / "missing" / "log.txt", "/dev/full"):
        with log_to(on_rank(0), path):
            say(on_rank(0), "word")
    assert capsys.readouterr().err == "word\nword\n"


def test_programs_can_listen_and_else_nothing_is_said_twice(caplog):
    with caplog.at_level(logging.INFO):
        say(on_rank(0), "word")
    assert caplog.messages == ["word"]
    assert LOG.name == "ogg_hpc"
    code = (
        "from ogg_hpc.runtime.communicator import Communicator\n"
        "from ogg_hpc.runtime.log import LOG, say\n"
        "say(Communicator(), 'word')\n"
        "LOG.warning('for the file')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "word\n"
