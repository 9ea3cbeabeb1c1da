"""DIMACS and PACE graphs: ``p edge n m`` and ``e u v``, and the variants without letters."""

from __future__ import annotations

import re

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers import edgelist
from ogg_hpc.graphs.readers.build import add_node_weights, leave_node_weights_out
from ogg_hpc.graphs.readers.headed import is_headed, read_edges, read_header
from ogg_hpc.graphs.readers.node_weights import weights_by_label
from ogg_hpc.graphs.readers.text import Text, is_int64, show

_COMMENT = b"c#%"
_GEOMETRY = b"dvx"  # dimension and norm, places of nodes, parameters of a generator
_EXPECTED = "'e u v' or 'u v'"
_PROBLEM = re.compile(rb"p\s+(?:edges?|col|td|ds)\s")


def is_dimacs(text: Text) -> bool:
    """Whether a text has the letters of the format.

    That is, after lines ``c …``: a problem line; a first or second line ``e u v``; or integers
    if there is a line ``c …`` at all.
    """
    remarked = text.tokens(text.rows[0])[0] == b"c"
    text = text.without(text.starting_with(_COMMENT))
    if not text.rows.size:
        return False
    if _PROBLEM.match(text.line(text.rows[0]).strip()):
        return True
    first, *others = (text.tokens(row) for row in text.rows[:2])
    return any(map(_is_edge, (first, *others))) or (remarked and all(map(is_int64, first)))


def _is_edge(tokens: list[bytes]) -> bool:
    return len(tokens) >= 3 and tokens[0] == b"e" and all(map(is_int64, tokens[1:3]))


def read(text: Text, directed: bool | None) -> Graph:
    """Read a DIMACS graph.

    The header is ``p edge n m`` (or ``col``, ``td``, ``ds``), or ``n m``, or is missing; then
    the file is an edge list. Edges are ``e u v`` or ``u v``, with an optional weight. Ids are
    1 … n; under a bare header ``n m`` they are 0 … n - 1 if id 0 occurs. Lines that start with
    ``c``, ``#`` or ``%`` are comments; lines ``n id weight`` give weights of nodes, and nodes
    without such a line count 1 if others have one. Other lines of ``n``, as those of flow problems,
    are skipped with a warning; lines ``d``, ``v`` and ``x`` of geometric graphs are skipped.
    """
    text = text.without(text.starting_with(_COMMENT + _GEOMETRY))
    of_nodes = text.starting_with(b"n")
    node_lines = text.without(~of_nodes)
    text = text.without(of_nodes)
    edges = text.starting_with(b"e")
    if not text.rows.size:
        raise text.error("holds no data; expected 'p edge n m' and lines 'e u v'")
    first = int(text.rows[0])
    problem = text.lead[first] == ord("p")
    header_before_edges = edges.any() and not edges[first]
    text = text.without_prefix(b"e")
    if problem:
        n, m = _read_problem(text, first)
        graph = read_edges(text, n, m, first, directed, _EXPECTED, zero_based=False)
    elif header_before_edges or (not edges[first] and is_headed(text)):
        n, m, header = read_header(text)
        graph = read_edges(text, n, m, header, directed, _EXPECTED, zero_based=True)
    else:
        graph = edgelist.read(text, directed)
    if not of_nodes.any():
        return graph
    try:
        weights, rows = weights_by_label(node_lines, graph, "n ID WEIGHT")
        return add_node_weights(text.path, graph, weights, rows)
    except InputError as error:
        return leave_node_weights_out(graph, error)


def _read_problem(text: Text, number: int) -> tuple[int, int]:
    """Return n and m of the problem line."""
    tokens = text.tokens(number)
    sizes = tokens[2:]
    if not (
        _PROBLEM.match(text.line(number).strip())
        and len(sizes) == 2
        and all(is_int64(token) and int(token) >= 0 for token in sizes)
    ):
        raise text.error(
            f"expected 'p edge n m' (or col, td, ds), found {show(text.line(number))}", number
        )
    return int(sizes[0]), int(sizes[1])
