import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.search.tournament import build, new_tree, take_best, update_many

few_values = st.sampled_from([-np.inf, 0.0, 1.0, 1.5, 7.0])  # many ties


def ranking(scores):
    """Indices of finite scores, best first, ties by index."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    return [i for i in order if scores[i] > -np.inf]


def take(scores, tree, count):
    leaves, values = np.zeros(count, np.int64), np.zeros(count, np.float32)
    taken = take_best(scores, tree, count, leaves, values)
    return leaves[:taken].tolist()


@given(st.lists(few_values, min_size=1, max_size=40), st.integers(1, 12))
def test_the_best_come_in_order_with_ties_to_the_lowest_index(values, count):
    scores, tree = new_tree(len(values))
    scores[: len(values)] = values
    build(scores, tree)
    assert take(scores, tree, count) == ranking(values)[:count]


@given(
    st.lists(few_values, min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(0, 39), few_values), max_size=40),
)
def test_changed_scores_count(values, changes):
    scores, tree = new_tree(len(values))
    scores[: len(values)] = values
    build(scores, tree)
    changes = {place % len(values): value for place, value in changes}
    for place, value in changes.items():
        scores[place] = values[place] = value
    update_many(scores, tree, np.array(list(changes), np.int32), len(changes))
    assert take(scores, tree, len(values)) == ranking(values)


def test_taken_scores_are_gone():
    scores, tree = new_tree(3)
    scores[:3] = [1, 3, 2]
    build(scores, tree)
    assert take(scores, tree, 2) == [1, 2]
    assert take(scores, tree, 2) == [0]
    assert take(scores, tree, 2) == []


def test_no_scores_at_all():
    scores, tree = new_tree(0)
    build(scores, tree)
    assert take(scores, tree, 1) == []
