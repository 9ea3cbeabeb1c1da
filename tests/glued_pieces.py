"""The pieces of a file glued to a graph in plain Python, to be compared with `read_graph`."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.conversion.inputs import Input, Pieces, open_input
from ogg_hpc.graphs.conversion.piece import Piece, WholeFileError, WiderDialectError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.names import Names
from ogg_hpc.graphs.readers.build import build, build_from_matrix, integer_labels, one_based
from ogg_hpc.runtime.communicator import Communicator


def glued(path: Path, size: int, *, directed: bool | None = None, name: str | None = None):
    """Return the graph of the pieces of a file, None where it has to be read as a whole."""
    comm = Communicator()
    source = open_input(comm, path, format=name, directed=directed)
    while source is not None:
        pieces = Pieces(comm, source, size)
        try:
            parts = [numbered[1] for numbered in pieces if numbered is not None]
            warnings = source.judge(pieces.summaries)
        except WiderDialectError as error:
            source = source.wider(error)
        except WholeFileError:
            return None
        else:
            return _glue(source, pieces, parts, warnings, directed)
    return None


def _glue(source: Input, pieces: Pieces, parts: list[Piece], warnings, directed) -> Graph:
    rows = np.concatenate([_rows(part) + pieces.line(i, 0) - 1 for i, part in enumerate(parts)])
    numbers: dict = {}
    ends = np.concatenate([_ends(part, numbers) for part in parts], axis=1).astype(np.int64)
    weights = np.concatenate([part.weights for part in parts]) if source.weighted else None
    if source.labels == "ids":
        n, labels = source.nodes, one_based(source.nodes)
    else:
        text = source.labels == "text"
        names = sorted(numbers, key=str.encode if text else None)
        order = np.empty(len(names), dtype=np.int64)
        order[[numbers[name] for name in names]] = np.arange(len(names))
        n, ends = len(names), order[ends]
        labels = np.array(names, np.str_) if text else integer_labels(np.array(names, np.int64))
    common = {"rows": rows, "labels": labels}
    if source.matrix:
        graph = build_from_matrix(source.path, n, *ends, weights, directed, **common)
        return replace(graph, warnings=warnings)
    common["directed"] = directed is True
    return build(source.path, n, *ends, weights, warnings=warnings, **common)


def _rows(part: Piece):
    return np.arange(len(part.sources)) if part.rows is None else part.rows


def _ends(part: Piece, numbers: dict):
    ends = np.stack([part.sources, part.targets])
    if part.labels is None:
        return ends
    labels = part.labels
    names = labels.to_strings() if isinstance(labels, Names) else labels.tolist()
    assert len(set(names)) == len(names)
    places = [numbers.setdefault(name, len(numbers)) for name in names]
    return np.array(places, dtype=np.int64)[ends]


def check_same(found: Graph, expected: Graph) -> None:
    """Fail unless two graphs are equal in all that a reader gives."""
    for name in ("row_offsets", "columns", "weights", "labels", "looped"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert (ours is None) == (theirs is None), name
        if ours is not None:
            assert ours.dtype.kind == theirs.dtype.kind, name
            np.testing.assert_array_equal(ours, theirs, err_msg=name)
    for name in ("directed", "self_loops", "duplicates", "reversed_pairs", "warnings"):
        assert getattr(found, name) == getattr(expected, name), name


def outcome(read: Callable[[], Graph | None]) -> tuple[Graph | None, InputError | None]:
    """Return the graph that is read, or what is wrong with its file."""
    try:
        return read(), None
    except InputError as error:
        return None, error
