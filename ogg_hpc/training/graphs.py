"""The graphs that training settings name, whole."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.generators import (
    GENERATORS,
    with_random_node_weights,
    with_random_signs,
)
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.members import is_store
from ogg_hpc.graphs.shards import GraphStore
from ogg_hpc.problems.graph_input import read_undirected
from ogg_hpc.runtime.random import hash64, integers, stream, uniform
from ogg_hpc.training.settings import GraphSource


def generate(source: GraphSource) -> Iterator[Graph]:
    """Yield the graphs of a generator family, in their order."""
    return (generated(source, i) for i in range(source.count))


def generated(source: GraphSource, i: int) -> Graph:
    """Return graph i of a generator family, a function of the parameters, the seed and i.

    A parameter of which a range is given is drawn from it, uniformly.

    Raises
    ------
    SettingsError
        An unknown family, or parameters that do not fit.
    """
    if source.family not in GENERATORS:
        raise SettingsError(f"family {source.family!r} is unknown; use {', '.join(GENERATORS)}")
    generator = GENERATORS[source.family]
    own = inspect.signature(generator).parameters.keys() - {"n", "seed"}
    parameters = {name: _drawn(source, name, i) for name in own}
    seed = int(hash64(source.seed, stream("graph"), i))
    graph = generator(_drawn(source, "nodes", i), seed=seed, **parameters)
    graph = with_random_signs(graph, seed) if source.weights else graph
    return with_random_node_weights(graph, source.lightest, source.heaviest, seed)


def _drawn(source: GraphSource, name: str, i: int) -> Any:
    value = getattr(source, name)
    if not isinstance(value, tuple):
        return value
    least, most = value
    if isinstance(least, int):
        return least + int(integers(most - least + 1, source.seed, stream(name), i))
    return least + (most - least) * float(uniform(source.seed, stream(name), i))


def whole_graphs(source: GraphSource) -> Iterator[Graph]:
    """Yield each graph of a source whole."""
    if source.family:
        yield from generate(source)
    elif is_store(source.path):
        with open_store(source.path) as store:
            yield from store
    else:
        yield read_undirected(source.path, undirected=source.undirected)


@dataclass(frozen=True)
class IndexedGraphs:
    """The graphs of a source by number, whole.

    Attributes
    ----------
    sizes, entries : (graphs,) int64
        Nodes and stored entries of each graph.
    stored : bool
        Whether they are read when they are asked for, and not held.
    read : callable
        Returns a graph by its number.
    """

    sizes: NDArray[np.int64]
    entries: NDArray[np.int64]
    stored: bool
    read: Callable[[int], Graph]


def indexed_graphs(source: GraphSource) -> IndexedGraphs:
    """Return the graphs of a source by number; those that are in no store are held."""
    if source.path and is_store(source.path):
        store = open_store(source.path)
        return IndexedGraphs(store.nodes, store.nnz, True, store.read)
    graphs = list(whole_graphs(source))
    sizes = np.array([graph.n for graph in graphs])
    entries = np.array([len(graph.columns) for graph in graphs])
    return IndexedGraphs(sizes, entries, False, graphs.__getitem__)


def open_store(path: str) -> GraphStore:
    """Open a store of graphs that can be learned on.

    Raises
    ------
    InputError
        It holds no graph, or directed ones.
    """
    store = GraphStore(path)
    if not len(store):
        raise InputError(path, "the store holds no graph")
    if store.directed:
        raise InputError(
            path,
            "the graphs are directed, the problem is not; data convert --undirected takes "
            "every arc as an edge",
        )
    return store
