"""Graphs on disk: files of one or many graphs, and folders of such files (shards).

A folder has a ``manifest.json`` with the size and SHA-256 of each shard, written last.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.graph import Graph, Labels
from ogg_hpc.graphs.hdf5_attributes import checksum_of
from ogg_hpc.graphs.store_file import Dropped, StoreFile
from ogg_hpc.graphs.store_format import (
    VERSION,
    Attributes,
    StoreCounts,
    StoreKind,
    refuse_other_version,
)
from ogg_hpc.graphs.store_output import Objective, SolvedGraph, write_store
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.files import remove_leftovers, sha256_of_file, write_whole
from ogg_hpc.runtime.parts import Parts

__all__ = [
    "GraphStore",
    "Objective",
    "Shard",
    "SolvedGraph",
    "check_store",
    "read_store_graph",
    "write_shards",
    "write_store",
]

MANIFEST_FORMAT = "ogg-hpc-graph-shards"
MANIFEST = "manifest.json"
# Shards that a store has open: each keeps what it has read last, and there may be thousands.
_MOST_OPEN = 4


@dataclass(frozen=True)
class Shard:
    """One file of a folder of shards, as the manifest states it."""

    name: str
    sha256: str
    bytes: int
    graphs: int
    nodes: int
    nnz: int


class Graphs(Protocol):
    """A sequence of graphs, which may make each when it is asked for."""

    def __len__(self) -> int:
        """Return the number of graphs."""

    def __getitem__(self, index: int, /) -> Graph | SolvedGraph:
        """Return one graph, zero-based."""


def write_shards(
    folder: str | Path,
    graphs: Graphs,
    graphs_per_shard: int,
    attributes: Attributes | None = None,
    *,
    comm: Communicator | None = None,
    plan: Mapping[str, Any] | None = None,
) -> list[Shard]:
    """Write graphs to a folder of HDF5 files and, when all are complete, its manifest (collective).

    Each shard is written by one rank; its bytes do not depend on their number.

    Parameters
    ----------
    folder
        Created when missing. Must not hold a finished set of shards.
    graphs
        As for `write_store`; a rank asks only for those of its shards.
    graphs_per_shard
        Graphs in each file but the last.
    attributes
        As for `write_store`; stored in each file and in the manifest.
    comm
        The ranks; by default this one alone.
    plan
        What the graphs are, as JSON. A call with the same plan keeps the shards that an interrupted
        one has finished; without a plan all are written.

    Returns
    -------
    list of Shard
        All of them, on every rank.

    Raises
    ------
    SettingsError
        As `write_store` does, or a folder that holds a manifest.
    """
    comm = comm if comm is not None else Communicator()
    folder = Path(folder)
    if graphs_per_shard < 1:
        raise SettingsError(f"a shard holds at least one graph, not {graphs_per_shard}").shared()
    comm.on_root(lambda: _refuse_finished(folder))
    parts = None
    if plan is not None:
        whole = {"graphs": len(graphs), "graphs_per_shard": graphs_per_shard, **plan}
        parts = Parts.open(comm, folder.absolute(), whole)

    def make(number: int) -> Shard:
        path = folder / f"shard-{number:05d}.h5"
        finished = None if parts is None else _finished(parts, path)
        if finished is not None:
            return finished
        first = number * graphs_per_shard
        range_ = range(first, min(first + graphs_per_shard, len(graphs)))
        write_store(path, (graphs[index] for index in range_), attributes)
        with GraphStore(path) as store:
            counts = len(store), int(store.nodes.sum()), int(store.nnz.sum())
        shard = Shard(path.name, sha256_of_file(path), path.stat().st_size, *counts)
        if parts is not None:
            parts.write(path.stem, shard=np.array(json.dumps(asdict(shard))))
        return shard

    count = max(1, -(-len(graphs) // graphs_per_shard))
    shards: list[Shard] = []
    for start in range(0, count, comm.size):  # in rounds, so that an error ends all ranks soon
        mine = range(start + comm.rank, min(start + comm.rank + 1, count))
        made = comm.on_all(lambda mine=mine: [make(number) for number in mine])  # type: ignore[misc]
        shards += [shard for of_rank in comm.gather_objects(made) for shard in of_rank]
    comm.on_root(lambda: _write_manifest(folder, shards, attributes or {}))
    if parts is not None:
        parts.remove(comm)
    return shards


def _refuse_finished(folder: Path) -> None:
    if (folder / MANIFEST).exists():
        raise SettingsError(f"{folder} already holds graphs; choose another folder or delete it")
    remove_leftovers(folder)


def _finished(parts: Parts, path: Path) -> Shard | None:
    """Return what an interrupted call has noted of a shard, if it is still there."""
    if not parts.has(path.stem):
        return None
    shard = Shard(**json.loads(str(parts.read(path.stem)["shard"])))
    return shard if path.is_file() and path.stat().st_size == shard.bytes else None


class GraphStore:
    """Graphs in an HDF5 file or a folder of shards, read on demand.

    Use as a context manager. ``len(store)`` is the number of graphs.

    Parameters
    ----------
    path
        A file of `write_store` or a folder of `write_shards`.

    Attributes
    ----------
    path : Path
    version : int
        Of the format.
    attributes : dict
        What was given to `write_store` or `write_shards`.
    directed : bool

    Raises
    ------
    InputError
        A missing, truncated, damaged or foreign file, or an unknown format version.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            manifest = self.path / MANIFEST
            if not manifest.exists():
                raise InputError(
                    self.path, f"has no {MANIFEST}: not a folder of shards, or one cut short"
                )
            self.version, self.shards, self.attributes = _read_manifest(manifest)
            for shard in self.shards:
                _check_size(self.path / shard.name, shard.bytes)
            counts = [shard.graphs for shard in self.shards]
            self._open: OrderedDict[int, StoreFile] = OrderedDict()
        else:
            file = StoreFile(self.path)
            self.version, self.shards, self.attributes = file.version, [], file.attributes
            counts = [file.counts.graphs]
            self._open = OrderedDict({0: file})
        self._first = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return int(self._first[-1])

    def __iter__(self) -> Iterator[Graph]:
        return (self.read(index) for index in range(len(self)))

    def close(self) -> None:
        """Close the files."""
        for file in self._open.values():
            file.close()

    @property
    def kind(self) -> StoreKind:
        """What all graphs have in common."""
        return self._file(0).kind

    @property
    def directed(self) -> bool:
        """Whether the graphs are directed."""
        return self.kind.directed

    @property
    def weighted(self) -> bool:
        """Whether their edges have weights."""
        return self.kind.weighted

    @cached_property
    def nodes(self) -> NDArray[np.int64]:
        """(graphs,) int64: the number of nodes of each graph."""
        return np.concatenate([np.diff(file.array("graph_nodes")) for file in self._all_files()])

    @cached_property
    def nnz(self) -> NDArray[np.int64]:
        """(graphs,) int64: the number of stored entries of each graph."""
        return np.concatenate([np.diff(file.array("graph_entries")) for file in self._all_files()])

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """Problems of which objectives are known for some graph, in the order of their names."""
        return tuple(sorted({name for file in self._all_files() for name in file.problems}))

    def objectives(self, problem: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return what is known of the best solutions of a problem on each graph.

        Returns
        -------
        values : (graphs,) float64
            The best objective; NaN where none is known.
        proven : (graphs,) bool
            Whether no solution is better.
        """
        parts = [file.objectives(problem) for file in self._all_files()]
        values, proven = zip(*parts, strict=True)
        return np.concatenate(values), np.concatenate(proven)

    def objectives_of(self, index: int) -> dict[str, Objective]:
        """Return what is known of the best solutions on one graph, by the name of the problem."""
        known = {}
        for problem in self.problems:
            values, proven = self.objectives(problem)
            if not np.isnan(values[index]):
                known[problem] = Objective(float(values[index]), bool(proven[index]))
        return known

    def read(self, index: int) -> Graph:
        """Return one graph, zero-based."""
        file, local = self._locate(index)
        return file.read(local)

    def read_rows(
        self, index: int, lo: int, hi: int
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.float64] | None]:
        """Read rows lo … hi - 1 of one graph, and no others, from disk.

        Returns
        -------
        row_offsets : (hi - lo + 1,) int64
            Starting at 0.
        columns : int32 or int64
            Neighbour ids in the whole graph.
        weights : float64, optional
        """
        file, local = self._locate(index)
        return file.read_rows(local, lo, hi)

    def degrees(self, index: int) -> NDArray[np.int64]:
        """Return the (n,) int64 degrees of one graph without reading its columns."""
        file, local = self._locate(index)
        return np.concatenate([np.empty(0, np.int64), *file.degree_blocks(local)])

    def degree_blocks(self, index: int) -> Iterator[NDArray[np.int64]]:
        """Yield the degrees of one graph, those of some of its nodes at a time."""
        file, local = self._locate(index)
        return file.degree_blocks(local)

    def dropped(self, index: int) -> Dropped:
        """Return what one graph was given and does not hold."""
        file, local = self._locate(index)
        return file.dropped(local)

    def labels(self, index: int) -> Labels | None:
        """Return the labels of the nodes of one graph, as `Graph` has them."""
        file, local = self._locate(index)
        return file.labels(local)

    def node_weights(self, index: int) -> NDArray[np.float64] | None:
        """Return the (n,) weights of the nodes of one graph, None without."""
        file, local = self._locate(index)
        return file.node_weights(local)

    def _locate(self, index: int) -> tuple[StoreFile, int]:
        if not 0 <= index < len(self):
            raise SettingsError(
                f"{self.path} holds {len(self)} graphs, numbered from 0: there is no graph {index}"
            )
        shard = int(np.searchsorted(self._first, index, side="right")) - 1
        return self._file(shard), index - int(self._first[shard])

    def _file(self, shard: int) -> StoreFile:
        if shard in self._open:
            self._open.move_to_end(shard)
            return self._open[shard]
        expected = self.shards[shard]
        path = self.path / expected.name
        file = StoreFile(path)
        if file.counts.graphs != expected.graphs:
            raise InputError(
                path, f"holds {file.counts.graphs} graphs, the manifest says {expected.graphs}"
            )
        self._open[shard] = file
        if len(self._open) > _MOST_OPEN:
            _, unused = self._open.popitem(last=False)
            unused.close()
        return file

    def _all_files(self) -> Iterator[StoreFile]:
        return (self._file(shard) for shard in range(len(self._first) - 1))


def read_store_graph(path: Path, index: int | None = None) -> Graph:
    """Read one graph of a store; `index` may be None only where the store holds one graph.

    Raises
    ------
    SettingsError
        No index for a store of several graphs, or one out of range.
    InputError
        As `GraphStore` does.
    """
    with GraphStore(path) as store:
        if index is None and len(store) != 1:
            raise SettingsError(
                f"{path} holds {len(store)} graphs; name one as {path}:INDEX, counting from 0"
            )
        return store.read(index or 0)


def check_store(path: str | Path, comm: Communicator | None = None) -> list[str]:
    """Verify every checksum and every invariant of a store (collective).

    Checks the SHA-256 of each shard against the manifest, the checksum of each chunk, that
    offsets rise from 0 to the length of what they point into, and for each graph that columns
    are in range, sorted, without repetitions and without self loops, that an undirected graph
    is symmetric, weights included, that weights are finite, those of nodes positive, that labels
    are distinct, and that objectives are numbers.

    Chunks, rows and labels are shared by the ranks, each of which holds some 200 MB of them at a
    time; of a folder with as many shards as ranks, each rank checks whole shards.

    Parameters
    ----------
    path
        A file or a folder of shards.
    comm
        The ranks; without them, the caller is alone.

    Returns
    -------
    list of str
        One message a fault, the same on every rank and for any number of them; empty for a sound
        store.
    """
    # Readers need no compiled code, and Numba is slow to import.
    from ogg_hpc.graphs.checking.file import file_faults

    path, comm = Path(path), comm if comm is not None else Communicator()
    if not path.is_dir():
        return file_faults(comm, path)
    try:
        _, shards, _ = comm.on_root(lambda: _read_manifest(path / MANIFEST))
    except FileNotFoundError:
        return [f"{path}: has no {MANIFEST}: not a folder of shards, or one cut short"]
    except InputError as error:
        return [str(error)]

    def shard_faults(part: Communicator, shard: Shard) -> list[str]:
        file = path / shard.name

        def content_faults() -> list[str]:
            _check_size(file, shard.bytes)
            try:
                same = sha256_of_file(file) == shard.sha256
            except OSError as error:
                raise InputError(file, f"cannot be read: {error.strerror}") from error
            return [] if same else [f"{file}: SHA-256 differs from the manifest"]

        try:
            faults = part.on_root(content_faults)
        except InputError as error:
            return [str(error)]
        return faults + file_faults(part, file, StoreCounts(shard.graphs, shard.nodes, shard.nnz))

    if len(shards) < comm.size:
        return [fault for shard in shards for fault in shard_faults(comm, shard)]
    mine = [shard_faults(comm.alone(), shard) for shard in shards[comm.rank :: comm.size]]
    everyone = comm.gather_objects(mine)
    turns = (everyone[i % comm.size][i // comm.size] for i in range(len(shards)))
    return list(chain.from_iterable(turns))


def _check_size(path: Path, expected: int) -> None:
    if not path.exists():
        raise InputError(path, "is missing, though the manifest lists it")
    if path.stat().st_size != expected:
        raise InputError(path, f"has {path.stat().st_size} bytes, the manifest says {expected}")


def _write_manifest(folder: Path, shards: list[Shard], attributes: Attributes) -> None:
    content: dict[str, Any] = {
        "format": MANIFEST_FORMAT,
        "version": VERSION,
        "attributes": dict(attributes),
        "shards": [asdict(shard) for shard in shards],
    }
    content["checksum"] = checksum_of(content)
    with write_whole(folder / MANIFEST) as temporary:
        temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _read_manifest(path: Path) -> tuple[int, list[Shard], dict[str, Any]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found, version = content["format"], content["version"]
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(path, f"is no manifest of graph shards ({error})") from error
    if found != MANIFEST_FORMAT:
        raise InputError(path, f"has format {found!r}, expected {MANIFEST_FORMAT!r}")
    refuse_other_version(path, version)
    if content.pop("checksum", None) != checksum_of(content):
        raise InputError(path, "does not match its own checksum; it was damaged or edited")
    return version, [Shard(**shard) for shard in content["shards"]], content["attributes"]
