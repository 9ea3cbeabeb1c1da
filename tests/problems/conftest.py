import numpy as np
import pytest

from ogg_hpc.graphs.graph import Graph


@pytest.fixture(scope="session")
def random_graph():
    """A function of a seed: a small graph of random size and density, some with self loops."""

    def build(seed: int, largest: int = 14, loops: bool = True) -> Graph:
        generator = np.random.default_rng(seed)
        n = int(generator.integers(0, largest + 1))
        pairs = np.argwhere(generator.random((n, n)) < generator.choice([0.05, 0.1, 0.2, 0.4]))
        if not loops or generator.random() < 0.5:
            pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        return Graph.from_edges(n, pairs[:, 0], pairs[:, 1])

    return build
