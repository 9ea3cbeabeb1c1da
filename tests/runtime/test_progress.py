import sys
import time
from itertools import pairwise

import pytest

from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.progress import progress_bar


@pytest.fixture
def on_terminal(monkeypatch):
    """Say whether standard error is a terminal, within the test itself: pytest exchanges it."""

    def say(yes=True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: yes)

    return say


def test_bar_is_drawn_on_a_terminal_alone(on_terminal, capsys):
    on_terminal()
    with progress_bar(Communicator(), "working", 4) as show:
        show(4, "at the end")
    assert "working" in capsys.readouterr().err
    on_terminal(False)
    with progress_bar(Communicator(), "working", 4) as show:
        show(4, "at the end")
    assert capsys.readouterr().err == ""


def test_bar_inside_another_is_silent(on_terminal, capsys):
    on_terminal()
    with (
        progress_bar(Communicator(), "outer", 1) as outer,
        progress_bar(Communicator(), "inner", 1) as inner,
    ):
        inner(1, "inside")
        outer(1, "outside")
    err = capsys.readouterr().err
    assert "outer" in err
    assert "inner" not in err
    with progress_bar(Communicator(), "next", 1) as show:
        show(1, "")
    assert "next" in capsys.readouterr().err


def test_bar_inside_that_of_another_rank_is_silent(on_terminal, capsys):
    on_terminal()
    other = Communicator()
    other.rank = 1
    with progress_bar(other, "outer", 1), progress_bar(Communicator(), "inner", 1) as show:
        show(1, "inside")
    assert capsys.readouterr().err == ""


@pytest.fixture
def now(monkeypatch):
    """Set the time that lines are said by."""
    times = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: times[0])

    def move(seconds):
        times[0] += seconds

    return move


def test_a_log_file_gets_lines_ever_more_rarely(on_terminal, now, capsys):
    on_terminal(False)
    said = []
    with progress_bar(Communicator(), "working", 40_000) as show:
        for second in range(0, 40_000, 10):
            show(second, f"at {second}")
            if capsys.readouterr().err:
                said.append(second)
            now(10)
    gaps = [later - earlier for earlier, later in pairwise([0, *said])]
    assert gaps[0] == 60
    assert gaps == sorted(gaps)
    assert gaps[-1] == 600
    assert 60 < len(said) < 80


def test_a_line_says_how_far_after_how_long(on_terminal, now, capsys):
    on_terminal(False)
    with progress_bar(Communicator(), "solving", 8) as show:
        show(1, "step 1")
        now(3700)
        show(2, "step 2, 6 candidates left")
        now(3700)
        show(4, "")
    assert capsys.readouterr().err.splitlines() == [
        "solving: 25 % after 1:01:40, step 2, 6 candidates left",
        "solving: 50 % after 2:03:20",
    ]


def test_only_rank_0_says_lines_and_only_of_the_outer_work(on_terminal, now, capsys):
    on_terminal(False)
    other = Communicator()
    other.rank = 1
    with progress_bar(other, "others", 1) as show:
        now(100)
        show(1, "")
    with (
        progress_bar(Communicator(), "outer", 1),
        progress_bar(Communicator(), "inner", 1) as show,
    ):
        now(100)
        show(1, "")
    assert capsys.readouterr().err == ""
