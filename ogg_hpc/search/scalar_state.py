"""The residual graph of a vertex cover in two integers a node: its degree, one sum over neighbours.

The degrees are replicated; the sums, over the messages of active neighbours, are of a rank's own
rows. A message is the degree or a function of it. Both are integers, hence the same bits on every
number of ranks and in every order. Removing v lowers the degrees of its neighbours and changes
the sums two hops away: s_w loses v's message for w in N(v), and follows u's message for w in N(u),
u in N(v).

To find the rows that touch a node, a rank holds its block by columns, 4 bytes an entry and 8 a
column; entries of nodes that have left are dropped as they are met. Where that is more than one
bit for each pair of nodes (density above 1/32), it holds bits instead: a row's sum falls by the
number of bits it has in common with the lowered nodes, one sweep of AND and popcount.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.runtime.communicator import Communicator

# Above this density a bit for each pair of nodes is less than 4 bytes an entry.
DENSE = 1 / 32
# Nodes, how many listed neighbours each has, and these one after another.
Neighbours = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]


class ScalarState:
    """Degrees, sums, and who touches whom.

    Parameters
    ----------
    comm
        The ranks.
    block
        This rank's rows of an unweighted graph.
    messages
        (n,) int64, what a node of each degree adds to its neighbours' sums; the degree by default.
    factors
        (n,) int64, what each node's messages are multiplied by, replicated; None for 1.

    Attributes
    ----------
    lo, hi : int
        This rank's rows.
    degrees : (n,) int32
        Residual degrees, replicated; 0 for nodes that have left.
    sums : (rows,) int64
        Sums over active neighbours of this rank's rows; of no meaning for nodes that have left.
    listed : (n,) int32 or int64
        Not 0 for the neighbours that count, replicated: the degrees, unless an engine sets others.
    candidates : int
        Number of nodes with an edge.
    """

    def __init__(
        self,
        comm: Communicator,
        block: RowBlock,
        messages: NDArray[np.int64] | None = None,
        factors: NDArray[np.int64] | None = None,
    ) -> None:
        self.comm, self.block = comm, block
        self.lo, self.hi = block.partition.range(comm.rank)
        counts = block.partition.counts
        self.degrees = comm.allgatherv(np.diff(block.row_offsets), counts).astype(np.int32)
        self.listed: NDArray[Any] = self.degrees
        # Bits count neighbours: they serve where all messages fall alike.
        self.touching = touching_rows(block, may_be_bits=messages is None)
        self.messages = np.arange(max(block.n, 1)) if messages is None else messages
        self.factors = factors
        sent = self.messages[self.degrees]
        self.sums = neighbour_sums(block, sent if factors is None else sent * factors)
        self.changed = np.empty(block.rows, np.int32)
        self.is_changed = np.zeros(block.rows, np.bool_)
        self.candidates = int(np.count_nonzero(self.degrees))

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the compiled functions share; see `remove_nodes`."""
        return (
            self.lo,
            self.degrees,
            self.touching,
            self.messages,
            self.sums,
            self.changed,
            self.is_changed,
            self.factors,
        )

    @property
    def adjacency_bytes(self) -> int:
        """Bytes of the lists or bits."""
        return sum(int(part.nbytes) for part in self.touching)

    def neighbours(self, nodes: NDArray[np.int64]) -> Neighbours:
        """Return nodes, how many listed neighbours each has, and these in a row (collective).

        Parameters
        ----------
        nodes
            (k,) sorted ids of active nodes, the same on every rank.
        """
        lengths = self.degrees[nodes]
        owner = np.searchsorted(self.block.partition.offsets, nodes, side="right") - 1
        counts = np.bincount(owner, lengths, self.comm.size).astype(np.int64)
        found = np.empty(counts[self.comm.rank], np.int32)
        _listed_neighbours(
            nodes[owner == self.comm.rank] - self.lo,
            self.block.row_offsets,
            self.block.columns,
            self.listed,
            found,
        )
        if self.comm.size > 1:
            found = self.comm.allgatherv(found, counts)
        return nodes, lengths, found

    def remove(self, nodes: NDArray[np.int64]) -> None:
        """Remove distinct active nodes (collective)."""
        neighbours = self.neighbours(np.sort(nodes))
        self.candidates, _ = remove_nodes(*neighbours, self.candidates, True, self.arrays)


def touching_rows(
    block: RowBlock, may_be_bits: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint64]]:
    """Return which of this rank's rows touch a node: lists, or bits where they are smaller.

    Returns
    -------
    starts, rows, bits
        Column v is ``rows[starts[v]:starts[v + 1]]`` up to the first -1, or bit v of each row of
        `bits`; the others are empty.
    """
    # All ranks choose alike: by the density of the whole graph.
    if may_be_bits and block.entries > DENSE * block.n * block.n:
        bits = np.zeros((block.rows, -(-block.n // 64)), np.uint64)
        _set_bits(block.row_offsets, block.columns, bits)
        return np.zeros(1, np.int64), np.empty(0, np.int32), bits
    starts = column_starts(block)
    rows = np.empty(len(block.columns), np.int32)
    _transpose(block.row_offsets, block.columns, starts[:-1].copy(), rows)
    return starts, rows, np.zeros((0, 0), np.uint64)


def column_starts(block: RowBlock) -> NDArray[np.int64]:
    """Return (n + 1,) where each column starts when a block's entries stand column by column."""
    lengths = np.zeros(block.n + 1, np.int64)
    _count_columns(block.columns, lengths)
    return np.cumsum(lengths, out=lengths)


def neighbour_sums(block: RowBlock, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each of this rank's rows the sum of its neighbours' (n,) values."""
    sums = np.zeros(block.rows, np.int64)
    _add_neighbours(block.row_offsets, block.columns, values, sums)
    return sums


@njit(cache=True)
def _set_bits(row_offsets: Any, columns: Any, bits: Any) -> None:
    for row in range(len(row_offsets) - 1):
        for k in range(row_offsets[row], row_offsets[row + 1]):
            column = columns[k]
            bits[row, column >> 6] |= np.uint64(1) << np.uint64(column & 63)


# np.bincount would copy all entries to 64 bits first.
@njit(cache=True)
def _count_columns(columns: Any, lengths: Any) -> None:
    for column in columns:
        lengths[column + 1] += 1


@njit(cache=True)
def _transpose(row_offsets: Any, columns: Any, place: Any, rows: Any) -> None:
    for row in range(len(row_offsets) - 1):
        for k in range(row_offsets[row], row_offsets[row + 1]):
            column = columns[k]
            rows[place[column]] = row
            place[column] += 1


@njit(cache=True)
def _add_neighbours(row_offsets: Any, columns: Any, values: Any, sums: Any) -> None:
    for row in range(len(sums)):
        for k in range(row_offsets[row], row_offsets[row + 1]):
            sums[row] += values[columns[k]]


@njit(cache=True)
def _listed_neighbours(
    own: Any, row_offsets: Any, columns: Any, listed: Any, neighbours: Any
) -> None:
    """Write the listed neighbours of own rows one after another: a degree's worth of each."""
    count = 0
    for row in own:
        for k in range(row_offsets[row], row_offsets[row + 1]):
            if listed[columns[k]] > 0:
                neighbours[count] = columns[k]
                count += 1


# The compiled functions below share one tuple, `state`:
# (lo, degrees, touching, messages, sums, changed, is_changed, factors). A node that touches one
# with edges is active if its own degree is not 0.


@njit(cache=True)
def times(value: Any, factors: Any, place: Any) -> Any:
    """Multiply by one of some factors; where these are None, no code is made for them."""
    if factors is None:
        return value
    return value * factors[place]


@njit(cache=True)
def is_widespread(neighbours: Any, state: Any) -> Any:
    """Tell whether lowering neighbours touches so many rows that to look at all is less work.

    A list of the changed rows is not worth keeping then.
    """
    degrees, touching, sums = state[1], state[2], state[4]
    if touching[2].shape[1] > 0:
        return True
    entries = 0
    for u in neighbours:
        entries += degrees[u]
    return entries > len(sums)


@njit(cache=True)
def mark(row: Any, state: Any, count: Any) -> Any:
    """Note that a row has changed; return how many have."""
    changed, is_changed = state[5], state[6]
    if not is_changed[row]:
        is_changed[row] = True
        changed[count] = row
        count += 1
    return count


@njit(cache=True)
def add_to_touching(node: Any, value: Any, sums: Any, unmarked: Any, state: Any, count: Any) -> Any:
    """Add a value to the sums of a node's active neighbours among my rows.

    Other entries are dropped from its list; return how many rows have changed.
    """
    lo, degrees, touching = state[:3]
    starts, rows, _ = touching
    kept, end = starts[node], starts[node + 1]
    for k in range(kept, end):
        row = rows[k]
        if row < 0:
            break
        if degrees[lo + row] > 0:
            sums[row] += value
            if not unmarked:
                count = mark(row, state, count)
            rows[kept] = row
            kept += 1
    if kept < end:
        rows[kept] = -1  # here the list ends from now on
    return count


@njit(cache=True)
def take_values(
    ids: Any, values: Any, known: Any, sums: Any, unmarked: Any, state: Any, count: Any
) -> Any:
    """Note new values of nodes, and add what they have gained as `add_to_touching` does."""
    for k in range(len(ids)):
        node = ids[k]
        gain = values[k] - known[node]
        known[node] = values[k]
        count = add_to_touching(node, gain, sums, unmarked, state, count)
    return count


@njit(cache=True)
def _ones(word: Any) -> Any:
    """Count the bits of a 64-bit word; compilers know this form and use one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def _lower_by_bits(node: Any, by: Any, lowered: Any, state: Any) -> None:
    """Lower the sums of my active rows by one for each lowered node they touch, and for `node`."""
    lo, degrees, touching, sums = state[0], state[1], state[2], state[4]
    bits = touching[2]
    word, bit = node >> 6, np.uint64(node & 63)
    for row in range(len(sums)):
        if degrees[lo + row] > 0:
            common = np.int64(0)
            for i in range(len(lowered)):
                common += _ones(bits[row, i] & lowered[i])
            if (bits[row, word] >> bit) & np.uint64(1):
                common += by
            sums[row] -= common


@njit(cache=True)
def remove_node(
    node: Any, neighbours: Any, candidates: Any, unmarked: Any, count: Any, state: Any
) -> Any:
    """Remove one node.

    Parameters
    ----------
    node
        Its id.
    neighbours
        Ids that hold all its active neighbours and, beside them, only nodes that have left.
    candidates
        Nodes with an edge so far.
    unmarked
        Whether changed rows are not noted.
    count
        Changed rows noted so far.
    state
        `ScalarState.arrays`.

    Returns
    -------
    candidates, count
        What they are now.
    """
    lo, degrees, touching, messages, sums = state[:5]
    factors = state[7]
    mine, own = len(sums), times(messages[degrees[node]], factors, node)
    words = touching[2].shape[1]
    lowered = np.zeros(words, np.uint64)
    if degrees[node] > 0:
        candidates -= 1
    degrees[node] = 0
    if not unmarked and lo <= node < lo + mine:
        count = mark(node - lo, state, count)
    if words == 0:
        count = add_to_touching(node, -own, sums, unmarked, state, count)
    for u in neighbours:
        if degrees[u] > 0:
            degrees[u] -= 1
            if degrees[u] == 0:
                candidates -= 1
            if words > 0:
                lowered[u >> 6] |= np.uint64(1) << np.uint64(u & 63)
                continue
            if not unmarked and lo <= u < lo + mine:
                count = mark(u - lo, state, count)
            by = times(messages[degrees[u]] - messages[degrees[u] + 1], factors, u)
            count = add_to_touching(u, by, sums, unmarked, state, count)
    if words > 0:
        _lower_by_bits(node, own, lowered, state)
    return candidates, count


@njit(cache=True)
def remove_nodes(
    nodes: Any, lengths: Any, neighbours: Any, candidates: Any, unmarked: Any, state: Any
) -> Any:
    """Remove nodes whose active neighbours stand one after another, as `remove_node` does.

    A neighbour may itself be one of the nodes that left before.
    """
    count, start = 0, 0
    for i in range(len(nodes)):
        end = start + lengths[i]
        candidates, count = remove_node(
            nodes[i], neighbours[start:end], candidates, unmarked, count, state
        )
        start = end
    return candidates, count
