from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest
import scipy.stats

from ogg_hpc.embedding.sampling import Pairs, Sampler, make_sampler
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.shared_graph import SharedGraph
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.communicator import Communicator


@pytest.fixture
def sampler_of() -> Callable[..., Sampler]:
    """Make a sampler of a graph, with settings by name."""

    def make(graph: Graph, method: str, **settings) -> Sampler:
        walkable = SharedGraph(Communicator(), graph)
        return make_sampler(walkable, EmbedSettings(method=method, **settings))

    return make


@pytest.fixture
def pairs_of(sampler_of) -> Callable[..., Pairs]:
    """Draw all pairs of an epoch."""

    def draw(graph: Graph, method: str, epoch: int = 0, **settings) -> Pairs:
        sampler = sampler_of(graph, method, **settings)
        return sampler.sample(epoch, np.arange(sampler.items))

    return draw


@pytest.fixture
def pair_counts(pairs_of) -> Callable[..., np.ndarray]:
    """Count how often each (source, context) is drawn in an epoch."""

    def count(graph: Graph, method: str, **settings) -> np.ndarray:
        pairs = pairs_of(graph, method, **settings)
        counts = np.zeros((graph.n, graph.n), np.int64)
        np.add.at(counts, (pairs.sources, pairs.contexts), 1)
        return counts

    return count


@pytest.fixture
def fits() -> Callable[[np.ndarray, np.ndarray], bool]:
    """Tell whether counts may come from probabilities, each row for itself (chi-square)."""

    def test(counts: np.ndarray, probabilities: np.ndarray) -> bool:
        counts, probabilities = np.atleast_2d(counts), np.atleast_2d(probabilities)
        expected = counts.sum(axis=1, keepdims=True) * probabilities
        possible = expected > 0
        assert not counts[~possible].any()
        assert expected[possible].min() > 5  # or the statistic has another distribution
        statistic = ((counts - expected)[possible] ** 2 / expected[possible]).sum()
        freedom = (possible.sum(axis=1) - 1).clip(0).sum()
        return bool(freedom == 0 or scipy.stats.chi2.sf(statistic, freedom) > 1e-3)

    return test


@pytest.fixture(scope="session")
def karate() -> Graph:
    """Zachary's karate club: 34 nodes, 78 edges, without weights."""
    return Graph.from_networkx(nx.karate_club_graph()).unweighted()


@pytest.fixture(scope="session")
def arcs() -> Graph:
    """A weighted directed graph with a dead end (3), a source (4) and an isolated node (5)."""
    sources, targets = [0, 0, 1, 1, 2, 2, 4, 4], [1, 2, 0, 3, 1, 0, 0, 3]
    weights = [1.0, 3.0, 0.5, 1.5, 2.0, 0.25, 1.0, 4.0]
    return Graph.from_edges(6, sources, targets, weights, directed=True)
