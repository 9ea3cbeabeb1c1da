"""From blocks of edges to a graph store: an external sample sort over all ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.building.edges import EdgeBlocks
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.parts import Parts

if TYPE_CHECKING:
    from ogg_hpc.graphs.names import Names


@dataclass(frozen=True)
class Built:
    """What a graph store that was built holds, and what was dropped on the way.

    Attributes
    ----------
    nodes, edges, entries : int
        Entries of an undirected graph hold each edge in both directions.
    directed, weighted : bool
        Its kind.
    self_loops, duplicates : int
        Edges dropped as self loops and merged as repeated, as `Graph` counts them.
    reversed_pairs : int
        Pairs of nodes u < v for which both (u, v) and (v, u) were given.
    looped : int
        Nodes that had a self loop.
    isolated : int
        Nodes without an edge in either direction.
    """

    nodes: int
    edges: int
    entries: int
    directed: bool
    weighted: bool
    self_loops: int
    duplicates: int
    reversed_pairs: int
    looped: int
    isolated: int


def build_store(
    comm: Communicator,
    output: Path,
    n: int,
    blocks: EdgeBlocks,
    *,
    parts: Parts,
    memory: int,
    labels: NDArray[np.int64] | Names | None = None,
    node_weights: NDArray[np.float64] | None = None,
    directed: bool | None = False,
    matrix: bool = False,
    weighted: bool = False,
    attributes: Mapping[str, Any] | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Built:
    """Write the graph of all blocks to a store, whole or not at all (collective).

    The file's bytes depend on the edges alone, not on their order, the cut into blocks, the number
    of ranks or memory. After an interruption, a call with the same parts goes on where the earlier
    one was. The parts are left in place; the caller removes them.

    Parameters
    ----------
    comm
        All ranks.
    output
        The store; an existing one is replaced.
    n
        Number of nodes.
    blocks
        The edges.
    parts
        Finished parts of this job; those of this function are called ``run-…``, ``ranges``,
        ``range-…`` and ``chunks-…``.
    memory
        Bytes that this rank may use, beside what the interpreter, `labels` and `node_weights` take
        and what `blocks` takes to read a block.
    labels, node_weights
        This rank's consecutive part of the labels and of the weights of nodes, in the order of
        ids; ranks hold any number of them, n in all. No labels mean 0, 1, …, n - 1.
    directed
        Keep directions. With `matrix`, None keeps them unless all edges and their weights are
        symmetric.
    matrix
        The blocks hold all entries of a square matrix, so that an undirected graph has each edge
        twice: where they are symmetric, the reverse of an edge is no duplicate.
    weighted
        Whether weights are kept; blocks must have them then.
    attributes
        Provenance to be stored with the graph.
    report
        Told on every rank how much of the work is done, and how much there is in all.

    Returns
    -------
    Built
        On every rank.

    Raises
    ------
    ConflictingEdgesError
        An edge is given with different weights.
    SettingsError
        Too many nodes, or attributes as `write_store` refuses them.
    InputError
        The disk is full, or a file cannot be written.
    """
    raise NotImplementedError
