"""Structure: datasets of the right type and length, offsets that rise, counts that agree."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ogg_hpc.graphs.partition import RowPartition
from ogg_hpc.graphs.store_file import StoreFile
from ogg_hpc.runtime.communicator import Communicator

# Offsets that are held at a time.
_BLOCK = 1 << 20


def structure_faults(comm: Communicator, file: StoreFile) -> list[str]:
    """Check types, lengths and all offsets, shared by the ranks (collective).

    Each check presupposes those before it, so there is one fault at the most.
    """
    if (fault := _shape_fault(file)) is not None:
        return [fault]
    ends = _ends(file)
    for name, end in ends.items():
        first = min(comm.gather_objects(comm.on_all(partial(_first_fall, comm, file, name, end))))
        if first < len(file.dataset(name)):
            return [f"dataset {name!r} does not rise from 0 to {end}: see entry {first}"]
    graph = min(comm.gather_objects(comm.on_all(lambda: _first_disagreement(comm, file))))
    if graph <= file.counts.graphs:
        return [f"datasets 'graph_entries' and 'row_offsets' disagree at graph {graph}"]
    return []


def _ends(file: StoreFile) -> dict[str, int]:
    """Return what each dataset of offsets rises to."""
    ends = {
        "graph_nodes": file.counts.nodes,
        "graph_entries": file.counts.nnz,
        "row_offsets": file.counts.nnz,
        "looped_offsets": len(file.dataset("looped")),
    }
    if file.kind.label_kind == "text":
        ends["label_offsets"] = len(file.dataset("label_bytes"))
    return ends


def _shape_fault(file: StoreFile) -> str | None:
    graphs, nodes, nnz = file.counts
    lengths = {
        "graph_nodes": graphs + 1,
        "graph_entries": graphs + 1,
        "row_offsets": nodes + 1,
        "columns": nnz,
        "weights": nnz,
        "node_weights": nodes,
        "labels": nodes,
        "label_offsets": nodes + 1,
        "looped_offsets": graphs + 1,
    }
    free = ("label_bytes", "looped")  # as long as the offsets into them say
    for name, dtype in file.types.items():
        dataset = file.dataset(name)
        wide = name == "columns" and dataset.dtype == np.int64
        if dataset.dtype != dtype and not wide:
            return f"dataset {name!r} has dtype {dataset.dtype}, not {np.dtype(dtype)}"
        length = lengths.get(name, graphs)
        if name not in free and len(dataset) != length:
            return f"dataset {name!r} has {len(dataset)} entries, not {length}"
    return None


def blocks(comm: Communicator, count: int) -> Iterator[tuple[int, int]]:
    """Yield this rank's ranges of 0 … count - 1."""
    begin, end = RowPartition.by_rows(count, comm.size).range(comm.rank)
    for lo in range(begin, end, _BLOCK):
        yield lo, min(lo + _BLOCK, end)


def _first_fall(comm: Communicator, file: StoreFile, name: str, end: int) -> int:
    """Return the first of this rank's entries that does not rise; the length if all do."""
    length = len(file.dataset(name))
    for lo, hi in blocks(comm, length):
        values = file.array(name, lo, hi)
        before = np.empty_like(values)
        before[1:] = values[:-1]
        before[:1] = file.array(name, lo - 1, lo) if lo else 0
        wrong = (values < before) | (values > end)
        if lo == 0:
            wrong[0] = values[0] != 0
        if hi == length:
            wrong[-1] |= values[-1] != end
        if wrong.any():
            return lo + int(np.argmax(wrong))
    return length


def _first_disagreement(comm: Communicator, file: StoreFile) -> int:
    """Return this rank's first graph that begins at other entries than its first row.

    The number after the last graph stands for where all end, the one after that for no graph.
    """
    for lo, hi in blocks(comm, file.counts.graphs + 1):
        starts = file.array("graph_nodes", lo, hi)
        entries = file.array("graph_entries", lo, hi)
        row = 0
        while row < len(starts):
            # As many graphs as have their rows within one block of offsets.
            last = int(np.searchsorted(starts, starts[row] + _BLOCK))
            offsets = file.array("row_offsets", starts[row], starts[last - 1] + 1)
            differ = offsets[starts[row:last] - starts[row]] != entries[row:last]
            if differ.any():
                return lo + row + int(np.argmax(differ))
            row = last
    return file.counts.graphs + 1
