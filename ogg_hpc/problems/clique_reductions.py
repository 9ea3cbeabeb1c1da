"""Exact reductions for maximum clique: the part of a graph where a larger clique may be.

In smallest-last order every clique consists of its last node and of nodes before it that are its
neighbours, no more than the degeneracy. So there is one small search a node, and what is left is
around the nodes whose search is too long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.induced import induced_subgraph
from ogg_hpc.graphs.smallest_last import smallest_last
from ogg_hpc.problems.greedy_clique import greedy_clique
from ogg_hpc.problems.problem import Reduction
from ogg_hpc.runtime.stop import Stop, never

_MOST_NODES = 1024  # before a node: a search among more is not begun
# Word operations of one search: short searches of all nodes find a large clique for long ones.
_ROUNDS = (10**4, 10**6, 10**8)
_MOST_WORK = 10**8


def reduce_cliques(graph: Graph, most_work: int = _MOST_WORK, stop: Stop = never) -> Reduction:
    """Return the kernel of a graph for maximum clique, exactly.

    Parameters
    ----------
    graph
        An undirected graph; loops do not matter.
    most_work
        Word operations of all searches together; the default takes about a second.
    stop
        Where it holds, no further round of searches is begun.

    Returns
    -------
    Reduction
        The kernel has a largest clique of the graph, and is without nodes where one was found:
        then `offset` is its size, else 0. `lift` returns it, or the largest clique found on the
        way if that of the kernel is not larger.

    Notes
    -----
    - A node in a clique of more than q nodes has core number q or more [1]_, with q first what
      `greedy_clique` finds.
    - Among the neighbours of a node that come before it in smallest-last order, a clique of q
      nodes is looked for by branch and bound: a set of nodes that are coloured with k colours has
      no clique of more than k [2]_. Where there is one, q grows; where there is none, the node is
      the last of no larger clique.
    - What is left is the q-core of the nodes whose search was too long with their neighbours
      before them, and the clique of q nodes.

    References
    ----------
    .. [1] R. A. Rossi, D. F. Gleich and A. H. Gebremedhin, "Parallel maximum clique algorithms
       with applications to network analysis", SIAM J. Scientific Computing 37, C589-C616, 2015.
    .. [2] P. San Segundo, D. Rodríguez-Losada and A. Jiménez, "An exact bit-parallel algorithm for
       the maximum clique problem", Computers & Operations Research 38, 571-581, 2011.
    """
    order, core_numbers = smallest_last(graph)
    place = np.empty(graph.n, np.int64)
    place[order] = np.arange(graph.n)
    clique = place[greedy_clique(graph)]
    offsets, before = _neighbours_before(graph.row_offsets, graph.columns, order, place)
    is_open, left = core_numbers >= len(clique), most_work
    for most in _ROUNDS:
        if stop():
            break
        clique, left = _search_all(offsets, before, core_numbers, clique, is_open, most, left)
    is_open &= core_numbers >= len(clique)
    best = np.sort(order[clique])
    if not is_open.any():
        return Reduction(induced_subgraph(graph, best[:0]), len(best), lambda nodes: best)
    around = order[_with_neighbours(offsets, before, is_open)]
    ids = np.union1d(best, _core(graph, around, len(best)))

    def lift(nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        return ids[nodes] if len(nodes) > len(best) else best

    return Reduction(induced_subgraph(graph, ids), 0, lift)


def _core(graph: Graph, nodes: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the sorted nodes of the k-core of a subgraph."""
    nodes = np.sort(nodes)
    order, core_numbers = smallest_last(induced_subgraph(graph, nodes))
    return nodes[np.sort(order[core_numbers >= k])]


@njit(cache=True)
def _neighbours_before(row_offsets: Any, columns: Any, order: Any, place: Any) -> Any:
    """Return row offsets and columns of each place's neighbours at smaller places, unsorted."""
    n = len(order)
    offsets = np.zeros(n + 1, np.int64)
    before = np.empty(len(columns) // 2, columns.dtype)
    size = 0
    for i in range(n):
        for u in columns[row_offsets[order[i]] : row_offsets[order[i] + 1]]:
            if place[u] < i:
                before[size] = place[u]
                size += 1
        offsets[i + 1] = size
    return offsets, before


@njit(cache=True)
def _with_neighbours(offsets: Any, before: Any, is_open: Any) -> Any:
    """Return the sorted places that are open or before an open neighbour."""
    wanted = is_open.copy()
    for i in range(len(is_open)):
        if is_open[i]:
            for j in before[offsets[i] : offsets[i + 1]]:
                wanted[j] = True
    return np.flatnonzero(wanted)


@njit(cache=True)
def _search_all(
    offsets: Any, before: Any, core_numbers: Any, clique: Any, is_open: Any, most: Any, left: Any
) -> Any:
    """Look before each open place for a clique that makes one larger than `clique`.

    Closes places where there is none. A search may take `most` word operations, all together what
    is left.

    Returns
    -------
    clique, left
        Places of the largest clique known, and the word operations left.
    """
    local = np.full(len(is_open), -1)  # places as numbered in one search
    for i in range(len(is_open)):
        if core_numbers[i] < len(clique) or left <= 0:
            break
        candidates = before[offsets[i] : offsets[i + 1]]
        size = len(candidates)
        if not is_open[i] or size > _MOST_NODES:
            continue
        if size < len(clique):
            is_open[i] = False
            continue
        words = (size + 63) // 64
        adjacent = np.zeros((size, words), np.uint64)
        for a in range(size):
            local[candidates[a]] = a
        for a in range(size):
            j = candidates[a]
            left -= offsets[j + 1] - offsets[j]
            for u in before[offsets[j] : offsets[j + 1]]:
                b = local[u]
                if b >= 0:
                    adjacent[a, b >> 6] |= np.uint64(1) << np.uint64(b & 63)
                    adjacent[b, a >> 6] |= np.uint64(1) << np.uint64(a & 63)
        for a in range(size):
            local[candidates[a]] = -1
        limit = min(most, left)
        found, work = _larger_clique(adjacent, len(clique) - 1, limit)
        left -= work
        is_open[i] = work > limit
        if len(found) >= len(clique):
            clique = np.empty(len(found) + 1, np.int64)
            clique[0] = i
            for a in range(len(found)):
                clique[a + 1] = candidates[found[a]]
    return clique, left


@njit(cache=True)
def _larger_clique(adjacent: Any, known: Any, most: Any) -> Any:
    """Return a largest clique, none if it has no more than `known` nodes, and the work.

    Where the work is more than `most`, it is the largest found by then.
    """
    size, words = adjacent.shape
    # By depth: the nodes that may still join, and those to branch on with their colours.
    free = np.zeros((size + 1, words), np.uint64)
    for a in range(size):
        free[0, a >> 6] |= np.uint64(1) << np.uint64(a & 63)
    order, colours = np.empty((size + 1, size), np.int32), np.empty((size + 1, size), np.int32)
    left = np.zeros(size + 1, np.int64)
    chosen, best = np.empty(size, np.int64), np.empty(0, np.int64)
    depth = 0
    left[0], work = _colour(adjacent, free[0], known, order[0], colours[0])
    while depth >= 0 and work <= most:
        left[depth] -= 1
        if left[depth] < 0 or depth + colours[depth, left[depth]] <= known:
            depth -= 1
            continue
        v = order[depth, left[depth]]
        chosen[depth] = v
        free[depth, v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))
        some = np.uint64(0)
        for word in range(words):
            free[depth + 1, word] = free[depth, word] & adjacent[v, word]
            some |= free[depth + 1, word]
        depth += 1
        if some == 0:
            left[depth] = 0
            if depth > known:
                known, best = depth, chosen[:depth].copy()
        else:
            left[depth], spent = _colour(
                adjacent, free[depth], known - depth, order[depth], colours[depth]
            )
            work += spent
    return best, work


@njit(cache=True)
def _colour(adjacent: Any, nodes: Any, enough: Any, order: Any, colours: Any) -> Any:
    """Colour nodes greedily, and list those of colours above `enough` by ascending colour.

    Returns
    -------
    listed, work
        Nodes listed, and word operations.
    """
    words = len(nodes)
    uncoloured, possible = nodes.copy(), np.empty(words, np.uint64)
    listed, work, colour = 0, 0, 0
    first = 0
    while True:
        while first < words and uncoloured[first] == 0:
            first += 1
        if first == words:
            return listed, work
        colour += 1
        possible[:] = uncoloured
        for word in range(first, words):
            while possible[word] != 0:
                bit = _lowest_bit(possible[word])
                v = 64 * word + bit
                uncoloured[word] &= ~(np.uint64(1) << np.uint64(bit))
                possible[word] &= ~(np.uint64(1) << np.uint64(bit))
                for other in range(word, words):
                    possible[other] &= ~adjacent[v, other]
                work += words - word
                if colour > enough:
                    order[listed], colours[listed] = v, colour
                    listed += 1


@njit(cache=True)
def _lowest_bit(word: Any) -> Any:
    """Return the place of the lowest set bit of an unsigned word that is not 0."""
    bit = 0
    for half in (32, 16, 8, 4, 2, 1):
        if word & ((np.uint64(1) << np.uint64(half)) - np.uint64(1)) == 0:
            word >>= np.uint64(half)
            bit += half
    return bit
