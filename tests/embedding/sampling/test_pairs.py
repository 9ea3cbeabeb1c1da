import numpy as np
import pytest

from ogg_hpc.embedding.sampling.pairs import Pairs, checked
from ogg_hpc.embedding.shared_graph import SharedGraph
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.communicator import Communicator

GRAPH = SharedGraph(Communicator(), Graph.from_edges(5, [0, 1, 2, 3], [1, 2, 3, 4]))


def ids(*values, dtype=np.int64):
    return np.array(values, dtype)


def test_ids_get_the_type_of_the_graph():
    pairs = checked(Pairs(ids(0, 4), ids(4, 0), ids(0, 2, 0)), 3, GRAPH, "own.py:Own")
    assert pairs.sources.dtype == pairs.contexts.dtype == np.int32
    assert (pairs.sources.tolist(), pairs.contexts.tolist()) == ([0, 4], [4, 0])
    assert pairs.counts.tolist() == [0, 2, 0]


def test_no_items_have_no_pairs():
    assert len(checked(Pairs(ids(), ids(), ids()), 0, GRAPH, "own.py:Own")) == 0


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (None, "has to return Pairs"),
        (Pairs([0], ids(1), ids(1)), "sources are one-dimensional arrays"),
        (Pairs(ids(0), ids(1.0, dtype=float), ids(1)), "contexts are .* whole numbers"),
        (Pairs(ids(0), ids(1), np.ones((1, 1), int)), "counts are one-dimensional"),
        (Pairs(ids(-1), ids(1), ids(1)), "sources are .* not negative"),
        (Pairs(ids(0), ids(1), ids(-1)), "counts are .* not negative"),
        (Pairs(ids(5), ids(1), ids(1)), "node 5; nodes are numbered from 0 to 4"),
        (Pairs(ids(0), ids(2**40), ids(1)), f"node {2**40}"),
        (Pairs(ids(0), ids(1), ids(1, 0)), "counts of 2 items; it was asked for 1"),
        (Pairs(ids(0), ids(1), ids(2)), "1 sources, 1 contexts and counts of 2 pairs"),
        (Pairs(ids(0), ids(), ids(1)), "1 sources, 0 contexts"),
    ],
)
def test_what_are_no_pairs_is_refused(pairs, message):
    with pytest.raises(SettingsError, match=f"own.py:Own: .*{message}"):
        checked(pairs, 1, GRAPH, "own.py:Own")
