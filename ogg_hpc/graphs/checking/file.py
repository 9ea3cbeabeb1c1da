"""All that can be wrong with one file of graphs."""

from __future__ import annotations

from pathlib import Path

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.checking.chunks import damage_faults
from ogg_hpc.graphs.checking.faults import Fault, Faults, merged
from ogg_hpc.graphs.checking.labels import label_faults
from ogg_hpc.graphs.checking.offsets import structure_faults
from ogg_hpc.graphs.checking.rows import Share, row_faults
from ogg_hpc.graphs.checking.symmetry import reverse_faults
from ogg_hpc.graphs.checking.values import looped_faults, node_weight_faults, objective_faults
from ogg_hpc.graphs.store_file import StoreFile
from ogg_hpc.graphs.store_format import StoreCounts
from ogg_hpc.runtime.communicator import Communicator

# Rows with these faults are no sorted lists of neighbours.
_DISORDER = (Fault.OUTSIDE, Fault.UNSORTED, Fault.REPEATED)


def file_faults(comm: Communicator, path: Path, stated: StoreCounts | None = None) -> list[str]:
    """Return a message for each fault of one file of graphs (collective).

    Parameters
    ----------
    comm
        The ranks, which share the work.
    path
        The file.
    stated
        What the file must hold, where a manifest states it.

    Returns
    -------
    list of str
        The same on every rank, whatever their number.
    """
    faults: list[str] = []
    try:
        file = comm.on_all(lambda: StoreFile(path))
        try:
            # Later checks presuppose that the earlier ones found nothing.
            for check in (damage_faults, structure_faults):
                if found := check(comm, file):
                    return [f"{path}: {fault}" for fault in found]
            if stated not in (None, file.counts):
                faults.append(f"{path}: its counts differ from the manifest")
            found_in_graphs = _graph_faults(comm, file)
        finally:
            file.close()
    except InputError as error:
        return [*faults, str(error)]
    graphs = ((graph, text) for (graph, _), text in sorted(found_in_graphs.items()))
    return faults + [f"{path}: graph {graph}: {text}" for graph, text in graphs]


def _graph_faults(comm: Communicator, file: StoreFile) -> Faults:
    """Return the first fault of each kind of each graph (collective)."""
    share = comm.on_all(lambda: Share.of_rank(comm, file))
    in_rows, sums, shift = comm.on_all(lambda: row_faults(share))
    faults = merged(comm, in_rows)
    if not file.kind.directed:
        sums = comm.allreduce(sums)
        disordered = {graph for graph, kind in faults if kind in _DISORDER}
        faults |= merged(comm, reverse_faults(comm, share, sums, shift, disordered))
    faults |= merged(comm, label_faults(comm, share))
    for check in (
        lambda: node_weight_faults(share),
        lambda: looped_faults(comm, file),
        lambda: objective_faults(comm, file),
    ):
        faults |= merged(comm, comm.on_all(check))
    outside = {graph for graph, kind in faults if kind is Fault.OUTSIDE}
    return {
        (graph, kind): text
        for (graph, kind), text in faults.items()
        if graph not in outside or kind is Fault.OUTSIDE
    }
