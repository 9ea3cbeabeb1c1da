import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.graphs.generators import random_geometric
from ogg_hpc.graphs.generators.geometric import GeometricEdges
from ogg_hpc.runtime.random import stream, uniform


def by_all_distances(n: int, d: float, seed: int) -> set[tuple[int, int]]:
    radius = math.sqrt(d / (math.pi * (n - 1))) if n > 1 else 0
    points = uniform(seed, stream("geometric"), np.arange(n)[:, None], np.arange(2))
    gaps = np.abs(points[:, None] - points[None])
    gaps = np.minimum(gaps, 1 - gaps)
    near = (gaps**2).sum(axis=2) < radius * radius
    return {(u, v) for u, v in np.argwhere(np.triu(near, 1)).tolist()}


def edges_of(n: int, d: float, seed: int) -> list[tuple[int, int]]:
    u, v, _ = random_geometric(n, d, seed).edges()
    return list(zip(u.tolist(), v.tolist(), strict=True))


@pytest.mark.parametrize(
    ("n", "d"), [(400, 0.05), (400, 1), (700, 7.5), (400, 40), (300, 200), (200, 156)]
)
def test_those_near_are_joined_and_no_others(n: int, d: float) -> None:
    edges = edges_of(n, d, 4)
    assert sorted(edges) == sorted(by_all_distances(n, d, 4))
    assert len(edges) > 0


@settings(deadline=None, max_examples=100)
@given(n=st.integers(1, 60), share=st.floats(0, 1), seed=st.integers(0, 2**64))
def test_any_graph_equals_that_of_all_distances(n: int, share: float, seed: int) -> None:
    d = share * math.pi / 4 * (n - 1)
    assert sorted(edges_of(n, d, seed)) == sorted(by_all_distances(n, d, seed))


@pytest.mark.parametrize("d", [0.5, 4, 30])
def test_degrees_have_the_mean_asked_for(d: float) -> None:
    n, samples = 2000, 10
    found = np.mean([2 * random_geometric(n, d, seed).m / n for seed in range(samples)])
    # Pairs are independent of one another, two by two.
    assert abs(found - d) < 4 * math.sqrt(2 * d / (n * samples))


def test_neighbours_of_a_node_are_neighbours_of_each_other() -> None:
    # On a plane the expected clustering is 1 - 3 sqrt(3) / (4 pi), 0.5865.
    import networkx as nx

    graph = nx.from_scipy_sparse_array(random_geometric(3000, 20, 1).to_scipy())
    assert abs(nx.transitivity(graph) - (1 - 3 * math.sqrt(3) / (4 * math.pi))) < 0.02


def test_cells_are_never_more_than_points() -> None:
    for d in (0.0, 0.001, 3.0):
        assert GeometricEdges(1000, d, 1).held_bytes <= 4 * 1000 + 8 * 1001
