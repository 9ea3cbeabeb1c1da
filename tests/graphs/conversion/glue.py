"""A graph glued together from pieces, the plain way."""

from pathlib import Path

import numpy as np

from ogg_hpc.graphs.conversion.inputs import Pieces, open_input
from ogg_hpc.graphs.conversion.piece import WholeFileError, WiderDialectError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.names import Names
from ogg_hpc.graphs.readers.build import build, build_from_matrix, labels_from, one_based
from ogg_hpc.runtime.communicator import Communicator


def glued(path: Path, size: int, directed=None, name=None) -> Graph | None:
    """Return the graph that the pieces of a file give, None where they cannot tell."""
    comm = Communicator()
    source = open_input(comm, path, directed=directed, format=name)
    while source is not None:
        pieces = Pieces(comm, source, size)
        try:
            parts = [numbered[1] for numbered in pieces if numbered is not None]
            warnings = source.judge(pieces.summaries)
            return _built(source, pieces, parts, warnings, directed)
        except WiderDialectError as error:
            source = source.wider(error)
        except WholeFileError:
            return None
    return None


def _built(source, pieces, parts, warnings, directed):
    def number_of_rows(part, i):
        return np.arange(len(part.sources)) if part.rows is None else part.rows

    rows = [pieces.line(i, 0) - 1 + number_of_rows(part, i) for i, part in enumerate(parts)]
    ends = []
    numbers: dict = {}
    for part in parts:
        if part.labels is None:
            ends.append((part.sources, part.targets))
            continue
        names = part.labels.to_strings() if isinstance(part.labels, Names) else part.labels.tolist()
        assert len(set(names)) == len(names)
        places = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=int)
        ends.append((places[part.sources], places[part.targets]))
    labels = n = None
    u, v = (np.concatenate([end[i] for end in ends]).astype(np.int64) for i in (0, 1))
    if source.labels == "ids":
        n, labels = source.nodes, one_based(source.nodes)
    else:
        key = (lambda name: name.encode()) if source.labels == "text" else None
        names = sorted(numbers, key=key)
        rank = np.empty(len(names), dtype=np.int64)
        rank[[numbers[name] for name in names]] = np.arange(len(names))
        n, u, v = len(names), rank[u], rank[v]
        labels = labels_from(list(map(str, names)))
    weights = np.concatenate([part.weights for part in parts]) if source.weighted else None
    if source.matrix:
        graph = build_from_matrix(
            source.path, n, u, v, weights, directed, rows=np.concatenate(rows), labels=labels
        )
        from dataclasses import replace

        return replace(graph, warnings=warnings)
    return build(
        source.path,
        n,
        u,
        v,
        weights,
        rows=np.concatenate(rows),
        labels=labels,
        directed=directed is True,
        warnings=warnings,
    )


def same(a: Graph, b: Graph) -> None:
    for name in ("row_offsets", "columns", "weights", "labels", "looped"):
        left, right = getattr(a, name), getattr(b, name)
        assert (left is None) == (right is None), name
        if left is not None:
            assert left.dtype == right.dtype, name
            np.testing.assert_array_equal(left, right)
    for name in ("directed", "self_loops", "duplicates", "warnings"):
        assert getattr(a, name) == getattr(b, name), name
