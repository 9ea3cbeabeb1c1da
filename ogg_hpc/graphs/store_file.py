"""Graphs in one HDF5 file.

A file holds flat arrays with offsets, whatever the number of graphs. With G graphs of N nodes
and nnz stored entries in all:

======================  ===========  =======================================================
dataset                 shape        content
======================  ===========  =======================================================
``graph_nodes``         G + 1        graph g owns nodes ``graph_nodes[g]:graph_nodes[g + 1]``
``graph_entries``       G + 1        and entries ``graph_entries[g]:graph_entries[g + 1]``
``row_offsets``         N + 1        row r is ``columns[row_offsets[r]:row_offsets[r + 1]]``
``columns``             nnz          neighbour ids within the graph, int32 where they fit
``weights``             nnz          float64, only in weighted stores
``node_weights``        N            float64, only in stores with weights of nodes
``labels``              N            int64, only in stores with integer labels
``label_offsets``       N + 1        only in stores with text labels: label r is the UTF-8 of
``label_bytes``         bytes        ``label_bytes[label_offsets[r]:label_offsets[r + 1]]``
``looped_offsets``      G + 1        graph g had self loops at the nodes
``looped``              loops        ``looped[looped_offsets[g]:looped_offsets[g + 1]]``
``self_loops``          G            entries dropped as self loops
``duplicates``          G            entries merged as repeated edges
======================  ===========  =======================================================

Every chunk carries a checksum, and so does the metadata of the file (HDF5 1.10 layout).
Finished files never change, so that readers need no locks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.graph import Graph, Labels
from ogg_hpc.graphs.hdf5_output import hdf5_output
from ogg_hpc.runtime.files import write_whole

FORMAT = "ogg-hpc-graphs"
VERSION = 1

_CHUNK_BYTES = 1 << 20
_SCHEMA = "CSR: graph_nodes, graph_entries -> row_offsets -> columns [weights, labels]"
_COUNTS = ("graphs", "nodes", "nnz")
_KIND = ("directed", "weighted", "node_weighted", "label_kind")
_RESERVED = ("format", "version", "schema", *_COUNTS, *_KIND, "checksum")

Attributes = Mapping[str, str | int | float | bool]
_Kind = tuple[bool, bool, bool, str]


def write_store(
    path: str | Path, graphs: Iterable[Graph], attributes: Attributes | None = None
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
        none, and labels of one kind.
    attributes
        Provenance to be stored with the graphs: generator, seed, source, licence, …

    Raises
    ------
    SettingsError
        Graphs of different kinds, or an attribute whose name is taken or whose value is not
        a string, a number or a truth value.
    """
    attributes = _checked(attributes or {})
    remaining = iter(graphs)
    first = next(remaining, None)
    kind = _kind_of(first) if first is not None else (False, False, False, "none")
    # The dataset has one dtype, which the first graph decides.
    wide = first is not None and first.columns.dtype.itemsize > 4
    head = [] if first is None else [first]
    with write_whole(path) as temporary:
        libver = ("v110", "v110")  # the oldest layout whose metadata carries checksums
        with hdf5_output(temporary, libver=libver) as (file, check):
            totals = _write_graphs(
                file, _checked_after_each(chain(head, remaining), check), kind, wide
            )
            header = {
                "format": FORMAT,
                "version": VERSION,
                "schema": _SCHEMA,
                **dict(zip(_COUNTS, totals, strict=True)),
                **dict(zip(_KIND, kind, strict=True)),
                **attributes,
            }
            # HDF5 keeps checksums of its own metadata, but not of the values of attributes.
            for name, value in {**header, "checksum": checksum_of(header)}.items():
                # Of fixed length: others lie in a heap without checksums, and HDF5 reads some
                # damaged heaps for ever.
                if isinstance(value, str):
                    text = value.encode()
                    kind_of_text = h5py.string_dtype("utf-8", max(1, len(text)))
                    file.attrs.create(name, text, dtype=kind_of_text)
                else:
                    file.attrs[name] = value


def _checked_after_each(graphs: Iterable[Graph], check: Callable[[], None]) -> Iterator[Graph]:
    """Yield graphs as long as those before have been written: the rest may take hours to make."""
    for graph in graphs:
        yield graph
        check()


def _write_graphs(
    file: h5py.File, graphs: Iterable[Graph], kind: _Kind, wide: bool
) -> tuple[int, int, int]:
    _, weighted, node_weighted, label_kind = kind
    types = dataset_types(weighted, node_weighted, label_kind, np.int64 if wide else np.int32)
    out = {name: _Column(file, name, dtype) for name, dtype in types.items()}
    for name in types:
        if name.endswith("_offsets") or name.startswith("graph_"):
            out[name].append([0])

    count = nodes = entries = loops = text = 0
    for graph in graphs:
        if _kind_of(graph) != kind:
            raise SettingsError(
                f"graph {count} is {_kind_text(_kind_of(graph))}, those before it are "
                f"{_kind_text(kind)}; write different kinds to different stores"
            )
        if graph.columns.dtype.itemsize > 4 and not wide:
            raise SettingsError(f"graph {count} needs 64-bit ids; write it to a store of its own")
        out["row_offsets"].append(graph.row_offsets[1:] + entries)
        out["columns"].append(graph.columns)
        if weighted:
            out["weights"].append(graph.weights)
        if node_weighted:
            out["node_weights"].append(graph.node_weights)
        if label_kind == "integer":
            out["labels"].append(graph.labels)
        if label_kind == "text":
            assert graph.labels is not None
            encoded = [label.encode() for label in graph.labels.tolist()]
            ends = np.cumsum([len(label) for label in encoded], dtype=np.int64) + text
            out["label_offsets"].append(ends)
            out["label_bytes"].append(np.frombuffer(b"".join(encoded), np.uint8))
            text = int(ends[-1]) if len(ends) else text
        out["looped"].append(graph.looped)
        out["self_loops"].append([graph.self_loops])
        out["duplicates"].append([graph.duplicates])
        count += 1
        nodes += graph.n
        entries += len(graph.columns)
        loops += len(graph.looped)
        out["graph_nodes"].append([nodes])
        out["graph_entries"].append([entries])
        out["looped_offsets"].append([loops])
    for column in out.values():
        column.close()
    return count, nodes, entries


def dataset_types(
    weighted: bool, node_weighted: bool, label_kind: str, id_type: Any = np.int32
) -> dict[str, Any]:
    """Return the dtype of each dataset that a file of this kind holds, by name."""
    integers = ["graph_nodes", "graph_entries", "row_offsets", "looped_offsets", "looped"]
    integers += ["self_loops", "duplicates"]
    types: dict[str, Any] = dict.fromkeys(integers, np.int64) | {"columns": id_type}
    if weighted:
        types["weights"] = np.float64
    if node_weighted:
        types["node_weights"] = np.float64
    if label_kind == "integer":
        types["labels"] = np.int64
    if label_kind == "text":
        types |= {"label_offsets": np.int64, "label_bytes": np.uint8}
    return types


class StoreFile:
    """One open HDF5 file of graphs.

    Raises
    ------
    InputError
        A missing, truncated, damaged or foreign file, or an unknown format version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._datasets: dict[str, h5py.Dataset] = {}
        try:
            # A finished file is never written again, and locks fail on some file systems.
            self.file = h5py.File(path, "r", locking=False, rdcc_nbytes=8 * _CHUNK_BYTES)
        except FileNotFoundError:
            raise InputError(path, "no such file") from None
        except OSError as error:
            if "unable to lock file" in str(error):  # the variable has been set, and counts more
                message = "is locked; finished stores need no locks: HDF5_USE_FILE_LOCKING=FALSE"
            else:
                message = f"is no intact HDF5 file ({error})"
            raise InputError(path, message) from error
        try:
            self._open()
        except BaseException:
            self.file.close()
            raise

    def _open(self) -> None:
        try:
            stored = {name: _plain(value) for name, value in self.file.attrs.items()}
        except (OSError, RuntimeError, KeyError, ValueError) as error:
            raise InputError(self.path, f"its attributes are damaged ({error})") from error
        if stored.get("format") != FORMAT:
            raise InputError(self.path, f"is an HDF5 file but no graph store of format {FORMAT!r}")
        refuse_other_version(self.path, stored.get("version"))
        if stored.pop("checksum", None) != checksum_of(stored):
            raise InputError(self.path, "its attributes are damaged or were edited")
        try:
            self.graphs, self.total_nodes, self.total_nnz = (int(stored[name]) for name in _COUNTS)
            self.directed = bool(stored["directed"])
            self.weighted = bool(stored["weighted"])
            # Files from before there were weights of nodes do not say.
            self.node_weighted = bool(stored.get("node_weighted", False))
            self.label_kind = str(stored["label_kind"])
        except KeyError as error:
            raise InputError(self.path, f"lacks the attribute {error}") from error
        self.attributes = {k: value for k, value in stored.items() if k not in _RESERVED}

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    @cached_property
    def graph_nodes(self) -> NDArray[np.int64]:
        """(graphs + 1,) int64: where each graph's nodes begin."""
        return self.array("graph_nodes")

    @cached_property
    def graph_entries(self) -> NDArray[np.int64]:
        """(graphs + 1,) int64: where each graph's entries begin."""
        return self.array("graph_entries")

    def dataset(self, name: str) -> h5py.Dataset:
        """Return a dataset of the file."""
        try:
            # HDF5 caches chunks for as long as their dataset is open.
            if name not in self._datasets:
                self._datasets[name] = self.file[name]
            return self._datasets[name]
        except (KeyError, RuntimeError) as error:
            raise InputError(self.path, f"dataset {name!r} is missing or damaged") from error

    def array(self, name: str, lo: int = 0, hi: int | None = None) -> NDArray[Any]:
        """Read one range of one dataset; a fault names the dataset and the chunk."""
        dataset = self.dataset(name)
        hi = len(dataset) if hi is None else int(hi)
        lo = int(lo)
        if lo == hi:
            return np.empty(0, dataset.dtype)
        try:
            return np.asarray(dataset[lo:hi])
        except OSError as error:
            for chunk in bad_chunks(dataset, lo, hi):
                raise InputError(self.path, chunk_message(name, dataset, chunk)) from error
            raise InputError(self.path, f"dataset {name!r}: {error}") from error

    def degrees(self, local: int) -> NDArray[np.int64]:
        """Return the degrees of the file's graph number `local`."""
        start, stop = self.graph_nodes[local : local + 2]
        return np.diff(self.array("row_offsets", start, stop + 1))

    def node_weights(self, local: int) -> NDArray[np.float64] | None:
        """Return the weights of the nodes of the file's graph number `local`, None without."""
        if not self.node_weighted:
            return None
        return self.array("node_weights", *self.graph_nodes[local : local + 2])

    def read_rows(
        self, local: int, lo: int, hi: int
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.float64] | None]:
        """Return rows lo … hi - 1 of a graph, as `GraphStore.read_rows` does."""
        start = self.graph_nodes[local]
        absolute = self.array("row_offsets", start + lo, start + hi + 1)
        first, last = absolute[0], absolute[-1]
        columns = self.array("columns", first, last)
        weights = self.array("weights", first, last) if self.weighted else None
        return absolute - first, columns, weights

    def read(self, local: int) -> Graph:
        """Return a graph."""
        start, stop = self.graph_nodes[local : local + 2]
        row_offsets, columns, weights = self.read_rows(local, 0, stop - start)
        loops = self.array("looped_offsets", local, local + 2)
        return Graph(
            row_offsets,
            columns,
            weights,
            self._labels(start, stop),
            self.directed,
            self.array("looped", *loops),
            int(self.array("self_loops", local, local + 1)[0]),
            int(self.array("duplicates", local, local + 1)[0]),
            node_weights=self.node_weights(local),
        )

    def _labels(self, start: int, stop: int) -> Labels | None:
        if self.label_kind == "integer":
            return self.array("labels", start, stop)
        if self.label_kind == "text":
            ends = self.array("label_offsets", start, stop + 1)
            text = self.array("label_bytes", ends[0], ends[-1]).tobytes()
            ends = (ends - ends[0]).tolist()
            try:
                names = [text[a:b].decode() for a, b in pairwise(ends)]
            except UnicodeDecodeError as error:
                raise InputError(self.path, f"a label is not UTF-8 ({error})") from error
            return np.array(names, dtype=np.str_)
        return None


def _plain(value: Any) -> Any:
    """Return the value of an attribute as Python's own kind; files from before have strings."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain.decode() if isinstance(plain, bytes) else plain


def checksum_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a mapping, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def refuse_other_version(path: Path, version: Any) -> None:
    """Raise an InputError unless the version is the one that this module reads."""
    if version != VERSION:
        raise InputError(
            path,
            f"has format version {version}, this program reads version {VERSION}; "
            "a newer ogg-hpc may read it",
        )


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
        chunk = _CHUNK_BYTES // self.dtype.itemsize
        if self.pending_length >= chunk:
            self._write(self.pending_length // chunk * chunk, chunk)

    def close(self) -> None:
        if self.pending_length or self.length == 0:
            self._write(self.pending_length, max(1, self.pending_length))

    def _write(self, count: int, chunk: int) -> None:
        values = np.concatenate([*self.pending, np.empty(0, self.dtype)])
        if self.length == 0:
            self.file.create_dataset(
                self.name,
                shape=(0,),
                maxshape=(None,),
                dtype=self.dtype,
                chunks=(chunk,),
                shuffle=True,
                compression="gzip",
                compression_opts=1,
                fletcher32=True,
            )
        self.file[self.name].resize((self.length + count,))
        self.file[self.name][self.length :] = values[:count]
        self.length += count
        self.pending = [values[count:].copy()]
        self.pending_length -= count


def bad_chunks(dataset: h5py.Dataset, lo: int, hi: int) -> Iterator[int]:
    """Yield the chunks among those of entries lo … hi - 1 that cannot be read."""
    size = dataset.chunks[0]
    for chunk in range(lo // size, -(-hi // size)):
        try:
            dataset[chunk * size : min((chunk + 1) * size, len(dataset))]
        except OSError:
            yield chunk


def chunk_message(name: str, dataset: h5py.Dataset, chunk: int) -> str:
    """Return what to tell the user of a damaged chunk."""
    size = dataset.chunks[0]
    first, last = chunk * size, min((chunk + 1) * size, len(dataset)) - 1
    return (
        f"dataset {name!r}, chunk {chunk} (entries {first} to {last}) fails its checksum; "
        "the file is damaged, get or make it again"
    )


def _checked(attributes: Attributes) -> Attributes:
    plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in attributes.items()}
    for name, value in plain.items():
        if name in _RESERVED:
            raise SettingsError(f"the attribute name {name!r} is taken by the format")
        if not isinstance(value, str | int | float | bool):
            raise SettingsError(f"attribute {name!r} must be a string or a number, not {value!r}")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise SettingsError(f"attribute {name!r} must fit in 64 bits, {value} does not")
    return plain


def _kind_of(graph: Graph) -> _Kind:
    if graph.labels is None:
        labels = "none"
    else:
        labels = "integer" if np.issubdtype(graph.labels.dtype, np.integer) else "text"
    return graph.directed, graph.weights is not None, graph.node_weights is not None, labels


def _kind_text(kind: _Kind) -> str:
    directed, weighted, node_weighted, labels = kind
    return (
        f"{'directed' if directed else 'undirected'}, "
        f"{'weighted' if weighted else 'unweighted'}, "
        f"{'with' if node_weighted else 'without'} weights of nodes, with {labels} labels"
    ).replace("none labels", "no labels")
