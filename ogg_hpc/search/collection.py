"""The graphs that a command line lists: files, folders, stores and generated families."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.families import parse_family
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.members import is_family, is_store, members, split_index
from ogg_hpc.graphs.readers.node_weights import read_node_weights
from ogg_hpc.graphs.shards import MANIFEST, GraphStore
from ogg_hpc.problems.graph_input import read_undirected

_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


@dataclass(frozen=True)
class Listed:
    """One graph of a list, not yet read or made.

    Attributes
    ----------
    family : str
        What it is reported with: the folder of a file, the store of several graphs, or the text
        of a generated family.
    path : str
        The file, ``STORE:INDEX``, or ``FAMILY:INDEX``.
    index : int or None
        Its number in a generated family, None for a file.
    """

    family: str
    path: str
    index: int | None = None

    @property
    def name(self) -> str:
        """The name without folder and suffixes, such as ``socfb-MIT``."""
        if self.index is not None:
            return self.path
        name = Path(self.path)
        return Path(name.stem).stem if name.suffix in _COMPRESSED else name.stem

    def read(
        self,
        file_format: str | None = None,
        undirected: bool = False,
        node_weights: str | None = None,
    ) -> Graph:
        """Read the file or make the graph; parameters as in `read_undirected`."""
        if self.index is None:
            return read_undirected(self.path, file_format, undirected, node_weights)
        graph = parse_family(self.family).graph(self.index)
        return graph if node_weights is None else read_node_weights(node_weights, graph)


def listed(sources: Iterable[str]) -> list[Listed]:
    """Return all graphs that a list of sources stands for, in its order.

    A folder that is no store stands for all files in it, by name.

    Raises
    ------
    InputError
        A file that is missing, a store that cannot be read, or a folder without a file.
    SettingsError
        A family that cannot be; see `parse_family`.
    """
    return [graph for source in sources for graph in _listed(source)]


@dataclass(frozen=True)
class StoredObjectives:
    """Best objectives that stores hold of listed graphs.

    Attributes
    ----------
    known, proven
        By the graph's path: all of them, and those that are optimal.
    """

    known: Mapping[str, float] = field(default_factory=dict)
    proven: Mapping[str, float] = field(default_factory=dict)


def stored_objectives(graphs: Iterable[Listed], problem: str) -> StoredObjectives:
    """Return the best objectives that stores hold of listed graphs.

    Parameters
    ----------
    graphs
        What `listed` returned.
    problem
        The name of the problem that it has itself.

    Raises
    ------
    InputError
        A store that cannot be read.
    """
    of_path: dict[Path, list[tuple[str, int]]] = {}
    for graph in graphs:
        if graph.index is None:
            path, index = split_index(graph.path)
            of_path.setdefault(path, []).append((graph.path, index or 0))
    known: dict[str, float] = {}
    proven: dict[str, float] = {}
    for path, own in of_path.items():
        if is_store(path):
            with GraphStore(path) as store:
                values, optimal = store.objectives(problem)
            known |= {name: float(values[i]) for name, i in own if not np.isnan(values[i])}
            proven |= {name: float(values[i]) for name, i in own if optimal[i]}
    return StoredObjectives(known, proven)


def _listed(source: str) -> Iterator[Listed]:
    path = Path(source)
    if is_family(source) and not path.exists():
        for i in range(parse_family(source).count):
            yield Listed(source, f"{source}:{i}", i)
    elif path.is_dir() and not (path / MANIFEST).exists():
        files = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
        if not files:
            raise InputError(path, "the folder holds no graph file")
        for file in files:
            yield from _members(str(file))
    else:
        yield from _members(source)


def _members(path: str) -> Iterator[Listed]:
    store, _, index = path.rpartition(":")
    if not Path(path).exists() and not (index.isdigit() and Path(store).exists()):
        raise InputError(path, "no such file; check the path")
    names = members(path)
    for name in names:
        yield Listed(str(Path(path).parent) if name == path else path, name)
