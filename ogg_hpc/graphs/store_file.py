"""Reading graphs from one HDF5 file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.graph import Graph, Labels
from ogg_hpc.graphs.hdf5_attributes import check_attributes, open_hdf5, read_attributes
from ogg_hpc.graphs.store_format import (
    CHUNK_BYTES,
    FORMAT,
    StoreCounts,
    StoreKind,
    dataset_types,
    objective_datasets,
    provenance_of,
    refuse_other_version,
)

# Nodes whose degrees are held at a time.
_NODES = 1 << 20


class Dropped(NamedTuple):
    """What a graph was given and does not hold, as `Graph` has it."""

    self_loops: int
    duplicates: int
    reversed_pairs: int = 0


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
        self.file = open_hdf5(path, rdcc_nbytes=8 * CHUNK_BYTES)
        try:
            self._open()
        except BaseException:
            self.file.close()
            raise

    def _open(self) -> None:
        stored = read_attributes(self.file, self.path)
        if stored.get("format") != FORMAT:
            raise InputError(self.path, f"is an HDF5 file but no graph store of format {FORMAT!r}")
        refuse_other_version(self.path, stored.get("version"))
        stored = check_attributes(stored, self.path)
        self.version = int(stored["version"])
        try:
            self.counts = StoreCounts(*(int(stored[name]) for name in StoreCounts._fields))
            self.kind = StoreKind(
                bool(stored["directed"]),
                bool(stored["weighted"]),
                # Files from before there were weights of nodes do not say.
                bool(stored.get("node_weighted", False)),
                str(stored["label_kind"]),
            )
        except KeyError as error:
            raise InputError(self.path, f"lacks the attribute {error}") from error
        names = str(stored.get("problems", ""))  # nor do those from before there were objectives
        self.problems = tuple(names.split(",")) if names else ()
        self.attributes = provenance_of(stored)

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    @property
    def types(self) -> dict[str, Any]:
        """The dtype of each dataset that the file should hold, by name; of `columns`, the least."""
        return dataset_types(self.kind, problems=self.problems, version=self.version)

    def nodes_of(self, local: int) -> tuple[int, int]:
        """Return where the nodes of the file's graph number `local` begin and end."""
        start, stop = self.array("graph_nodes", local, local + 2).tolist()
        return start, stop

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

    def degree_blocks(self, local: int) -> Iterator[NDArray[np.int64]]:
        """Yield the degrees of the file's graph number `local`, those of some nodes at a time."""
        start, stop = self.nodes_of(local)
        for first in range(start, stop, _NODES):
            last = min(first + _NODES, stop)
            yield np.diff(self.array("row_offsets", first, last + 1))

    def dropped(self, local: int) -> Dropped:
        """Return what the file's graph number `local` was given and does not hold."""
        # Files of version 1 do not say how many pairs were reversed.
        names = [name for name in Dropped._fields if name in self.types]
        return Dropped(*(int(self.array(name, local, local + 1)[0]) for name in names))

    def node_weights(self, local: int) -> NDArray[np.float64] | None:
        """Return the weights of the nodes of the file's graph number `local`, None without."""
        if not self.kind.node_weighted:
            return None
        return self.array("node_weights", *self.nodes_of(local))

    def labels(self, local: int) -> Labels | None:
        """Return the labels of the file's graph number `local`, as `Graph` has them."""
        return self._labels(*self.nodes_of(local))

    def objectives(self, problem: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the objectives of a problem on all graphs, as `GraphStore.objectives` does."""
        if problem not in self.problems:
            return np.full(self.counts.graphs, np.nan), np.zeros(self.counts.graphs, dtype=bool)
        values, proven = objective_datasets(problem)
        return self.array(values), self.array(proven)

    def read_rows(
        self, local: int, lo: int, hi: int
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.float64] | None]:
        """Return rows lo … hi - 1 of a graph, as `GraphStore.read_rows` does."""
        start, stop = self.nodes_of(local)
        if not 0 <= lo <= hi <= stop - start:
            raise SettingsError(f"rows {lo} to {hi} are not within a graph of {stop - start} nodes")
        return self._rows(start + lo, start + hi)

    def _rows(
        self, start: int, stop: int
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.float64] | None]:
        """Return rows start … stop - 1 of the file."""
        absolute = self.array("row_offsets", start, stop + 1)
        first, last = absolute[0], absolute[-1]
        columns = self.array("columns", first, last)
        weights = self.array("weights", first, last) if self.kind.weighted else None
        return absolute - first, columns, weights

    def read(self, local: int) -> Graph:
        """Return a graph."""
        start, stop = self.nodes_of(local)
        row_offsets, columns, weights = self._rows(start, stop)
        loops = self.array("looped_offsets", local, local + 2)
        return Graph(
            row_offsets,
            columns,
            weights,
            self._labels(start, stop),
            self.kind.directed,
            self.array("looped", *loops),
            *self.dropped(local),
            node_weights=self.node_weights(local),
        )

    def _labels(self, start: int, stop: int) -> Labels | None:
        if self.kind.label_kind == "integer":
            return self.array("labels", start, stop)
        if self.kind.label_kind == "text":
            ends = self.array("label_offsets", start, stop + 1)
            text = self.array("label_bytes", ends[0], ends[-1]).tobytes()
            ends = (ends - ends[0]).tolist()
            try:
                names = [text[a:b].decode() for a, b in pairwise(ends)]
            except UnicodeDecodeError as error:
                raise InputError(self.path, f"a label is not UTF-8 ({error})") from error
            return np.array(names, dtype=np.str_)
        return None


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
