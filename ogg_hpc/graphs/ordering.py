"""Orders of the nodes in which neighbours, and so the rows that ranks share, lie close together."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.errors import MissingExtraError, SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.renumbering import renumbered

ORDERS = ("degree", "bfs", "rcm", "metis")

_SEED = 1


def check_order(by: str) -> None:
    """Find out whether there is such an order, before a graph that may be large is read.

    Raises
    ------
    SettingsError
        An unknown name.
    MissingExtraError
        PyMetis is not installed, and ``metis`` needs it.
    """
    if by not in ORDERS:
        raise SettingsError(f"order {by!r} is unknown; use one of {', '.join(ORDERS)}")
    if by == "metis" and importlib.util.find_spec("pymetis") is None:
        raise MissingExtraError("pymetis", "metis")


def node_order(graph: Graph, by: str, parts: int = 1, balance: str = "rows") -> NDArray[np.int64]:
    """Return the nodes of a graph in another order.

    Parameters
    ----------
    graph
        Arcs of a directed graph count as edges, but for ``degree``, which is the out-degree.
    by
        ``degree``: descending, so that hubs are together. ``bfs``: breadth first from the lowest
        id of each component. ``rcm``: reverse Cuthill-McKee [1]_, from a node of least degree of
        each component, which keeps neighbours close to the diagonal. ``metis``: part by part of a
        partition by METIS [2]_ with few edges between its parts, and breadth first within them.
        Ties go to the lowest id.
    parts
        Of ``metis``: the number of ranks that will share the graph. The other orders do without.
    balance
        What the parts of ``metis`` hold the same number of: ``rows``, or entries (``edges``).

    Returns
    -------
    (n,) int64
        Ids; the first is that of the new node 0.

    Raises
    ------
    SettingsError, MissingExtraError
        As `check_order` does.

    References
    ----------
    .. [1] A. George and J. W. H. Liu, "Computer Solution of Large Sparse Positive Definite
       Systems", Prentice-Hall, 1981, section 4.3.
    .. [2] G. Karypis and V. Kumar, "A fast and high quality multilevel scheme for partitioning
       irregular graphs", SIAM Journal on Scientific Computing 20, 359-392, 1998.
    """
    check_order(by)
    if by == "degree":
        return np.argsort(-graph.degrees, kind="stable")
    graph = graph.unweighted().to_undirected()
    if by == "bfs":
        return breadth_first(graph)
    if by == "rcm":
        # Where ids ascend by degree, the lowest id is the node of least degree.
        ascending = np.argsort(graph.degrees, kind="stable")
        return ascending[breadth_first(renumbered(graph, ascending))][::-1].copy()
    order = breadth_first(graph)
    part = _metis_parts(graph, parts, balance)
    return order[np.argsort(part[order], kind="stable")]


def breadth_first(graph: Graph) -> NDArray[np.int64]:
    """Return the nodes of an undirected graph breadth first, component by component.

    Each component starts at its lowest id, and the neighbours of a node follow by ascending id.
    """
    order: NDArray[np.int64] = _breadth_first(graph.row_offsets, graph.columns)
    return order


@njit(cache=True)
def _breadth_first(row_offsets: Any, columns: Any) -> Any:
    n = len(row_offsets) - 1
    order, seen = np.empty(n, np.int64), np.zeros(n, np.bool_)
    found = 0
    for start in range(n):
        if seen[start]:
            continue
        seen[start] = True
        order[found] = start
        done, found = found, found + 1
        while done < found:
            node = order[done]
            done += 1
            for neighbour in columns[row_offsets[node] : row_offsets[node + 1]]:
                if not seen[neighbour]:
                    seen[neighbour] = True
                    order[found] = neighbour
                    found += 1
    return order


def _metis_parts(graph: Graph, parts: int, balance: str) -> NDArray[np.int64]:
    """Return (n,) the part of each node."""
    import pymetis

    if parts < 2 or not graph.m:
        return np.zeros(graph.n, np.int64)
    adjacency = pymetis.CSRAdjacency(graph.row_offsets, graph.columns)
    # What `RowPartition.by_edges` weighs a row with.
    weights = graph.degrees + 1 if balance == "edges" else None
    _, part = pymetis.part_graph(
        parts, adjacency, vweights=weights, options=pymetis.Options(seed=_SEED)
    )
    return np.asarray(part, np.int64)
