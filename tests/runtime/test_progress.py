import sys

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
