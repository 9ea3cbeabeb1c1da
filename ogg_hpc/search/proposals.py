"""The nodes of a step, on a lone rank or over many: mostly by one message of each.

A rank sends whether it is to stop, its d best (score, id) pairs and, as far as there is room, the
listed neighbours of these nodes. All ranks know all degrees, so they know without a word how long
each list is and which are there. Only where a chosen node's list did not fit, the lists go round
once more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.search.ranking import Ranking, nodes_of_step, put_back, take
from ogg_hpc.search.scalar_state import Neighbours, ScalarState, is_widespread
from ogg_hpc.search.tournament import row_of

# Neighbours that a message has room for: what a node of a sparse graph has, and few bytes.
_ROOM, _ROOM_PER_NODE = 48, 16


def message_bytes(d: int) -> int:
    """Return the bytes of a rank's message in a step of d nodes."""
    return 8 * (1 + d) + 4 * _room(d)


def _room(d: int) -> int:
    """Return the number of neighbours that it has room for, which is even."""
    return _ROOM + _ROOM_PER_NODE * d


class Proposals:
    """The nodes that a step removes, over all ranks.

    Parameters
    ----------
    state
        The residual graph.
    ranking
        This rank's rows by score.
    """

    def __init__(self, state: ScalarState, ranking: Ranking) -> None:
        self._state, self._ranking = state, ranking
        self._once = np.ones(state.comm.size, np.int64)

    def best(self, d: int, stop: bool) -> tuple[NDArray[np.int64], Neighbours] | None:
        """Find the best d nodes with finite scores and their neighbours (collective).

        Parameters
        ----------
        d
            How many.
        stop
            Whether this rank is asked to stop.

        Returns
        -------
        chosen
            Ids of the nodes, best first.
        neighbours
            As `ScalarState.neighbours` returns them.

        None where any rank is asked to stop.
        """
        state, size = self._state, self._state.comm.size
        room = _room(d)
        message = np.zeros((1, message_bytes(d) // 8), np.int64)
        keys, lists = message[0, 1 : 1 + d], message[0, 1 + d :].view(np.int32)
        message[0, 0] = stop
        taken = _propose(
            keys,
            lists,
            state.lo,
            state.degrees,
            state.listed,
            state.block.row_offsets,
            state.block.columns,
            self._ranking.arrays,
        )
        everyone = state.comm.allgatherv(message, self._once)
        if everyone[:, 0].any():
            return None
        chosen, nodes = np.empty(d, np.int64), np.empty(d, np.int64)
        lengths, listed = np.empty(d, np.int32), np.empty(size * room, np.int32)
        all_keys = everyone[:, 1 : 1 + d]
        all_lists = np.ascontiguousarray(everyone[:, 1 + d :]).view(np.int32)
        count, total = _merge(all_keys, all_lists, state.degrees, chosen, nodes, lengths, listed)
        nodes = nodes[:count]
        _put_back_beaten(keys[:taken], nodes, state.lo, self._ranking.arrays)
        if total < 0:
            return chosen[:count], state.neighbours(nodes)
        return chosen[:count], (nodes, lengths[:count], listed[:total])


@njit(cache=True)
def choose_alone(
    table: Any, candidates: Any, keys: Any, nodes: Any, own: Any, ranking: Any, state: Any
) -> Any:
    """Choose the nodes of a lone rank's step.

    Parameters
    ----------
    table
        The schedule.
    candidates
        Nodes with an edge.
    keys
        Room for those of the most nodes of a step.
    nodes
        Where their ids go, best first.
    own
        Row offsets and columns of the block.
    ranking, state
        What `Ranking` and `ScalarState` share.

    Returns
    -------
    taken, unmarked
        How many nodes, none at the end; whether to remove them is widespread.
    """
    row_offsets, columns = own
    taken = take(keys[: nodes_of_step(table, candidates, len(row_offsets) - 1)], ranking)
    unmarked = False
    for i in range(taken):
        node = row_of(keys[i])
        nodes[i] = node
        neighbours = columns[row_offsets[node] : row_offsets[node + 1]]
        unmarked = unmarked or is_widespread(neighbours, state)
    return taken, unmarked


@njit(cache=True)
def _propose(
    keys: Any,
    lists: Any,
    lo: Any,
    degrees: Any,
    listed: Any,
    row_offsets: Any,
    columns: Any,
    ranking: Any,
) -> Any:
    """Take my best rows, write their keys by id and the lists that fit; return how many."""
    taken = take(keys, ranking)
    filled = 0
    fits = True
    for i in range(taken):
        row = row_of(keys[i])
        keys[i] -= lo
        fits = fits and filled + degrees[lo + row] <= len(lists)
        if fits:
            for k in range(row_offsets[row], row_offsets[row + 1]):
                if listed[columns[k]] > 0:
                    lists[filled] = columns[k]
                    filled += 1
    return taken


@njit(cache=True)
def _merge(
    keys: Any, lists: Any, degrees: Any, chosen: Any, nodes: Any, lengths: Any, neighbours: Any
) -> Any:
    """Write the best nodes of all ranks, best first and by id, and by id their lists.

    Returns
    -------
    count, total
        Numbers of nodes and of neighbours; -1 for the second if a list is missing.
    """
    size, d = keys.shape
    by_key = np.sort(keys.copy().reshape(-1))[::-1]
    lowest = max(1, by_key[d - 1])
    count = total = 0
    complete = True
    starts = np.zeros(d + 1, np.int64)
    for rank in range(size):  # ranks own ascending ids
        taken = 0
        while taken < d and keys[rank, taken] >= lowest:
            node = row_of(keys[rank, taken])
            nodes[count + taken] = node
            starts[taken + 1] = starts[taken] + degrees[node]
            taken += 1
        complete = complete and starts[taken] <= lists.shape[1]
        order = np.argsort(nodes[count : count + taken])
        part = nodes[count : count + taken][order]
        for i in range(taken):
            nodes[count] = part[i]
            length = degrees[part[i]]
            lengths[count] = length
            if complete:
                start = starts[order[i]]
                neighbours[total : total + length] = lists[rank, start : start + length]
                total += length
            count += 1
    for i in range(count):
        chosen[i] = row_of(by_key[i])
    return count, total if complete else -1


@njit(cache=True)
def _put_back_beaten(keys: Any, nodes: Any, lo: Any, ranking: Any) -> None:
    """Undo the taking of rows that other ranks' nodes have beaten."""
    beaten = 0
    for key in keys:
        place = np.searchsorted(nodes, row_of(key))
        if place == len(nodes) or nodes[place] != row_of(key):
            keys[beaten] = key + lo
            beaten += 1
    put_back(keys[:beaten], ranking)
