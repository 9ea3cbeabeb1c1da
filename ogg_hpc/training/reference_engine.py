"""Learning by products of adjacency blocks with embeddings: any problem, any policy, any device."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.policies.policy import Policy
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.problems.problem import PartialSolution, Problem
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import uniform
from ogg_hpc.search.policy_search import Scorer, chosen_mask, select, start_solution
from ogg_hpc.training.replay import Prefixes
from ogg_hpc.training.rows import TrainingRows


class ReferenceEngine:
    """Environments and states as masks on a `GraphBatch`; see `ogg_hpc.training.engine.Engine`.

    Parameters
    ----------
    comm
        The ranks that share the graphs.
    graphs
        This rank's rows of each training graph.
    problem
        The rules.
    collective
        How neighbour sums cross ranks.
    """

    name = "reference"

    def __init__(
        self,
        comm: Communicator,
        graphs: TrainingRows,
        problem: Problem,
        collective: str = "allgather",
    ) -> None:
        self._comm, self._graphs, self._problem = comm, graphs, problem
        self._collective = collective
        self.sizes = graphs.sizes
        self.streams = graphs.stored
        self._most_bytes = 0

    @property
    def adjacency_bytes(self) -> int:
        """Bytes of the largest batch so far."""
        return self._most_bytes

    def expect(self, graphs: Iterable[int]) -> None:
        """See `Engine.expect`."""
        self._graphs.expect(graphs)

    def environment(self, graph: int, chosen: NDArray[np.int64]) -> ReferenceEnvironment:
        """See `Engine.environment`."""
        return ReferenceEnvironment(self._batch([graph], 1), self._problem, chosen)

    def states(self, graphs: NDArray[np.int64], prefixes: Prefixes) -> ReferenceStates:
        """See `Engine.states`.

        States of one graph are masks on it, so that its adjacency is read once for all of them.
        """
        copies = 1
        if (graphs == graphs[0]).all():
            graphs, copies = graphs[:1], len(graphs)
        return ReferenceStates(self._batch(graphs.tolist(), copies), self._problem, prefixes)

    def _batch(self, graphs: Sequence[int], copies: int) -> GraphBatch:
        blocks = {graph: self._graphs[graph] for graph in dict.fromkeys(graphs)}
        repeated = [blocks[graph] for graph in graphs]
        batch = GraphBatch(self._comm, repeated, copies, self._collective)
        self._most_bytes = max(self._most_bytes, batch.adjacency_bytes)
        return batch


class ReferenceStates:
    """One state for each group of a batch; see `ogg_hpc.training.engine.States`.

    Parameters
    ----------
    batch
        The graphs.
    problem
        The rules.
    prefixes
        Chosen actions of each group.
    """

    def __init__(self, batch: GraphBatch, problem: Problem, prefixes: Prefixes) -> None:
        self._batch, self._problem = batch, problem
        actions, lengths = prefixes
        graphs, copies = np.divmod(np.arange(batch.groups).repeat(lengths), batch.copies)
        self.solution = start_solution(batch)
        chosen = chosen_mask(batch, problem, graphs, actions, copies)
        problem.choose(self.solution, chosen, batch)

    def after(self, prefixes: Prefixes) -> ReferenceStates:
        """See `States.after`."""
        return ReferenceStates(self._batch, self._problem, prefixes)

    def values(self, policy: Policy) -> NDArray[np.float64]:
        """See `States.values`."""
        return _values(policy, self._batch, self._problem, self.solution)

    def best(self, policy: Policy) -> NDArray[np.int64]:
        """See `States.best`."""
        degrees, scores = PolicyScorer(policy)(self._batch, self.solution)
        candidates = self._problem.candidates(self.solution, degrees, self._batch)
        states, nodes, *_ = select(self._batch, scores, candidates)
        best = np.full(self._batch.groups, -1)
        best[states] = nodes
        return best

    def predicted(
        self, policy: Policy, actions: NDArray[np.int64]
    ) -> tuple[torch.Tensor, NDArray[np.int64]]:
        """See `States.predicted`."""
        batch = self._batch
        graphs, copies = np.divmod(np.arange(batch.groups), batch.copies)
        rows = batch.positions(graphs, actions // self._problem.sides) - batch.lo
        mine = np.flatnonzero((rows >= 0) & (rows < batch.hi - batch.lo))
        on_device = batch.comm.device.from_host
        at = on_device(rows[mine]), on_device(copies[mine])
        return policy(batch, self.solution, at=at), mine


class ReferenceEnvironment:
    """A graph being solved; see `ogg_hpc.training.engine.Environment`.

    Parameters
    ----------
    batch
        The graph.
    problem
        The rules.
    chosen
        Actions chosen already, when an episode is taken up again.
    """

    def __init__(self, batch: GraphBatch, problem: Problem, chosen: NDArray[np.int64]) -> None:
        self._batch, self._problem = batch, problem
        self.solution = start_solution(batch)
        problem.choose(self.solution, self._mask(chosen), batch)

    def step(self, policy: Policy) -> tuple[int, float] | None:
        """See `Environment.step`."""
        return self._step(PolicyScorer(policy))

    def random_step(self, *key: int) -> tuple[int, float] | None:
        """See `Environment.random_step`."""
        return self._step(_RandomScorer(key))

    def value(self, policy: Policy) -> float:
        """See `Environment.value`."""
        return float(_values(policy, self._batch, self._problem, self.solution)[0])

    def _step(self, scorer: Scorer) -> tuple[int, float] | None:
        batch, problem = self._batch, self._problem
        degrees, scores = scorer(batch, self.solution)
        candidates = problem.candidates(self.solution, degrees, batch)
        scores = problem.action_scores(scores, self.solution, batch)
        actions = select(batch, scores, candidates).actions
        if not len(actions):
            return None
        chosen = self._mask(actions)
        reward = float(problem.reward(self.solution, chosen, batch)[0, 0])
        problem.choose(self.solution, chosen, batch)
        return int(actions[0]), reward

    def _mask(self, actions: NDArray[np.int64]) -> Any:
        graphs = np.zeros_like(actions)
        return chosen_mask(self._batch, self._problem, graphs, actions, 0)


class _RandomScorer:
    """Scores nodes by a hash of their ids: the best of them is a uniform random choice."""

    residual = True

    def __init__(self, key: tuple[int, ...]) -> None:
        self._key = key

    def __call__(self, batch: GraphBatch, solution: PartialSolution) -> tuple[Any, Any]:
        random = uniform(*self._key, batch.node_of[batch.lo : batch.hi])
        return batch.degrees(solution.active), batch.comm.device.from_host(random[:, None])


def _values(
    policy: Policy, batch: GraphBatch, problem: Problem, solution: PartialSolution
) -> NDArray[np.float64]:
    degrees = batch.degrees(solution.active)
    candidates = problem.candidates(solution, degrees, batch)
    device = batch.comm.device
    with torch.no_grad():
        scores = device.to_host(device.array(policy(batch, solution, degrees=degrees)))
    inside = device.to_host(candidates)
    best = np.full(batch.groups, -np.inf)
    scores = scores.astype(np.float32)  # as in a search: decisions are made on rounded scores
    np.maximum.at(best, batch.local(batch.group_of)[inside], scores[inside])
    best = batch.comm.allreduce(best, "max")
    return np.where(np.isfinite(best), best, 0.0)
