"""Weights of nodes as problems use them: exact sums, and whole numbers where that is possible."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph

# Sums of whole weights stay below 2 to this power, so that float64 holds each of them.
_BITS = 52


class WholeWeights(NamedTuple):
    """Weights of nodes as multiples of a unit.

    Attributes
    ----------
    values : (n,) int64
        Their sum is below 2^52.
    unit : float
        A power of two.
    exact : bool
        Whether `values` times `unit` are the weights; if not, they were rounded down.
    """

    values: NDArray[np.int64]
    unit: float
    exact: bool


def node_weights(graph: Graph) -> NDArray[np.float64]:
    """Return (n,) weights of the nodes, 1 each for a graph without."""
    return np.ones(graph.n) if graph.node_weights is None else graph.node_weights


def weight_of(graph: Graph, nodes: NDArray[np.int64]) -> float:
    """Return the sum of nodes' weights, rounded once, so that their order makes no difference."""
    if graph.node_weights is None:
        return float(len(nodes))
    return math.fsum(graph.node_weights[nodes].tolist())


def less_cover_bound(graph: Graph, bound: float) -> float:
    """Return the weight of all nodes less a bound on vertex covers: a bound on their complements.

    Rounded once, as `weight_of` is, so that no rounded weight of a complement exceeds it.
    """
    return math.fsum([*node_weights(graph).tolist(), -bound])


def whole_weights(graph: Graph, bits: int = _BITS) -> WholeWeights:
    """Return the weights of the nodes as whole numbers.

    The unit is the largest of which all weights are multiples: 1 or more for whole weights. Where
    their sum is not below 2^bits then, a larger one rounds them down.
    """
    weights = node_weights(graph)
    if not graph.n:
        return WholeWeights(np.empty(0, np.int64), 1.0, True)
    mantissas, exponents = np.frexp(weights)
    digits = (mantissas * 2.0**53).astype(np.int64)
    trailing = np.frexp((digits & -digits).astype(np.float64))[1] - 1
    finest = int((exponents - 53 + trailing).min())
    coarsest = math.frexp(math.fsum(weights.tolist()))[1] - bits
    exponent = max(finest, coarsest)
    values = np.floor(np.ldexp(weights, -exponent)).astype(np.int64)
    return WholeWeights(values, math.ldexp(1.0, exponent), exponent == finest)
