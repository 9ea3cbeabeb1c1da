import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.read_ahead import ReadAhead

NUMBERS = st.integers(0, 9)
ACTIONS = st.lists(st.one_of(NUMBERS, st.lists(NUMBERS, max_size=4)), max_size=40)


def content(number):
    return bytes([number]) * number


@given(ACTIONS, st.integers(0, 50))
def test_items_are_right_and_those_kept_within_bounds_in_any_order(actions, most):
    items = ReadAhead(content, len, most)
    for action in actions:
        if isinstance(action, int):
            assert items[action] == content(action)
            assert items.kept_bytes <= max(most, action)
        else:
            items.expect(action)


@given(st.lists(NUMBERS), st.integers(0, 50))
def test_what_was_not_used_for_longest_goes_first(numbers, most):
    items, model, reads = ReadAhead(content, len, most), [], 0
    for number in numbers:
        reads += number not in model
        model = [*(other for other in model if other != number), number]
        while sum(model) > most and len(model) > 1:
            model.pop(0)
        assert items[number] == content(number)
        assert (items.reads, items.kept_bytes) == (reads, sum(model))


def test_expected_items_are_read_before_they_are_asked_for():
    read = threading.Event()

    def note(number):
        read.set()
        return number

    items = ReadAhead(note, lambda _: 1, 10)
    items.expect([3])
    assert read.wait(60)
    assert items[3] == 3


def test_items_are_read_once_however_often_they_are_expected():
    read = []
    items = ReadAhead(lambda number: read.append(number) or number, lambda _: 1, 10)
    for _ in range(3):
        items.expect([1, 2])
        assert items[1] == 1
    assert items[2] == 2
    assert read == [1, 2]


def test_items_no_longer_expected_are_not_read():
    read, held = [], threading.Event()

    def note(number):
        held.wait(60)
        read.append(number)
        return number

    items = ReadAhead(note, lambda _: 1, 10)
    items.expect([1, 2])
    items.expect([3])
    held.set()
    assert items[3] == 3
    assert 2 not in read


def test_errors_of_the_thread_are_raised_where_the_item_is_asked_for():
    def fail(number):
        raise InputError("graphs.h5", "is damaged")

    items = ReadAhead(fail, len, 10)
    items.expect([4])
    with pytest.raises(InputError, match=r"graphs\.h5: is damaged"):
        items[4]
    with pytest.raises(InputError, match=r"graphs\.h5: is damaged"):
        items[4]
