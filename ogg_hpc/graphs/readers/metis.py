"""METIS adjacency files: a header ``n m [fmt [ncon]]`` and one line of neighbours a node."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers.build import (
    add_node_weights,
    build,
    is_symmetric,
    leave_node_weights_out,
    one_based,
)
from ogg_hpc.graphs.readers.text import Text, first_bad, integers, is_int64, show


class Header(NamedTuple):
    """The first line: nodes, edges, and what stands on a line beside the neighbours.

    First the node's size and its weights, if any; then each neighbour, with a weight or without.
    """

    n: int
    m: int
    sizes: int
    node_weights: int
    weighted: bool

    @property
    def before(self) -> int:
        """How many numbers stand before the neighbours."""
        return self.sizes + self.node_weights


def read_header(text: Text) -> Header | None:
    """Return what the first line that is no comment says, None if it is no METIS header."""
    text = text.without(text.starting_with(b"%"))
    tokens = text.tokens(text.rows[0]) if text.rows.size else []
    if not 2 <= len(tokens) <= 4 or not all(is_int64(t) and int(t) >= 0 for t in tokens):
        return None
    flags = tokens[2].decode().zfill(3) if len(tokens) > 2 else "000"
    if len(flags) > 3 or set(flags) - {"0", "1"}:
        return None
    constraints = int(tokens[3]) if len(tokens) == 4 else 0
    constraints = constraints or int(flags[1])  # METIS takes 0 of them as one, too
    return Header(int(tokens[0]), int(tokens[1]), int(flags[0]), constraints, flags[2] == "1")


def sizes_agree(text: Text) -> bool:
    """Whether header, number of lines and number of tokens agree."""
    header = read_header(text)
    if header is None:
        return False
    lines = _adjacency_lines(text)
    filled = np.flatnonzero(text.counts[lines])
    used = int(filled[-1]) + 1 if filled.size else 0
    return sizes_fit(header, used, len(lines), int(text.counts[lines].sum()))


def sizes_fit(header: Header, used: int, lines: int, tokens: int) -> bool:
    """Whether a header agrees with what follows.

    Parameters
    ----------
    header
        The header.
    used, lines, tokens
        Lines up to the last one that is not blank, all lines and all tokens after the header.
    """
    neighbours = tokens - header.before * header.n
    return used <= header.n <= lines + 1 and neighbours == header.m * (2 + 2 * header.weighted)


def read(text: Text, directed: bool | None) -> Graph:
    """Read a METIS graph; labels are 1 … n, a node without edges is a blank line.

    ``fmt`` is up to three digits: sizes of nodes, weights of nodes (``ncon`` of them), weights of
    edges. Sizes are skipped with a warning; so are weights of nodes where they are several or one
    is 0, both of which the format allows. Lines that start with ``%`` are comments. `directed`
    makes no difference: the format is undirected.
    """
    header = read_header(text)
    if header is None:
        number = int(text.rows[0]) if text.rows.size else None
        raise text.error("expected a METIS header 'n m [fmt [ncon]]'", number)
    lines = _adjacency_lines(text)
    n = header.n
    # A last node without edges may share its line with the end of the file.
    fewest = n if header.before else n - 1
    if len(lines) < fewest or (text.counts[lines[n:]] > 0).any():
        filled = int(np.count_nonzero(text.counts[lines]))
        raise text.error(
            f"expected {n} adjacency lines after the header, found {len(lines)}, of which "
            f"{filled} are filled; a node without edges is a blank line, also at the end"
        )
    lines = lines[:n]
    counts = text.counts[lines]
    values = _read_integers(text, lines, int(counts.sum()))
    stride = 2 if header.weighted else 1
    damaged = (counts < header.before) | ((counts - header.before) % stride != 0)
    if damaged.any():
        i = int(damaged.argmax())
        wanted = ["the node's size"] * header.sizes + ["the node's weight"] * header.node_weights
        wanted.append("pairs 'neighbour weight'" if header.weighted else "neighbours")
        raise text.error(f"expected {' and '.join(wanted)}, found {counts[i]} numbers", lines[i])

    node = np.repeat(np.arange(len(lines)), counts)
    column = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    column -= header.before
    at = np.flatnonzero((column >= 0) & (column % stride == 0))
    u, v = node[at], values[at] - 1
    weights = values[at + 1].astype(np.float64) if header.weighted else None
    outside = (v < 0) | (v >= n)
    if outside.any():
        i = int(outside.argmax())
        raise text.error(f"neighbour {v[i] + 1} is outside 1 … {n}", lines[u[i]])
    graph = _build(text, header, u, v, weights, lines[u])
    if not header.node_weights:
        return graph
    try:
        if header.node_weights > 1:
            raise text.error(f"{header.node_weights} weights of each node; one can be read")
        node_weights = values[column == -1].astype(np.float64)
        return add_node_weights(text.path, graph, node_weights, lines)
    except InputError as error:
        return leave_node_weights_out(graph, error)


def _build(
    text: Text,
    header: Header,
    u: NDArray[np.int64],
    v: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
    rows: NDArray[np.int64],
) -> Graph:
    warnings = ("sizes of nodes are not read",) if header.sizes else ()
    labels = one_based(header.n)
    graph = build(
        text.path,
        header.n,
        u,
        v,
        weights,
        rows=rows,
        labels=labels,
        directed=True,
        warnings=warnings,
    )
    if not is_symmetric(graph):
        key = graph.rows.astype(np.int64) * header.n + graph.columns
        reverse = graph.columns.astype(np.int64) * header.n + graph.rows
        # Where both directions are there, their weights differ.
        lone = np.flatnonzero(~np.isin(key, reverse))
        if not lone.size:
            build(text.path, header.n, u, v, weights, rows=rows, labels=labels)
        i = int(lone[0])
        a, b = int(graph.rows[i]), int(graph.columns[i])
        raise text.error(
            f"node {a + 1} lists {b + 1}, but {b + 1} does not list {a + 1}",
            int(rows[(u == a) & (v == b)][0]),
        )
    graph = replace(graph, directed=False)
    # Some writers count a self loop as an edge, and list it once.
    if header.m not in (graph.m, len(u) // 2, graph.m + graph.self_loops):
        raise text.error(
            f"the header declares {header.m} edges, the lines list {graph.m}; the file may be "
            "cut off, or be of another format (--format)"
        )
    return graph


def _adjacency_lines(text: Text) -> NDArray[np.int64]:
    """Return the numbers of the lines after the header that are no comments."""
    comments = text.starting_with(b"%")
    header = np.flatnonzero((text.counts > 0) & ~comments)[0]
    lines = np.arange(header + 1, len(text.counts))
    return lines[~comments[header + 1 :]]


def _read_integers(text: Text, lines: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    if not count:
        return np.empty(0, np.int64)
    body = text.without(text.starting_with(b"%"))
    values = integers(body.buffer[text.line_starts[lines[0]] :].tobytes(), count)
    if values is None:
        number, token = first_bad(text, lines, slice(None), is_int64)
        raise text.error(f"expected integers, found {show(token)}", number)
    return values
