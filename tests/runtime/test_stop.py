"""Work in pieces."""

import pytest

from ogg_hpc.runtime import stop
from ogg_hpc.runtime.stop import amounts, never, pieces


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests set."""

    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(stop, "time", clock)
    return clock


def test_amounts_double_while_they_are_done_quickly_and_halve_when_not(clock):
    seconds_a_unit, seen = 0.015, []
    for amount in amounts(never):
        seen.append(amount)
        clock.now += amount * seconds_a_unit
        if len(seen) == 6:
            seconds_a_unit = 1.0
        if len(seen) == 10:
            break
    assert seen == [1, 2, 4, 2, 4, 2, 4, 2, 1, 1]


def test_amounts_have_a_largest(clock):
    several = amounts(never, most=5)
    assert [next(several) for _ in range(5)] == [1, 2, 4, 5, 5]


@pytest.mark.parametrize("total", [0, 1, 2, 100])
def test_pieces_make_up_the_whole_in_turn(total):
    assert [i for start, end in pieces(total, never) for i in range(start, end)] == [*range(total)]


def test_no_piece_is_begun_once_it_is_time_to_stop(clock):
    answers = iter([False, False, True])
    assert [*pieces(100, lambda: next(answers))] == [(0, 1), (1, 3)]
