"""Problems as linear programs over variables that are 0 or 1, for exact solvers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph

# Rows of triangles only tighten the relaxation: dense graphs have too many to keep.
_MOST_TRIANGLES = 1_000_000


@dataclass(frozen=True, eq=False)
class BinaryProgram:
    """Minimise ``costs @ x`` such that ``A @ x >= lower``, each variable 0 or 1.

    The first n variables tell which of the n nodes are in the solution; a program may have further
    ones. The rows of A are in compressed sparse form.

    Attributes
    ----------
    costs : (variables,) float64
        Their sum is the objective, or minus the objective when that is maximised.
    row_offsets : (rows + 1,) int64
        Row i has the entries from ``row_offsets[i]`` up to ``row_offsets[i + 1]``.
    columns : (entries,) int64
        The variable of each entry.
    coefficients : (entries,) float64
    lower : (rows,) float64
    """

    costs: NDArray[np.float64]
    row_offsets: NDArray[np.int64]
    columns: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    lower: NDArray[np.float64]


def vertex_cover_program(graph: Graph) -> BinaryProgram:
    """Return the program with a row for the ends of each edge and one for each self loop."""
    sources, targets, _ = graph.edges()
    ends = np.stack([sources, targets], axis=1).reshape(-1)
    sizes = np.concatenate([np.full(graph.m, 2), np.ones(len(graph.looped), np.int64)])
    return _hitting_program(graph.n, sizes, np.concatenate([ends, graph.looped]))


def dominating_set_program(graph: Graph) -> BinaryProgram:
    """Return the program with a row for each node and its neighbours."""
    itself = np.insert(graph.columns.astype(np.int64), graph.row_offsets[:-1], np.arange(graph.n))
    return _hitting_program(graph.n, graph.degrees + 1, itself)


def cut_program(graph: Graph) -> BinaryProgram:
    """Return the program with a variable for each edge that tells whether it crosses [1]_.

    An edge of positive weight crosses only if just one of its ends is on side 1, which two rows
    say; two others say when one of negative weight does. Triangles, up to a million, have a row
    each, since no more than two of their edges cross.

    References
    ----------
    .. [1] F. Barahona and A. R. Mahjoub, "On the cut polytope", Mathematical Programming 36,
       157-173, 1986.
    """
    from ogg_hpc.graphs.triangles import triangles

    u, v, weights = graph.edges()
    weights = np.ones(graph.m) if weights is None else weights
    crosses = np.arange(graph.n, graph.n + graph.m)
    ends = np.stack([u, v, crosses], axis=1)
    positive = weights >= 0
    # x_u + x_v >= y and x_u + x_v + y <= 2, or y >= x_u - x_v and y >= x_v - x_u.
    first = np.where(positive[:, None], [1.0, 1.0, -1.0], [-1.0, 1.0, 1.0])
    second = np.where(positive[:, None], [-1.0, -1.0, -1.0], [1.0, -1.0, 1.0])
    of_edges = triangles(graph, _MOST_TRIANGLES) + graph.n
    rows = np.concatenate([ends, ends, of_edges]).reshape(-1).astype(np.int64)
    values = np.concatenate([first, second, np.full(of_edges.shape, -1.0)]).reshape(-1)
    of_pairs, of_triangles = np.where(positive, -2.0, 0.0), np.full(len(of_edges), -2.0)
    lower = np.concatenate([np.zeros(graph.m), of_pairs, of_triangles])
    return BinaryProgram(
        np.concatenate([np.zeros(graph.n), -weights]),
        np.arange(0, len(rows) + 1, 3),
        rows,
        values,
        lower,
    )


def _hitting_program(n: int, sizes: NDArray[np.int64], members: NDArray[np.int64]) -> BinaryProgram:
    """Return the program for the fewest of n nodes with one at least of each set.

    Parameters
    ----------
    n
        Number of nodes.
    sizes
        (sets,) of the sets.
    members
        The sets one after another.
    """
    return BinaryProgram(
        np.ones(n),
        np.concatenate([[0], np.cumsum(sizes)]),
        members.astype(np.int64),
        np.ones(len(members)),
        np.ones(len(sizes)),
    )
