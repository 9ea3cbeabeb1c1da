import numpy as np
import pytest

from ogg_hpc.errors import SettingsError


def rooted_page_rank(graph, stop_rate):
    """Where walks of at least one step end, by a dense solve; they end at dead ends, too."""
    weights = graph.to_scipy().toarray()
    dead = weights.sum(axis=1) == 0
    weights[dead, dead] = 1
    steps = weights / weights.sum(axis=1, keepdims=True)
    n = graph.n
    with_none = stop_rate * np.linalg.inv(np.eye(n) - (1 - stop_rate) * steps)
    ends = steps @ with_none
    ends[dead] = 0
    return ends


@pytest.mark.parametrize("stop_rate", [0.15, 1.0])
def test_ends_of_walks_are_distributed_as_rooted_page_rank(karate, pair_counts, fits, stop_rate):
    counts = pair_counts(karate, "app", walks=10_000, stop_rate=stop_rate)
    assert (counts.sum(axis=1) == 10_000).all()
    assert fits(counts, rooted_page_rank(karate, stop_rate))


def test_directions_weights_and_dead_ends_count(arcs, pair_counts, fits):
    counts = pair_counts(arcs, "app", walks=30_000, stop_rate=0.2)
    expected = rooted_page_rank(arcs, 0.2)
    assert fits(counts, expected)
    assert not np.array_equal(expected, expected.T)
    assert counts.sum(axis=1).tolist() == [30_000, 30_000, 30_000, 0, 30_000, 0]
    assert not counts[:, 4:].any()  # no walk comes to a node without arcs into it


def test_walks_that_would_hardly_ever_stop_are_refused(karate, sampler_of):
    with pytest.raises(SettingsError, match=r"stop_rate 1e-09: .*at least 0\.001"):
        sampler_of(karate, "app", stop_rate=1e-9)
