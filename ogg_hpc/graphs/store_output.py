"""Writing graphs to one HDF5 file, one graph after the other."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.hdf5_output import hdf5_output
from ogg_hpc.graphs.store_format import (
    CHUNK_BYTES,
    LIBVER,
    Attributes,
    StoreCounts,
    StoreKind,
    checked_attributes,
    create_dataset,
    dataset_types,
    objective_datasets,
    write_header,
)
from ogg_hpc.runtime.files import write_whole


class Objective(NamedTuple):
    """The best objective that is known for a graph.

    Attributes
    ----------
    value : float
        Finite.
    proven : bool
        Whether no solution is better.
    """

    value: float
    proven: bool


class SolvedGraph(NamedTuple):
    """A graph and what is known of the best solutions of problems on it.

    Attributes
    ----------
    graph : Graph
    objectives : mapping of str to Objective
        By the name of the problem; a problem of which nothing is known is left out.
    """

    graph: Graph
    objectives: Mapping[str, Objective]


def write_store(
    path: str | Path,
    graphs: Iterable[Graph | SolvedGraph],
    attributes: Attributes | None = None,
) -> None:
    """Write graphs to one HDF5 file, whole or not at all.

    The graphs are taken one at a time, so they need not fit in memory together. A graph's
    `warnings` are not stored.

    Parameters
    ----------
    path
        The file; an existing one is replaced.
    graphs
        All directed or none, all with weights of edges or none, all with weights of nodes or
        none, and labels of one kind; with or without objectives.
    attributes
        Provenance to be stored with the graphs: generator, seed, source, licence, …

    Raises
    ------
    SettingsError
        Graphs of different kinds, an attribute whose name is taken or whose value is not
        a string, a number or a truth value, or an objective that is not finite.
    """
    attributes = checked_attributes(attributes or {})
    remaining = (_solved(graph) for graph in graphs)
    first = next(remaining, None)
    kind = StoreKind() if first is None else StoreKind.of(first.graph)
    # The dataset has one dtype, which the first graph decides.
    id_type = np.dtype(np.int32) if first is None else first.graph.columns.dtype
    head = [] if first is None else [first]
    with (
        write_whole(path) as temporary,
        hdf5_output(temporary, libver=LIBVER) as (file, check),
    ):
        content = _Content(file, kind, id_type)
        for graph in _checked_after_each(chain(head, remaining), check):
            content.append(graph)
        content.close()
        write_header(file, kind, content.counts, attributes, content.problems)


def _solved(graph: Graph | SolvedGraph) -> SolvedGraph:
    return graph if isinstance(graph, SolvedGraph) else SolvedGraph(graph, {})


def _checked_after_each(
    graphs: Iterable[SolvedGraph], check: Callable[[], None]
) -> Iterator[SolvedGraph]:
    """Yield graphs as long as those before have been written: the rest may take hours to make."""
    for graph in graphs:
        yield graph
        check()


class _Content:
    """The datasets of a file under way.

    Attributes
    ----------
    counts : StoreCounts
        What has been appended.
    """

    def __init__(self, file: h5py.File, kind: StoreKind, id_type: np.dtype[Any]) -> None:
        self._file, self._kind, self._id_type = file, kind, id_type
        types = dataset_types(kind, id_type)
        self._columns = {name: _Column(file, name, dtype) for name, dtype in types.items()}
        for name in types:
            if name.endswith("_offsets") or name.startswith("graph_"):
                self._columns[name].append([0])
        self._objectives: dict[str, tuple[_Column, _Column]] = {}
        self._loops = self._text = 0
        self.counts = StoreCounts(0, 0, 0)

    @property
    def problems(self) -> list[str]:
        """Problems of which objectives have been appended, in the order of their names."""
        return sorted(self._objectives)

    def append(self, solved: SolvedGraph) -> None:
        """Append a graph."""
        graph, columns, (count, nodes, entries) = solved.graph, self._columns, self.counts
        self._refuse_other_kind(graph)
        self._append_objectives(solved.objectives)
        columns["row_offsets"].append(graph.row_offsets[1:] + entries)
        columns["columns"].append(graph.columns)
        if self._kind.weighted:
            columns["weights"].append(graph.weights)
        if self._kind.node_weighted:
            columns["node_weights"].append(graph.node_weights)
        if self._kind.label_kind == "integer":
            columns["labels"].append(graph.labels)
        if self._kind.label_kind == "text":
            assert graph.labels is not None
            encoded = [label.encode() for label in graph.labels.tolist()]
            ends = np.cumsum([len(label) for label in encoded], dtype=np.int64) + self._text
            columns["label_offsets"].append(ends)
            columns["label_bytes"].append(np.frombuffer(b"".join(encoded), np.uint8))
            self._text = int(ends[-1]) if len(ends) else self._text
        self._loops += len(graph.looped)
        columns["looped"].append(graph.looped)
        columns["self_loops"].append([graph.self_loops])
        columns["duplicates"].append([graph.duplicates])
        columns["reversed_pairs"].append([graph.reversed_pairs])
        self.counts = StoreCounts(count + 1, nodes + graph.n, entries + len(graph.columns))
        columns["graph_nodes"].append([self.counts.nodes])
        columns["graph_entries"].append([self.counts.nnz])
        columns["looped_offsets"].append([self._loops])

    def close(self) -> None:
        """Write what is left."""
        for column in self._columns.values():
            column.close()
        for problem in self.problems:
            for column in self._objectives[problem]:
                column.close()

    def _refuse_other_kind(self, graph: Graph) -> None:
        count, kind = self.counts.graphs, StoreKind.of(graph)
        if kind != self._kind:
            raise SettingsError(
                f"graph {count} is {kind}, those before it are {self._kind}; "
                "write different kinds to different stores"
            )
        if graph.columns.dtype.itemsize > self._id_type.itemsize:
            raise SettingsError(f"graph {count} needs 64-bit ids; write it to a store of its own")

    def _append_objectives(self, objectives: Mapping[str, Objective]) -> None:
        count = self.counts.graphs
        for problem, (value, _) in objectives.items():
            if not re.fullmatch("[A-Za-z0-9-]+", problem):
                raise SettingsError(
                    f"{problem!r} names no problem: use letters, digits and hyphens"
                )
            if not math.isfinite(value):
                raise SettingsError(
                    f"graph {count} has objective {value} for {problem!r}; "
                    "leave out the one that is not known"
                )
            if problem not in self._objectives:
                names = objective_datasets(problem)
                types = dataset_types(self._kind, problems=[problem])
                values, flags = (_Column(self._file, name, types[name]) for name in names)
                values.append(np.full(count, np.nan))
                flags.append(np.zeros(count, dtype=bool))
                self._objectives[problem] = values, flags
        for problem, (values, flags) in self._objectives.items():
            value, proven = objectives.get(problem, Objective(np.nan, False))
            values.append([value])
            flags.append([proven])


class _Column:
    """A growing one-dimensional dataset, written in whole chunks.

    A dataset below one chunk is written at the end, in a chunk of just its size.
    """

    def __init__(self, file: h5py.File, name: str, dtype: Any) -> None:
        self.file, self.name, self.dtype = file, name, np.dtype(dtype)
        self.pending: list[NDArray[Any]] = []
        self.pending_length = 0
        self.length = 0

    def append(self, values: Any) -> None:
        values = np.asarray(values, dtype=self.dtype)
        self.pending.append(values)
        self.pending_length += len(values)
        chunk = CHUNK_BYTES // self.dtype.itemsize
        if self.pending_length >= chunk:
            self._write(self.pending_length // chunk * chunk)

    def close(self) -> None:
        if self.pending_length or self.length == 0:
            self._write(self.pending_length)

    def _write(self, count: int) -> None:
        values = np.concatenate([*self.pending, np.empty(0, self.dtype)])
        if self.length == 0:
            dataset = create_dataset(self.file, self.name, self.dtype, count, growing=True)
        else:
            dataset = self.file[self.name]
            dataset.resize((self.length + count,))
        dataset[self.length :] = values[:count]
        self.length += count
        self.pending = [values[count:].copy()]
        self.pending_length -= count
