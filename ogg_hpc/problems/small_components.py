"""Small components of a vertex cover kernel, each covered exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.induced import induced_subgraph
from ogg_hpc.problems.independence import heaviest_independent_set
from ogg_hpc.problems.node_sets import others
from ogg_hpc.problems.node_weights import weight_of
from ogg_hpc.problems.problem import Reduction
from ogg_hpc.runtime.stop import Stop, never

MOST_NODES = 40  # of a component: well under a millisecond where it is sparse


def cover_small_components(reduction: Reduction, stop: Stop = never) -> Reduction:
    """Return a reduction of vertex cover whose kernel has no small components.

    Components of at most `MOST_NODES` nodes are covered by branching, whose cover is of least
    weight where nodes have weights; these have to be whole.

    Parameters
    ----------
    reduction
        A reduction whose kernel has no self loops.
    stop
        Where it holds, the other components stay.
    """
    if stop():
        return reduction
    kernel = reduction.kernel
    component = _components(kernel)
    small = np.bincount(component) <= MOST_NODES
    if not small.any():
        return reduction
    order = np.argsort(component, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(component[order])) + 1)
    covered, left = np.empty(0, np.int64), np.ones(kernel.n, np.bool_)
    covers = [covered]
    for part in parts:
        if small[component[part[0]]]:
            if stop():
                break
            covers.append(_cover(kernel, part))
            left[part] = False
    covered, ids = np.concatenate(covers), np.flatnonzero(left)
    return Reduction(
        induced_subgraph(kernel, ids),
        reduction.offset + weight_of(kernel, covered),
        lambda nodes: reduction.lift(np.sort(np.concatenate([ids[nodes], covered]))),
    )


def _components(graph: Graph) -> NDArray[np.int64]:
    """Return the (n,) number of each node's component."""
    from scipy.sparse.csgraph import connected_components

    component: NDArray[np.int64] = connected_components(graph.to_scipy(), directed=False)[1]
    return component


def _cover(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the nodes of a lightest cover of the edges among sorted nodes."""
    part = induced_subgraph(graph, nodes)
    return nodes[others(part, heaviest_independent_set(part))]
