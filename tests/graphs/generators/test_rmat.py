import math

import numpy as np
import pytest

from ogg_hpc.graphs.generators import EDGES, recursive_matrix
from ogg_hpc.graphs.generators.rmat import RecursiveMatrixEdges
from ogg_hpc.runtime.random import hash64, stream


def permutation_of_ids(n: int, seed: int) -> np.ndarray:
    """The image of each id, by the formula in whole numbers without bounds."""
    bits = n.bit_length() - 1
    keys = [int(key) for key in hash64(seed, stream("rmat ids"), np.arange(8))]
    images = []
    for x in range(n):
        for summand, factor in zip(keys[::2], keys[1::2], strict=True):
            x = (x + summand) * (factor | 1) % n
            x ^= x >> (bits // 2 + 1)
        images.append(x)
    return np.array(images)


def unscrambled_pairs(edges: RecursiveMatrixEdges) -> tuple[np.ndarray, np.ndarray]:
    images = permutation_of_ids(edges.n, edges.seed)
    assert sorted(images) == list(range(edges.n))
    inverse = np.argsort(images)
    u, v = edges.all_pairs()
    return inverse[u], inverse[v]


@pytest.mark.parametrize("levels", range(13))
def test_scrambling_is_a_permutation_at_every_size(levels: int) -> None:
    for seed in range(3):
        assert sorted(permutation_of_ids(2**levels, seed)) == list(range(2**levels))


@pytest.mark.parametrize(
    ("a", "b", "c"), [(0.57, 0.19, 0.19), (0.25, 0.25, 0.25), (0.1, 0.2, 0.3), (0.0, 0.5, 0.5)]
)
def test_quadrants_are_as_likely_as_asked_for_at_every_level(a: float, b: float, c: float) -> None:
    edges = RecursiveMatrixEdges(2**6, 500, 1, a, b, c)
    u, v = unscrambled_pairs(edges)
    m = len(u)
    assert m == 2**6 * 500
    for level in range(6):
        quadrants = np.bincount(2 * (u >> level & 1) + (v >> level & 1), minlength=4)
        for count, p in zip(quadrants, (a, b, c, 1 - a - b - c), strict=True):
            assert abs(count - m * p) <= 5 * math.sqrt(m * p * (1 - p))


def test_levels_are_independent() -> None:
    # The probability of an entry is the product of those of its quadrants.
    edges = RecursiveMatrixEdges(2**3, 20_000, 2)
    u, v = unscrambled_pairs(edges)
    quadrant = np.array([[0.57, 0.19], [0.19, 0.05]])
    expected = len(u) * np.kron(np.kron(quadrant, quadrant), quadrant).ravel()
    found = np.bincount(8 * u + v, minlength=64)
    chi_square = float(((found - expected) ** 2 / expected).sum())
    assert abs(chi_square - 63) < 5 * math.sqrt(2 * 63)


def test_what_is_drawn_is_kept_or_counted() -> None:
    graph = recursive_matrix(2**10, 16, 3)
    u, v = RecursiveMatrixEdges(2**10, 16, 3).all_pairs()
    loops = u == v
    pairs = {(min(e), max(e)) for e in zip(u[~loops].tolist(), v[~loops].tolist(), strict=True)}
    assert graph.self_loops == loops.sum() > 0
    assert graph.looped.tolist() == sorted(set(u[loops].tolist()))
    assert graph.m == len(pairs)
    assert graph.m + graph.self_loops + graph.duplicates == 16 * 2**10


def test_scrambling_hides_which_ids_are_busy() -> None:
    degrees = recursive_matrix(2**14, 8, 1).degrees
    rank = np.corrcoef(np.arange(2**14), degrees)[0, 1]
    assert abs(rank) < 4 / math.sqrt(2**14)
    assert degrees.max() > 20 * degrees.mean()


def test_one_node_has_self_loops_alone() -> None:
    graph = recursive_matrix(1, 5, 1)
    assert (graph.n, graph.m, graph.self_loops) == (1, 0, 5)
    assert EDGES["rmat"](4, 0, seed=1).count == 0
