"""The graphs of a training run: this rank's rows of each, or whole held-out graphs."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.generators import (
    GENERATORS,
    with_random_node_weights,
    with_random_signs,
)
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.members import is_store
from ogg_hpc.graphs.partition import RowPartition
from ogg_hpc.graphs.row_block import RowBlock, row_block
from ogg_hpc.graphs.shards import GraphStore
from ogg_hpc.problems.graph_input import read_undirected
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import hash64, integers, stream
from ogg_hpc.training.settings import GraphSource


def generate(source: GraphSource) -> Iterator[Graph]:
    """Yield the graphs of a generator family; graph i is a function of (seed, i) alone."""
    if source.family not in GENERATORS:
        raise SettingsError(f"family {source.family!r} is unknown; use {', '.join(GENERATORS)}")
    generator = GENERATORS[source.family]
    own = set(inspect.signature(generator).parameters) - {"n", "seed"}
    parameters = {name: getattr(source, name) for name in own}
    sizes = source.nodes if isinstance(source.nodes, tuple) else (source.nodes, source.nodes)
    for i in range(source.count):
        spread = integers(sizes[1] - sizes[0] + 1, source.seed, stream("nodes"), i)
        seed = int(hash64(source.seed, stream("graph"), i))
        graph = generator(sizes[0] + int(spread), seed=seed, **parameters)
        graph = with_random_signs(graph, seed) if source.weights else graph
        yield with_random_node_weights(graph, source.lightest, source.heaviest, seed)


def row_blocks(comm: Communicator, source: GraphSource, balance: str) -> Iterator[RowBlock]:
    """Yield this rank's rows of each graph of a source.

    Rows of a store are read by their owner alone. Generated graphs and other files are made
    whole on each rank, one at a time, and cut.
    """
    if source.path and is_store(source.path):
        with _open(source.path) as store:
            for i in range(len(store)):
                if balance == "edges":
                    partition = RowPartition.by_edges(store.degrees(i), comm.size)
                else:
                    partition = RowPartition.by_rows(int(store.nodes[i]), comm.size)
                lo, hi = partition.range(comm.rank)
                rows, entries = store.read_rows(i, lo, hi), int(store.nnz[i])
                yield RowBlock(partition, comm.rank, *rows, entries, store.node_weights(i))
    else:
        for graph in whole_graphs(source):
            yield row_block(graph, comm.rank, comm.size, balance)


def whole_graphs(source: GraphSource) -> Iterator[Graph]:
    """Yield each graph of a source whole."""
    if source.family:
        yield from generate(source)
    elif is_store(source.path):
        with _open(source.path) as store:
            yield from store
    else:
        yield read_undirected(source.path, undirected=source.undirected)


@contextmanager
def _open(path: str) -> Iterator[GraphStore]:
    with GraphStore(path) as store:
        if not len(store):
            raise InputError(path, "the store holds no graph")
        if store.directed:
            raise InputError(
                path,
                "the graphs are directed, the problem is not; data convert --undirected takes "
                "every arc as an edge",
            )
        yield store
