from pathlib import Path

import numpy as np
import pytest

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.runtime.communicator import Communicator


@pytest.fixture(scope="session")
def random_graph():
    """A function of a seed: a small graph of random size and density."""

    def make(seed, largest=24, weighted=False):
        generator = np.random.default_rng(seed)
        n = int(generator.integers(1, largest + 1))
        density = generator.choice([0.05, 0.1, 0.2, 0.5])
        edges = np.argwhere(np.triu(generator.random((n, n)) < density, 1))
        weights = generator.standard_normal(len(edges)) if weighted else None
        return Graph.from_edges(n, edges[:, 0], edges[:, 1], weights)

    return make


@pytest.fixture(scope="session")
def batch_of():
    def make(*graphs, copies=1):
        return GraphBatch(Communicator(), [row_block(graph, 0, 1) for graph in graphs], copies)

    return make


@pytest.fixture(scope="session")
def own_problem():
    """``FILE.py:CLASS`` of a user's own problem."""
    return f"{Path(__file__).parents[2] / 'examples' / 'far_apart.py'}:FarApart"
