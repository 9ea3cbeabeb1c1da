"""Labels: text is UTF-8, and no two nodes of a graph have the same label.

Labels that rise within each graph are distinct. Where they do not, hashes tell which may be
alike: they are divided over the ranks, a part of them at a time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.checking.faults import Fault, Faults
from ogg_hpc.graphs.checking.rows import Share
from ogg_hpc.graphs.names import Names
from ogg_hpc.graphs.store_file import StoreFile
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import hash64
from ogg_hpc.runtime.random_compiled import absorb, stream_state

# Hashes that a rank holds at a time, at some 60 bytes each while they are sorted.
_HASHES = 1 << 22
# Bytes of text that are held at a time.
_TEXT = 1 << 24


def label_faults(comm: Communicator, share: Share) -> Faults:
    """Return this rank's part of what is wrong with labels (collective)."""
    kind = share.file.kind.label_kind
    if kind == "none":
        return {}
    faults = comm.on_all(lambda: _text_faults(share)) if kind == "text" else {}
    rising = comm.on_all(lambda: all(_rises(share, *block) for block in _blocks(share)))
    if not all(comm.gather_objects(rising)):
        repeated = _first_repetitions(comm, share)
        if comm.rank == 0:
            faults |= repeated
    return faults


def _blocks(share: Share) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows whose labels fit in memory."""
    for begin, end in share.row_blocks():
        if share.file.kind.label_kind == "integer":
            yield begin, end
            continue
        ends = share.file.array("label_offsets", begin, end + 1)
        row = begin
        while row < end:
            last = int(np.searchsorted(ends, ends[row - begin] + _TEXT, side="right")) - 1
            last = max(row + 1, begin + last)
            yield row, last
            row = last


def _names(file: StoreFile, begin: int, end: int) -> Names:
    offsets = file.array("label_offsets", begin, end + 1)
    return Names(file.array("label_bytes", offsets[0], offsets[-1]), offsets - offsets[0])


def _text_faults(share: Share) -> Faults:
    faults: Faults = {}
    for begin, end in _blocks(share):
        names = _names(share.file, begin, end)
        if _all_utf8(names):
            continue
        bad = [row for row in range(len(names)) if not _all_utf8(names[row : row + 1])]
        for graph, node, _ in share.first_of_each_graph(begin + np.array(bad)):
            text = f"the label of node {node} is not UTF-8"
            faults.setdefault((graph, Fault.NOT_UTF8), text)
    return faults


def _all_utf8(names: Names) -> bool:
    try:
        names.bytes.tobytes().decode()
    except UnicodeDecodeError:
        return False
    # A name may not begin amid a character.
    firsts = names.bytes[names.offsets[:-1][names.lengths > 0]]
    return not ((firsts & 0xC0) == 0x80).any()


def _rises(share: Share, begin: int, end: int) -> bool:
    """Return whether each label is above the one before it, but for the first of a graph."""
    before = begin - 1 if begin > 0 else begin
    rows = np.arange(before + 1, end)
    first = share.starts[share.graph_places(rows)] == rows
    if share.file.kind.label_kind == "integer":
        labels = share.file.array("labels", before, end)
        above = labels[1:] > labels[:-1]
    else:
        names = _names(share.file, before, end)
        above = _above(names.bytes, names.offsets)
    return bool((above | first).all())


def _first_repetitions(comm: Communicator, share: Share) -> Faults:
    """Return the first node of each graph with the label of an earlier one (collective).

    Equal labels have equal hashes. Others hardly ever have; then all begins anew with other hashes.
    """
    most = max(comm.gather_objects(share.end - share.begin))
    for seed in count():
        found: dict[int, tuple[int, int]] = {}
        # As many as keep what a rank sends, and on average receives, below the limit.
        passes = -(-most // _HASHES)
        for number in range(passes):
            hashes, rows = _own_hashes(comm, share, seed, number, passes)
            mine = comm.on_all(partial(_first_pairs, share.file, hashes, rows))
            for part in comm.gather_objects(mine):
                for graph, pair in part.items():
                    found[graph] = min(found.get(graph, pair), pair)
        faults = comm.on_root(partial(_compared, share.file, found))
        if len(faults) == len(found):
            break
    return faults


def _own_hashes(
    comm: Communicator, share: Share, seed: int, number: int, passes: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return hashes of labels that this rank owns, in order, and the rows of the labels."""

    def some() -> NDArray[np.uint64]:
        parts = [np.empty((0, 2), np.uint64)]
        for begin, end in _blocks(share):
            hashes = _hashes(share, seed, begin, end)
            chosen = (hashes >> np.uint64(32)) % np.uint64(passes) == number
            rows = np.arange(begin, end, dtype=np.uint64)
            parts.append(np.column_stack([hashes[chosen], rows[chosen]]))
        return _first_two_of_each(np.concatenate(parts))

    mine = comm.on_all(some)
    owner = (mine[:, 0] % np.uint64(comm.size)).astype(np.int64)
    mine = mine[np.argsort(owner, kind="stable")]
    received, _ = comm.alltoallv(mine, np.bincount(owner, minlength=comm.size))
    received = received[np.argsort(received[:, 0], kind="stable")]
    return received[:, 0], received[:, 1].astype(np.int64)


def _first_two_of_each(pairs: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return pairs of a hash and a row in the order of hashes, without all rows but two of each."""
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    third = np.zeros(len(pairs), dtype=bool)
    third[2:] = pairs[2:, 0] == pairs[:-2, 0]
    return pairs[~third]


def _hashes(share: Share, seed: int, begin: int, end: int) -> NDArray[np.uint64]:
    """Return a hash of the graph and the label of each row."""
    graphs = share.graphs[share.graph_places(np.arange(begin, end))]
    if share.file.kind.label_kind == "integer":
        return hash64(seed, graphs, share.file.array("labels", begin, end))
    names = _names(share.file, begin, end)
    return hash64(
        seed, graphs, _text_hashes(stream_state(seed, "label"), names.bytes, names.offsets)
    )


def _first_pairs(
    file: StoreFile, hashes: NDArray[np.uint64], rows: NDArray[np.int64]
) -> dict[int, tuple[int, int]]:
    """Return by graph the first row whose hash an earlier row has, and that row."""
    first = np.ones(len(hashes), dtype=bool)
    first[1:] = hashes[1:] != hashes[:-1]
    second = np.flatnonzero(~first)
    second = second[first[second - 1]]
    order = np.argsort(rows[second])
    later, earlier = rows[second][order], rows[second - 1][order]
    found = {}
    at = 0
    bounds = file.dataset("graph_nodes")
    while at < len(later):
        graph = bisect_right(bounds, later[at]) - 1
        found[graph] = int(later[at]), int(earlier[at])
        at = int(np.searchsorted(later, bounds[graph + 1]))
    return found


def _compared(file: StoreFile, found: dict[int, tuple[int, int]]) -> Faults:
    """Return as faults those pairs of rows whose labels are alike indeed."""
    faults: Faults = {}
    for graph, (later, earlier) in found.items():
        label, other = _label(file, later), _label(file, earlier)
        if label == other:
            start = file.nodes_of(graph)[0]
            shown = label.decode(errors="backslashreplace") if isinstance(label, bytes) else label
            faults[graph, Fault.LABEL] = (
                f"nodes {earlier - start} and {later - start} have the same label {shown!r}"
            )
    return faults


def _label(file: StoreFile, row: int) -> int | bytes:
    if file.kind.label_kind == "integer":
        return int(file.array("labels", row, row + 1)[0])
    return _names(file, row, row + 1).bytes.tobytes()


@numba.njit(cache=True)
def _above(letters: Any, offsets: Any) -> Any:
    """Return for each name but the first whether it is above the one before it."""
    above = np.zeros(len(offsets) - 2, np.bool_)
    for i in range(len(above)):
        start, middle, end = offsets[i], offsets[i + 1], offsets[i + 2]
        k = 0
        while start + k < middle and middle + k < end and letters[start + k] == letters[middle + k]:
            k += 1
        if start + k == middle:
            above[i] = middle + k < end
        else:
            above[i] = middle + k < end and letters[start + k] < letters[middle + k]
    return above


@numba.njit(cache=True)
def _text_hashes(seed_state: Any, letters: Any, offsets: Any) -> Any:
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(hashes)):
        state = absorb(seed_state, offsets[i + 1] - offsets[i])
        for start in range(offsets[i], offsets[i + 1], 8):
            word = np.uint64(0)
            for k in range(start, min(start + 8, offsets[i + 1])):
                word = word << np.uint64(8) | np.uint64(letters[k])
            state = absorb(state, word)
        hashes[i] = state
    return hashes
