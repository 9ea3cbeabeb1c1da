import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.search.tournament import build, key_of, new_tree, row_of, take_best, update_many

few_values = st.sampled_from([-np.inf, -2.5, -0.0, 0.0, 1.0, 1.5, 7.0, np.nan, np.inf])  # ties


def ranking(scores):
    """Indices of finite scores, best first, ties by index."""
    order = [i for i in range(len(scores)) if np.isfinite(scores[i])]
    return sorted(order, key=lambda i: (-scores[i], i))


def put(tree, row, score):
    tree[len(tree) // 2 + row] = key_of(np.float32(score), row)


def tree_of(scores):
    tree = new_tree(len(scores))
    for row, score in enumerate(scores):
        put(tree, row, score)
    build(tree)
    return tree


def take(tree, count):
    keys = np.zeros(count, np.int64)
    return [row_of(key) for key in keys[: take_best(tree, keys)]]


@given(st.floats(width=32), st.floats(width=32), st.integers(0, 2**31 - 1), st.integers(0, 9))
def test_keys_order_by_score_and_then_by_the_lowest_row(one, other, row, further):
    first, second = key_of(np.float32(one), row), key_of(np.float32(other), max(0, row - further))
    if not (np.isfinite(one) and np.isfinite(other)):
        assert (first == 0) == (not np.isfinite(one))
    elif one != other:
        assert (first > second) == (one > other)
    else:
        assert (first >= second) == (further == 0 or row == 0)
    if first:
        assert row_of(first) == row


@given(st.lists(few_values, min_size=1, max_size=40), st.integers(1, 12))
def test_the_best_come_in_order_with_ties_to_the_lowest_row(values, count):
    assert take(tree_of(values), count) == ranking(values)[:count]


@given(
    st.lists(few_values, min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(0, 39), few_values), max_size=40),
)
def test_changed_scores_count(values, changes):
    tree = tree_of(values)
    changes = {place % len(values): value for place, value in changes}
    for place, value in changes.items():
        values[place] = value
        put(tree, place, value)
    update_many(tree, np.array(list(changes), np.int32), len(changes))
    assert take(tree, len(values)) == ranking(values)


def test_taken_rows_are_gone():
    tree = tree_of([1, 3, 2])
    assert take(tree, 2) == [1, 2]
    assert take(tree, 2) == [0]
    assert take(tree, 2) == []


def test_no_rows_at_all():
    assert take(tree_of([]), 1) == []
