"""A whole graph on the host, in compressed sparse row (CSR) form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogg_hpc.errors import SettingsError

Labels = NDArray[np.int64] | NDArray[np.str_]


class ConflictingWeightsError(SettingsError):
    """One edge that is given with two different weights.

    Attributes
    ----------
    first, second : int
        Positions of the two entries among the edges that were given.
    """

    def __init__(self, u: object, v: object, w1: float, w2: float, first: int, second: int) -> None:
        super().__init__(
            f"edge ({u}, {v}) appears with two weights, {w1:g} and {w2:g}; keep one of them"
        )
        self.args = (u, v, w1, w2, first, second)
        self.first, self.second = first, second


@dataclass(frozen=True, eq=False)
class Graph:
    """A simple graph: no self loops, no parallel edges.

    An undirected graph stores both directions of each edge. Columns are sorted within a row.

    Attributes
    ----------
    row_offsets : (n + 1,) int64
        Row v is ``columns[row_offsets[v]:row_offsets[v + 1]]``.
    columns : (nnz,) int32 or int64
        Neighbour ids; int32 where n fits.
    weights : (nnz,) float64, optional
        Edge weights in the order of `columns`; None for an unweighted graph.
    labels : (n,) int64 or str, optional
        The user's names of the nodes; None means 0, 1, …, n - 1.
    directed : bool
        Whether row v holds only the out-neighbours of v.
    looped : (k,) int64
        Sorted ids of the nodes that had a self loop; the loops themselves are not stored.
    self_loops, duplicates : int
        How many entries were dropped as self loops and merged as repeated edges on the way in.
    reversed_pairs : int
        How many edges of an undirected graph were given in both directions, where each need be
        given once; they count among the duplicates too.
    warnings : tuple of str
        What a reader noticed and the user should know.
    node_weights : (n,) float64, optional
        Positive finite weights of the nodes; None where each node counts 1.
    unread_node_weights : str
        What is wrong with weights of nodes that the source of the graph gives; empty where nothing
        is. Only a problem that uses them has to complain.
    """

    row_offsets: NDArray[np.int64]
    columns: NDArray[Any]
    weights: NDArray[np.float64] | None = None
    labels: Labels | None = None
    directed: bool = False
    looped: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    self_loops: int = 0
    duplicates: int = 0
    reversed_pairs: int = 0
    warnings: tuple[str, ...] = ()
    node_weights: NDArray[np.float64] | None = None
    unread_node_weights: str = ""

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.row_offsets) - 1

    @property
    def m(self) -> int:
        """Number of edges (arcs of a directed graph)."""
        return len(self.columns) if self.directed else len(self.columns) // 2

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """(n,) int64: number of neighbours (out-neighbours of a directed graph)."""
        return np.diff(self.row_offsets)

    @cached_property
    def rows(self) -> NDArray[Any]:
        """(nnz,) row id of each entry of `columns`, in the dtype of `columns`."""
        return np.repeat(np.arange(self.n, dtype=self.columns.dtype), self.degrees)

    def neighbours(self, node: int) -> NDArray[Any]:
        """Return the sorted neighbour ids of one node, a view."""
        return self.columns[self.row_offsets[node] : self.row_offsets[node + 1]]

    def edges(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]:
        """Return each edge once: sources, targets and weights, with u < v if undirected."""
        if self.directed:
            return self.rows, self.columns, self.weights
        once = self.rows < self.columns
        weights = None if self.weights is None else self.weights[once]
        return self.rows[once], self.columns[once], weights

    def labels_of(self, ids: ArrayLike) -> list[int] | list[str]:
        """Return the user's labels of node ids as plain Python values."""
        ids = np.asarray(ids, dtype=np.int64)
        result: list[Any] = (ids if self.labels is None else self.labels[ids]).tolist()
        return result

    def ids_of(self, labels: Iterable[int | str]) -> NDArray[np.int64]:
        """Return node ids of the user's labels.

        Raises
        ------
        SettingsError
            A label that is not in the graph.
        """
        if self.labels is None:
            index: dict[Any, int] | range = range(self.n)
        else:
            index = self._id_of_label
        ids = []
        for label in labels:
            try:
                ids.append(index[label] if isinstance(index, dict) else index.index(label))  # type: ignore[arg-type]
            except (KeyError, ValueError):
                raise SettingsError(f"node {label!r} is not in the graph") from None
        return np.array(ids, dtype=np.int64)

    @cached_property
    def _id_of_label(self) -> dict[Any, int]:
        assert self.labels is not None
        return {label: i for i, label in enumerate(self.labels.tolist())}

    def to_scipy(self) -> Any:
        """Return the adjacency matrix as a SciPy CSR array of float64 (ones if unweighted)."""
        import scipy.sparse

        data = np.ones(len(self.columns)) if self.weights is None else self.weights
        return scipy.sparse.csr_array((data, self.columns, self.row_offsets), (self.n, self.n))

    def unweighted(self) -> Graph:
        """Return the graph without its edge weights."""
        return self if self.weights is None else replace(self, weights=None)

    def with_node_weights(self, weights: ArrayLike | None) -> Graph:
        """Return the graph with other weights of its nodes, or with none.

        Parameters
        ----------
        weights
            (n,) positive finite numbers in the order of the nodes; None for none.

        Raises
        ------
        SettingsError
            Another number of weights, or one that is not positive and finite.
        """
        if weights is None:
            return self if self.node_weights is None else replace(self, node_weights=None)
        weights = np.asarray(weights, dtype=np.float64)
        if weights.shape != (self.n,):
            raise SettingsError(
                f"node weights have the shape {weights.shape}; expected one for each of {self.n} "
                "nodes"
            )
        bad = np.flatnonzero(~((weights > 0) & (weights < np.inf)))
        if bad.size:
            node = self.labels_of(bad[:1])[0]
            raise SettingsError(
                f"node {node} has weight {weights[bad[0]]:g}; expected a positive finite number"
            )
        return replace(self, node_weights=weights, unread_node_weights="")

    def with_unread_node_weights(self, fault: str, where: str = "") -> Graph:
        """Return the graph as one whose source gives weights of nodes that cannot be used.

        Parameters
        ----------
        fault
            What is wrong with them; it becomes a warning.
        where
            What stands before it for those who need the weights: file and line.
        """
        warning = f"weights of nodes are not read: {fault}"
        return replace(self, warnings=(*self.warnings, warning), unread_node_weights=where + fault)

    def to_undirected(self) -> Graph:
        """Return the graph with every arc taken as an undirected edge."""
        if not self.directed:
            return self
        merged = Graph.from_edges(self.n, self.rows, self.columns, self.weights, labels=self.labels)
        return replace(
            merged,
            looped=self.looped,
            self_loops=self.self_loops,
            duplicates=self.duplicates + merged.duplicates,
            warnings=self.warnings,
            node_weights=self.node_weights,
            unread_node_weights=self.unread_node_weights,
        )

    @staticmethod
    def from_edges(
        n: int,
        sources: ArrayLike,
        targets: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        labels: Labels | None = None,
        directed: bool = False,
        both_directions: bool = False,
        warnings: tuple[str, ...] = (),
    ) -> Graph:
        """Build a graph from edge arrays; drop self loops, merge repeated edges, count both.

        Parameters
        ----------
        n
            Number of nodes; ids are 0 … n - 1.
        sources, targets
            (e,) integer ids of the end points.
        weights
            (e,) finite weights, optional.
        labels
            (n,) names of the nodes, optional.
        directed
            Keep directions.
        both_directions
            The input lists each undirected edge in both directions by its format (a symmetric
            matrix in full, an adjacency list), so that a reversed pair is no duplicate.

        Raises
        ------
        ConflictingWeightsError
            One edge is given with two different weights.
        """
        id_type = np.int32 if n < 2**31 else np.int64
        u = np.asarray(sources, dtype=np.int64)
        v = np.asarray(targets, dtype=np.int64)
        w = None if weights is None else np.asarray(weights, dtype=np.float64)

        loops = u == v
        looped = np.unique(u[loops])
        self_loops = int(np.count_nonzero(loops))
        position = np.flatnonzero(~loops)
        u, v = u[position], v[position]
        given = len(u)
        if not directed:
            backwards = u > v
            u, v = np.minimum(u, v), np.maximum(u, v)

        # One sort finds both the row order and the repeated edges.
        key = u * np.int64(n) + v if n < 2**31 else None
        order = np.argsort(key, kind="stable") if key is not None else np.lexsort((v, u))
        u, v, position = u[order], v[order], position[order]
        first = np.ones(given, dtype=bool)
        first[1:] = (u[1:] != u[:-1]) | (v[1:] != v[:-1])
        if w is not None:
            w = w[position]
            clash = np.flatnonzero(~first[1:] & (w[1:] != w[:-1])) if given else np.empty(0, int)
            if clash.size:
                i = int(clash[0])
                names = (u[i], v[i]) if labels is None else (labels[u[i]], labels[v[i]])
                raise ConflictingWeightsError(
                    names[0], names[1], w[i], w[i + 1], int(position[i]), int(position[i + 1])
                )
            w = w[first]
        u, v = u[first], v[first]
        duplicates = given - len(u)
        reversed_pairs = 0
        if both_directions and not directed:
            duplicates = max(0, given - 2 * len(u))
        elif duplicates and not directed:
            starts = np.flatnonzero(first)
            back = np.add.reduceat(backwards[order], starts, dtype=np.int64)
            times = np.diff(starts, append=given)
            reversed_pairs = int(np.count_nonzero((back > 0) & (back < times)))

        if not directed:
            u, v = np.concatenate([u, v]), np.concatenate([v, u])
            w = None if w is None else np.concatenate([w, w])
            order = np.argsort(u * np.int64(n) + v) if key is not None else np.lexsort((v, u))
            u, v = u[order], v[order]
            w = None if w is None else w[order]
        row_offsets = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(u, minlength=n), out=row_offsets[1:])
        return Graph(
            row_offsets,
            v.astype(id_type),
            w,
            labels,
            directed,
            looped,
            self_loops,
            duplicates,
            reversed_pairs,
            warnings,
        )

    @staticmethod
    def from_networkx(graph: Any, *, weight: str = "weight") -> Graph:
        """Build a graph from a NetworkX graph; edges without the weight attribute count 1.

        So do nodes: their attribute of the same name gives the weights of nodes. Where it is not a
        positive finite number everywhere, they are left out with a warning.
        """
        nodes = list(graph.nodes)
        index = {node: i for i, node in enumerate(nodes)}
        edges = list(graph.edges(data=weight))
        weights = None
        if any(w is not None for _, _, w in edges):
            weights = [1.0 if w is None else float(w) for _, _, w in edges]
        built = Graph.from_edges(
            len(nodes),
            [index[u] for u, _, _ in edges],
            [index[v] for _, v, _ in edges],
            weights,
            labels=_labels_from(nodes),
            directed=bool(graph.is_directed()),
        )
        return with_attribute_weights(built, graph.nodes(data=weight))

    @staticmethod
    def from_scipy(matrix: Any, node_weights: ArrayLike | None = None) -> Graph:
        """Build a graph from a square SciPy sparse matrix or array.

        A symmetric matrix is an undirected graph, any other a directed one. Weights are kept
        unless all stored values are 1; those of the nodes, (n,), are given apart.
        """
        coo = matrix.tocoo()
        if coo.shape[0] != coo.shape[1]:
            raise SettingsError(f"an adjacency matrix is square, this one is {coo.shape}")
        coo.sum_duplicates()
        values = np.asarray(coo.data, dtype=np.float64)
        if not np.isfinite(values).all():
            raise SettingsError("the adjacency matrix holds values that are not finite")
        # Explicit zeros are how sparse arithmetic leaves removed edges behind.
        kept = values != 0
        rows, columns, values = coo.row[kept], coo.col[kept], values[kept]
        symmetric = abs(matrix - matrix.T).max() == 0 if matrix.nnz else True
        return Graph.from_edges(
            coo.shape[0],
            rows,
            columns,
            None if (values == 1).all() else values,
            directed=not symmetric,
            both_directions=True,
        ).with_node_weights(node_weights)


def with_attribute_weights(
    graph: Graph, nodes: Iterable[tuple[Any, Any]], where: str = ""
) -> Graph:
    """Return a graph with the weights among pairs of a node and its attribute.

    Nodes whose attribute is None weigh 1; where all do, there are no weights. Where one is no
    positive finite number, weights are left out with a warning, as `with_unread_node_weights` does.
    """
    given = [1 if value is None else value for _, value in nodes]
    if all(value == 1 for value in given):
        return graph
    try:
        return graph.with_node_weights([float(value) for value in given])
    except (SettingsError, TypeError, ValueError) as error:
        return graph.with_unread_node_weights(str(error), where)


def _labels_from(nodes: list[Any]) -> Labels | None:
    if nodes == list(range(len(nodes))):
        return None
    if all(isinstance(node, int | np.integer) and not isinstance(node, bool) for node in nodes):
        return np.array(nodes, dtype=np.int64)
    names = np.array([str(node) for node in nodes], dtype=np.str_)
    if len(np.unique(names)) != len(names):
        raise SettingsError("node names must stay distinct when written as text")
    return names
