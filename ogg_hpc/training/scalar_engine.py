"""Learning structure2vec of up to two layers on vertex cover, from two integers a node.

The parameters enter after the sums over neighbours: a gradient step computes degrees and sums of
its states once, in integers, and needs no product with an adjacency forward or backward.
Environments and states are masks on lists of neighbours: of all graphs, which are held once, or,
where these do not fit in memory together, of the graphs of a batch.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, cast

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch.nn.functional import relu

from ogg_hpc.graphs.masked_sums import MaskedGraphs, in_parts
from ogg_hpc.graphs.neighbour_lists import NeighbourLists, ranges
from ogg_hpc.graphs.residual_degrees import ResidualDegrees
from ogg_hpc.policies.linear_pieces import (
    LinearPieces,
    embedding_basis,
    linear_pieces,
    piece_of,
    score,
)
from ogg_hpc.policies.policy import Policy
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.problem import Problem
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import uniform
from ogg_hpc.training.replay import Prefixes
from ogg_hpc.training.rows import TrainingRows


class ScalarEngine:
    """Environments and states in two integers a node; see `ogg_hpc.training.engine.Engine`.

    From here on, torch uses one thread in this process.

    Parameters
    ----------
    comm
        The ranks that share the graphs.
    graphs
        This rank's rows of each training graph, without weights.
    """

    name = "scalar"

    def __init__(self, comm: Communicator, graphs: TrainingRows) -> None:
        self._comm = comm
        self.sizes, self.streams = graphs.sizes, graphs.stored
        if self.streams:
            self._graphs = graphs
        else:
            blocks = [graphs[graph] for graph in range(len(graphs))]
            self._all = NeighbourLists(comm, blocks)
        self._most_bytes = 0
        # What is left to torch are arrays of B K numbers: waking threads takes longer than they do.
        torch.set_num_threads(1)

    @staticmethod
    def fits(weighted: bool, problem: Problem, policy: Policy) -> bool:
        """Return whether this engine can be used: of a class of the user's own it knows nothing."""
        return (
            type(problem) is MinimumVertexCover
            and type(policy) is Structure2Vec
            and policy.settings.layers <= 2
            and not weighted
        )

    @property
    def adjacency_bytes(self) -> int:
        """Bytes of this rank's lists, where they change of the largest so far."""
        return self._most_bytes

    def expect(self, graphs: Iterable[int]) -> None:
        """See `Engine.expect`."""
        if self.streams:
            self._graphs.expect(graphs)

    def environment(self, graph: int, chosen: NDArray[np.int64]) -> ScalarEnvironment:
        """See `Engine.environment`."""
        lists, [number] = self._lists(np.array([graph]))
        return ScalarEnvironment(lists, int(number), chosen)

    def states(self, graphs: NDArray[np.int64], prefixes: Prefixes) -> ScalarStates:
        """See `Engine.states`."""
        return ScalarStates(*self._lists(graphs), prefixes)

    def _lists(self, graphs: NDArray[np.int64]) -> tuple[NeighbourLists, NDArray[np.int64]]:
        """Return lists in which some graphs are, and their numbers there (collective)."""
        if not self.streams:
            lists, numbers = self._all, graphs
        else:
            needed, numbers = np.unique(graphs, return_inverse=True)
            blocks = [self._graphs[graph] for graph in needed.tolist()]
            lists = NeighbourLists(self._comm, blocks)
        self._most_bytes = max(self._most_bytes, lists.nbytes)
        return lists, numbers


class ScalarStates:
    """States as degrees and sums; see `ogg_hpc.training.engine.States`.

    Parameters
    ----------
    lists
        The training graphs.
    graphs
        (B,) graph of each state.
    prefixes
        Chosen nodes of each state.
    """

    def __init__(
        self, lists: NeighbourLists, graphs: NDArray[np.int64], prefixes: Prefixes
    ) -> None:
        nodes, self._chosen = prefixes
        self._lists, self._graphs = lists, graphs
        self._residual = ResidualDegrees(
            MaskedGraphs(lists, graphs), np.arange(len(graphs)).repeat(self._chosen), nodes
        )

    def after(self, prefixes: Prefixes) -> ScalarStates:
        """See `States.after`."""
        nodes, lengths = prefixes
        more = lengths - self._chosen
        later = copy.copy(self)
        later._residual = self._residual.copy()
        later.choose(
            np.arange(len(lengths)).repeat(more),
            nodes[ranges(np.cumsum(lengths) - more, more)],
        )
        return later

    def choose(self, states: NDArray[np.int64], nodes: NDArray[np.int64]) -> None:
        """Choose further nodes of some states (collective)."""
        self._residual.remove(states, nodes)
        self._chosen = self._chosen + np.bincount(states, minlength=len(self._chosen))

    def values(self, policy: Policy) -> NDArray[np.float64]:
        """See `States.values`."""
        policy = cast(Structure2Vec, policy)
        pieces = linear_pieces(policy)
        graphs, degrees, sums = self._arrays()
        units = self._units(policy)[graphs.graph]
        best = np.max(
            in_parts(
                lambda part, parts: _best(
                    graphs.masks, graphs.own, degrees, sums, units, pieces.arrays, part, parts
                ),
                len(degrees) * policy.settings.width,
            ),
            axis=0,
        )
        best = self._lists.comm.allreduce(best, "max")[graphs.position]
        with torch.no_grad():
            values = self._graph_part(policy, pieces).cpu().numpy() + best
        # As in a search, decisions are made on rounded scores.
        return np.where(np.isfinite(best), values.astype(np.float32), 0.0).astype(np.float64)

    def best(self, policy: Policy) -> NDArray[np.int64]:
        """See `States.best`."""
        policy = cast(Structure2Vec, policy)
        graphs, degrees, sums = self._arrays()
        units = self._units(policy)[graphs.graph]
        scores, rows = _best_rows(
            graphs.masks, graphs.own, degrees, sums, units, linear_pieces(policy).arrays
        )
        lo = self._lists.offsets[self._graphs, self._lists.comm.rank]
        place = graphs.position
        best, nodes, _ = self._lists.comm.best(
            scores[place][:, None], (lo + rows[place])[:, None], np.zeros(len(place))
        )
        return np.where(np.isfinite(best[:, 0]), nodes[:, 0], -1)

    def predicted(
        self, policy: Policy, actions: NDArray[np.int64]
    ) -> tuple[torch.Tensor, NDArray[np.int64]]:
        """See `States.predicted`."""
        policy = cast(Structure2Vec, policy)
        graphs, degrees, sums = self._arrays()
        mine, places = graphs.own_at(np.arange(len(actions)), actions)
        tuples = np.flatnonzero(mine)
        unit = self._units(policy)[self._graphs[tuples]]
        edge, message = embedding_basis(policy)
        embedding = relu(
            self._tensor(unit * degrees[places])[:, None] * edge
            + self._tensor(unit**2 * sums[places])[:, None] * message
        )
        graph_part = self._graph_part(policy, linear_pieces(policy))
        return graph_part[self._tensor(tuples)] + policy.preference(embedding), tuples

    def scores(self, policy: Policy) -> NDArray[np.float32]:
        """Score this rank's rows of a lone state as a search does; -inf where there is no edge."""
        policy = cast(Structure2Vec, policy)
        graphs, degrees, sums = self._arrays()
        scores = np.empty(len(degrees), np.float32)
        unit = self._units(policy)[graphs.graph[0]]
        _score_rows(degrees, sums, unit, linear_pieces(policy).arrays, scores)
        return scores

    @property
    def degrees(self) -> NDArray[Any]:
        """Residual degrees of this rank's rows."""
        return self._arrays()[1]

    def _arrays(self) -> tuple[MaskedGraphs, NDArray[Any], NDArray[Any]]:
        residual = self._residual
        return residual.graphs, residual.graphs.rows(residual.degrees), residual.sums

    def _units(self, policy: Structure2Vec) -> NDArray[np.float64]:
        """Return (graphs,) the factors of sums over neighbours."""
        units: NDArray[np.float64] = policy.settings.units(self._lists.mean_degrees)
        return units

    def _graph_part(self, policy: Structure2Vec, pieces: LinearPieces) -> torch.Tensor:
        """Return (B,) the graph-level halves of equation (2) (collective)."""
        graphs, degrees, sums = self._arrays()
        units = self._units(policy)
        totals = sum(
            in_parts(
                lambda part, parts: _totals(
                    graphs.masks,
                    graphs.own,
                    degrees,
                    sums,
                    units[graphs.graph],
                    pieces.starts,
                    part,
                    parts,
                ),
                len(degrees) * policy.settings.width,
            )
        )
        # Sums of integers: the same on every number of ranks.
        by_degree, by_sum = self._lists.comm.allreduce(totals)[:, graphs.position]
        unit = units[self._graphs, None]
        edge, message = embedding_basis(policy)
        whole = (
            self._tensor(unit * (by_degree @ pieces.positive)) * edge
            + self._tensor(unit**2 * (by_sum @ pieces.positive)) * message
            + self._tensor(self._chosen.astype(np.float64))[:, None] * relu(policy.theta1)
        )
        if policy.settings.graph_term == "mean":
            whole = whole / self._tensor(self._lists.sizes[self._graphs, None].astype(np.float64))
        return relu(whole @ policy.theta5.T) @ policy.theta7[: policy.settings.width]

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        device = self._lists.comm.device
        return device.tensor(device.from_host(array))


class ScalarEnvironment:
    """A graph being solved; see `ogg_hpc.training.engine.Environment`.

    Parameters
    ----------
    lists, graph
        The training graphs, and which of them.
    chosen
        Nodes chosen already, when an episode is taken up again.
    """

    def __init__(self, lists: NeighbourLists, graph: int, chosen: NDArray[np.int64]) -> None:
        self._comm = lists.comm
        self._lo, self._hi = lists.offsets[graph, lists.comm.rank : lists.comm.rank + 2]
        self._states = ScalarStates(lists, np.array([graph]), (chosen, np.array([len(chosen)])))

    def step(self, policy: Policy) -> tuple[int, float] | None:
        """See `Environment.step`."""
        return self._choose_best(self._states.scores(policy))

    def random_step(self, *key: int) -> tuple[int, float] | None:
        """See `Environment.random_step`."""
        random = uniform(*key, np.arange(self._lo, self._hi)).astype(np.float32)
        random[self._states.degrees == 0] = -np.inf
        return self._choose_best(random)

    def value(self, policy: Policy) -> float:
        """See `Environment.value`."""
        return float(self._states.values(policy)[0])

    def _choose_best(self, scores: NDArray[np.float32]) -> tuple[int, float] | None:
        row = int(np.argmax(scores)) if len(scores) else 0
        best, nodes, _ = self._comm.best(
            scores[row : row + 1].max(initial=-np.inf).reshape(1, 1).astype(np.float64),
            np.array([[self._lo + row]]),
            np.zeros(1),
        )
        if not np.isfinite(best[0, 0]):
            return None
        self._states.choose(np.zeros(1, np.int64), nodes[0])
        return int(nodes[0, 0]), -1.0  # a node costs one


@njit(nogil=True, cache=True)
def _totals(
    masks: Any,
    own: Any,
    degrees: Any,
    sums: Any,
    units: Any,
    starts: Any,
    part: Any,
    parts: Any,
) -> Any:
    """Sum the degrees and the sums of each mask's nodes on each piece: (2, masks, pieces)."""
    totals = np.zeros((2, masks.sum(), len(starts)))
    first = 0
    for g in range(len(masks)):
        width, unit = masks[g], units[g]
        rows = (own[g + 1] - own[g]) // width
        for row in range(rows * part // parts, rows * (part + 1) // parts):
            for j in range(width):
                k = own[g] + row * width + j
                if degrees[k] > 0:
                    piece = piece_of(unit * sums[k] / degrees[k], starts)
                    totals[0, first + j, piece] += degrees[k]
                    totals[1, first + j, piece] += sums[k]
        first += width
    return totals


@njit(nogil=True, cache=True)
def _best(
    masks: Any,
    own: Any,
    degrees: Any,
    sums: Any,
    units: Any,
    pieces: Any,
    part: Any,
    parts: Any,
) -> Any:
    """Return (masks,) the best finite score of each mask's nodes; -inf without any."""
    best = np.full(masks.sum(), -np.inf)
    first = 0
    for g in range(len(masks)):
        width, unit = masks[g], units[g]
        rows = (own[g + 1] - own[g]) // width
        for row in range(rows * part // parts, rows * (part + 1) // parts):
            for j in range(width):
                k = own[g] + row * width + j
                if degrees[k] > 0:
                    found = score(unit * degrees[k], unit * unit * sums[k], pieces)
                    if found > best[first + j] and found < np.inf:
                        best[first + j] = found
        first += width
    return best


@njit(cache=True)
def _best_rows(masks: Any, own: Any, degrees: Any, sums: Any, units: Any, pieces: Any) -> Any:
    """Return each mask's best finite rounded score and its first row; -inf without any."""
    best, rows = np.full(masks.sum(), -np.inf), np.zeros(masks.sum(), np.int64)
    first = 0
    for g in range(len(masks)):
        width, unit = masks[g], units[g]
        for row in range((own[g + 1] - own[g]) // width):
            for j in range(width):
                k = own[g] + row * width + j
                if degrees[k] > 0:
                    found = np.float32(score(unit * degrees[k], unit * unit * sums[k], pieces))
                    if found > best[first + j] and found < np.inf:
                        best[first + j], rows[first + j] = found, row
        first += width
    return best, rows


@njit(cache=True)
def _score_rows(degrees: Any, sums: Any, unit: Any, pieces: Any, scores: Any) -> None:
    for row in range(len(scores)):
        scores[row] = -np.inf
        if degrees[row] > 0:
            found = np.float32(score(unit * degrees[row], unit * unit * sums[row], pieces))
            if np.isfinite(found):
                scores[row] = found
