import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.embedding.sampling.window_pairs import expected_pairs, window_pairs
from ogg_hpc.runtime.random import hash64

lengths = st.lists(st.integers(1, 9), max_size=6)


def walks_of(lengths, columns=9):
    """Walks that visit nodes all of which differ."""
    walks = np.full((len(lengths), columns), -1, np.int32)
    for i, length in enumerate(lengths):
        walks[i, :length] = np.arange(length) + 100 * i
    return walks


def keys(count):
    return hash64(3, np.arange(count))


@given(lengths, st.integers(1, 12))
def test_a_full_window_pairs_all_nodes_within_it(lengths, window):
    pairs = window_pairs(walks_of(lengths), keys(len(lengths)), window, reduced=False)
    expected = [
        (100 * i + u, 100 * i + v)
        for i, length in enumerate(lengths)
        for u in range(length)
        for v in range(length)
        if u != v and abs(u - v) <= window
    ]
    found = list(zip(pairs.sources.tolist(), pairs.contexts.tolist(), strict=True))
    assert found == expected
    assert np.array_equal(np.repeat(np.arange(len(lengths)), pairs.counts), pairs.sources // 100)


@given(lengths, st.integers(1, 12))
def test_a_reduced_window_reaches_equally_far_to_both_sides(lengths, window):
    pairs = window_pairs(walks_of(lengths), keys(len(lengths)), window, reduced=True)
    found = set(zip(pairs.sources.tolist(), pairs.contexts.tolist(), strict=True))
    assert len(found) == len(pairs) == pairs.counts.sum()
    for u, v in found:
        nearer = u + np.sign(v - u) * np.arange(1, abs(v - u))
        assert all((u, w) in found for w in nearer.tolist())
        mirrored = 2 * u - v
        if 0 <= mirrored - u // 100 * 100 < lengths[u // 100]:
            assert (u, mirrored) in found


@pytest.mark.parametrize("window", [1, 3, 10])
def test_a_reduced_window_takes_near_nodes_more_often(fits, window):
    count = 20_000
    walks = np.tile(np.arange(2 * window + 1, dtype=np.int32), (count, 1))
    pairs = window_pairs(walks, keys(count), window, reduced=True)
    in_the_middle = pairs.sources == window
    distances = np.abs(pairs.contexts[in_the_middle] - window)
    taken = np.bincount(distances, minlength=window + 1)[1:] / 2
    for distance, times in enumerate(taken, 1):
        probability = (window - distance + 1) / window
        assert fits(np.array([times, count - times]), np.array([probability, 1 - probability]))


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize(("nodes", "window"), [(2, 1), (9, 3), (5, 10)])
def test_the_expected_number_of_pairs(nodes, window, reduced):
    walks = np.tile(np.arange(nodes, dtype=np.int32), (5000, 1))
    pairs = window_pairs(walks, keys(5000), window, reduced)
    assert len(pairs) / 5000 == pytest.approx(expected_pairs(nodes, window, reduced), rel=0.02)


def test_nodes_that_a_walk_visits_again_are_paired_again():
    pairs = window_pairs(np.array([[7, 8, 7]]), keys(1), 2, reduced=False)
    assert pairs.sources.tolist() == [7, 7, 8, 8, 7, 7]
    assert pairs.contexts.tolist() == [8, 7, 7, 7, 7, 8]
