"""Stores built from blocks of edges in memory, for tests."""

import functools
import hashlib
from contextlib import contextmanager

import numpy as np
import pytest

from ogg_hpc.graphs import store_format
from ogg_hpc.graphs.building import bounds, columns, runs
from ogg_hpc.graphs.building.build import build_store
from ogg_hpc.graphs.building.edges import Edges
from ogg_hpc.runtime.parts import Parts

MEMORY = 1 << 28


class ArrayBlocks:
    """Edges in memory, cut into blocks of a number of edges; notes which are read."""

    def __init__(self, edges, length):
        self._edges, self._length = edges, length
        self.count = -(-len(edges.sources) // length)
        self.read_blocks = []

    def read(self, block):
        if block is None:
            return Edges.none()
        self.read_blocks.append(block)
        part = slice(block * self._length, (block + 1) * self._length)
        return Edges(*(None if array is None else array[part] for array in self._edges))


@contextmanager
def small_pieces():
    """Let graphs of a few edges have many samples, ranges, chunks and slabs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "_STEP", 3)
        patch.setattr(bounds, "_KEYS", 16)
        patch.setattr(columns, "_SLAB_CHUNKS", 2)
        patch.setattr(store_format, "CHUNK_BYTES", 128)
        yield


def build(comm, path, n, edges, *, block=7, memory=MEMORY, **settings):
    """Build a store from edges in memory and remove the parts."""
    parts = Parts.open(comm, path, {})
    build_in = functools.partial(build_store, comm, path, n, parts=parts, memory=memory)
    built = build_in(ArrayBlocks(edges, block), weighted=edges.weights is not None, **settings)
    parts.remove(comm)
    return built


def random_edges(n, e, seed, weighted=False):
    """Return random edges with self loops, repetitions and reversed pairs."""
    generator = np.random.default_rng([n, e, seed])
    sources, targets = generator.integers(0, n, (2, e)) if n else np.zeros((2, 0), np.int64)
    weights = None
    if weighted:  # one for each pair of nodes
        weights = np.minimum(sources, targets) + np.maximum(sources, targets) / 8
    return Edges(sources, targets, weights)


def digest(path):
    """Return a digest of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
