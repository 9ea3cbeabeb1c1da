"""Weights of a graph's nodes from a text file of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers.build import add_node_weights
from ogg_hpc.graphs.readers.files import decode, read_bytes
from ogg_hpc.graphs.readers.text import Text, is_int64, is_number, show


def read_node_weights(path: str | Path, graph: Graph) -> Graph:
    """Return a graph with the weights of its nodes that a file gives.

    Parameters
    ----------
    path
        A text, also compressed, of lines ``label weight``, one for each node in any order; or of
        one weight a line in the order of the nodes. Lines that start with ``#`` or ``%`` are
        comments.
    graph
        The graph; weights that its nodes had are replaced.

    Raises
    ------
    InputError
        A file that cannot be read; a weight that is not positive and finite; a label that is not
        in the graph or is given twice; a node without a weight.
    """
    path = Path(path)
    text = Text(path, decode(path, read_bytes(path)))
    text = text.without(text.starting_with(b"#%"))
    counts = text.counts[text.rows]
    if (counts == 1).all():
        if len(counts) != graph.n:
            raise text.error(
                f"holds {len(counts)} weights, but the graph has {graph.n} nodes; expected one a "
                "line for each node, or lines 'label weight'"
            )
        weights = np.array([_weight(text, row, text.line(row)) for row in text.rows])
        return add_node_weights(path, graph, weights, text.rows)
    weights, lines = weights_by_label(text, graph, "label weight")
    missing = np.flatnonzero(lines < 0)
    if missing.size:
        raise text.error(f"gives no weight for node {graph.labels_of(missing[:1])[0]}")
    return add_node_weights(path, graph, weights, lines)


def weights_by_label(
    text: Text, graph: Graph, expected: str
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Parse all lines of a text as those of one weight each, the last word, of the label before it.

    Parameters
    ----------
    text
        Lines of as many words as `expected`, which says in messages what a line should be.
    graph
        The graph whose labels they are.

    Returns
    -------
    weights : (n,) float64, 1 where there is none
    lines : (n,) int64, the line of each, -1 where there is none

    Raises
    ------
    InputError
        A line that is not as expected, a label that is not in the graph or is given twice, or a
        weight that is no finite number.
    """
    weights, lines = np.ones(graph.n), np.full(graph.n, -1)
    named = graph.labels is not None and graph.labels.dtype.kind == "U"
    for row in text.rows.tolist():
        words = text.tokens(row)
        if len(words) != len(expected.split()):
            raise text.error(f"expected '{expected}', found {show(text.line(row))}", row)
        label, weight = words[-2], _weight(text, row, words[-1])
        try:
            if not named and not is_int64(label):
                raise SettingsError(f"node {show(label)} is not in the graph")
            [node] = graph.ids_of([label.decode() if named else int(label)])
        except SettingsError as error:
            raise text.error(f"{error}; labels are those of the graph's file", row) from None
        if lines[node] >= 0:
            raise text.error(
                f"node {show(label)} has a weight already, on line {lines[node] + 1}", row
            )
        weights[node], lines[node] = weight, row
    return weights, lines


def _weight(text: Text, row: int, word: bytes) -> float:
    if not is_number(word):
        raise text.error(f"weight {show(word.strip())} is not a finite number", row)
    return float(word)
