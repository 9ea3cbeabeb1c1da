"""Hold out edges of a graph before it is embedded, to be predicted afterwards."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random import hash64, stream, uniform


class Split(NamedTuple):
    """Two graphs on the same nodes that share out the edges of one.

    Attributes
    ----------
    train : Graph
        What to embed.
    held_out : Graph
        The edges to predict.
    """

    train: Graph
    held_out: Graph


def split_edges(graph: Graph, fraction: float, seed: int, *, connected: bool = False) -> Split:
    """Hold out a random part of a graph's edges.

    Both parts keep all nodes and their labels; arcs keep their directions.

    Parameters
    ----------
    graph
        The graph.
    fraction
        Part of the edges that is held out, rounded to whole edges.
    seed
        The edges are a function of the graph and of it.
    connected
        Hold out none of a random spanning forest, so that the training graph has the components
        of the whole graph (arcs taken as edges).

    Raises
    ------
    SettingsError
        The fraction holds out no edge or all, or the forest leaves too few.
    """
    if not 0 < fraction < 1:
        raise SettingsError(f"the fraction of edges to hold out is {fraction}; it is in (0, 1)")
    u, v, weights = graph.edges()
    wanted = round(fraction * len(u))
    if not 0 < wanted < len(u):
        raise SettingsError(
            f"a fraction of {fraction} holds out {wanted} of {len(u)} edges; some have to be, "
            "and some have to stay"
        )
    candidates = np.arange(len(u))
    if connected:
        candidates = np.flatnonzero(~_forest(graph, u, v, seed))
        if wanted > len(candidates):
            most = math.floor(100 * len(candidates) / len(u)) / 100
            raise SettingsError(
                f"a fraction of {fraction} is {wanted} edges, but only {len(candidates)} lie "
                f"outside a spanning forest; hold out at most {most}, or do not keep it connected"
            )
    keys = hash64(seed, stream("held-out edges"), u[candidates], v[candidates])
    held = np.zeros(len(u), bool)
    held[candidates[np.argsort(keys, kind="stable")[:wanted]]] = True

    def part(chosen: NDArray[np.bool_]) -> Graph:
        return Graph.from_edges(
            graph.n,
            u[chosen],
            v[chosen],
            None if weights is None else weights[chosen],
            labels=graph.labels,
            directed=graph.directed,
        )

    return Split(part(~held), part(held))


def _forest(
    graph: Graph, u: NDArray[np.int64], v: NDArray[np.int64], seed: int
) -> NDArray[np.bool_]:
    """Return the (m,) mask of the edges of a random spanning forest."""
    low, high = np.minimum(u, v).astype(np.int64), np.maximum(u, v).astype(np.int64)
    keys = low * graph.n + high
    pairs, first = np.unique(keys, return_index=True)  # of two opposite arcs one suffices
    lengths = 1 + uniform(seed, stream("spanning forest"), low[first], high[first])
    shape = (graph.n, graph.n)
    forest = minimum_spanning_tree(
        scipy.sparse.csr_array((lengths, (low[first], high[first])), shape)
    ).tocoo()
    chosen = np.searchsorted(pairs, forest.row.astype(np.int64) * graph.n + forest.col)
    mask = np.zeros(len(u), bool)
    mask[first[chosen]] = True
    return mask
