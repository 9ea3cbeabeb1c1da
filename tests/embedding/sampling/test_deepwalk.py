import numpy as np
import pytest

from ogg_hpc.embedding.sampling.registry import make_sampler
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.shared_graph import SharedGraph
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.communicator import Communicator


def graph_of(edges: list[tuple[int, int]], n: int, directed: bool = False) -> Graph:
    sources, targets = np.array(edges).T
    return Graph.from_edges(n, sources, targets, directed=directed)


def test_pairs_of_an_item_do_not_depend_on_the_items_asked_for_with_it():
    graph = SharedGraph(Communicator(), graph_of([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], 4))
    sampler = make_sampler(graph, EmbedSettings(walk_length=6, window=2))
    together = sampler.sample(1, np.arange(8))
    ends = np.cumsum(together.counts)
    for item in range(8):
        alone = sampler.sample(1, np.array([item]))
        part = slice(ends[item] - together.counts[item], ends[item])
        assert np.array_equal(alone.sources, together.sources[part])
        assert np.array_equal(alone.contexts, together.contexts[part])


@pytest.mark.parametrize("rule", ["full", "reduced"])
def test_the_number_of_pairs_that_is_expected_comes_out(rule):
    graph = SharedGraph(Communicator(), graph_of([(0, 1), (1, 2), (2, 3), (3, 0)], 5))
    settings = EmbedSettings(walk_length=20, window=5, window_rule=rule, walks=200)
    sampler = make_sampler(graph, settings)
    pairs = sampler.sample(0, np.arange(sampler.items))
    assert len(pairs) / sampler.items == pytest.approx(sampler.pairs_per_item, rel=0.02)
