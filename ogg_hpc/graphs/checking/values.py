"""Values beside the entries: weights of nodes, nodes with self loops, objectives."""

from __future__ import annotations

import numpy as np

from ogg_hpc.graphs.checking.faults import Fault, Faults
from ogg_hpc.graphs.checking.offsets import blocks
from ogg_hpc.graphs.checking.rows import Share
from ogg_hpc.graphs.store_file import StoreFile
from ogg_hpc.graphs.store_format import objective_datasets
from ogg_hpc.runtime.communicator import Communicator

# Nodes with self loops that are held at a time.
_LOOPS = 1 << 20


def node_weight_faults(share: Share) -> Faults:
    """Find the first node of each graph whose weight is not positive and finite."""
    faults: Faults = {}
    if not share.file.kind.node_weighted:
        return faults
    for begin, end in share.row_blocks():
        weights = share.file.array("node_weights", begin, end)
        bad = np.flatnonzero(~((weights > 0) & (weights < np.inf)))
        for graph, node, first in share.first_of_each_graph(begin + bad):
            text = f"node {node} has weight {weights[bad[first]]}"
            faults.setdefault((graph, Fault.NODE_WEIGHT), text)
    return faults


def looped_faults(comm: Communicator, file: StoreFile) -> Faults:
    """Find the first node with a self loop, of each of this rank's graphs, that is out of range."""
    faults: Faults = {}
    for begin, end in blocks(comm, file.counts.graphs):
        offsets = file.array("looped_offsets", begin, end + 1)
        sizes = np.diff(file.array("graph_nodes", begin, end + 1))
        for first in range(int(offsets[0]), int(offsets[-1]), _LOOPS):
            last = min(first + _LOOPS, int(offsets[-1]))
            looped = file.array("looped", first, last)
            graphs = np.searchsorted(offsets, np.arange(first, last), side="right") - 1
            for at in np.flatnonzero((looped < 0) | (looped >= sizes[graphs])).tolist():
                text = f"node {looped[at]} with a self loop is out of range"
                faults.setdefault((begin + int(graphs[at]), Fault.LOOPED), text)
    return faults


def objective_faults(comm: Communicator, file: StoreFile) -> Faults:
    """Find this rank's graphs with objectives that are not numbers, or proven but unknown."""
    faults: Faults = {}
    for problem in file.problems:
        names = objective_datasets(problem)
        for begin, end in blocks(comm, file.counts.graphs):
            values, proven = (file.array(name, begin, end) for name in names)
            for at in np.flatnonzero(np.isinf(values) | (np.isnan(values) & proven)).tolist():
                state = "proven" if proven[at] else "not proven"
                text = f"its objective of {problem!r} is {values[at]}, {state}"
                faults.setdefault((begin + at, Fault.OBJECTIVE), text)
    return faults
