"""How good a policy is on held-out graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import RowBlock, row_block
from ogg_hpc.policies.file import StoredPolicy
from ogg_hpc.policies.policy import Policy
from ogg_hpc.policies.scalar_form import scalar_form
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.problems.graph_input import without_unused_weights
from ogg_hpc.problems.problem import Problem
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.networks import DEGREE_MESSAGES, NETWORKS
from ogg_hpc.search.policy_search import search
from ogg_hpc.search.schedule import ONE
from ogg_hpc.training.graphs import whole_graphs
from ogg_hpc.training.scalar_engine import ScalarEngine
from ogg_hpc.training.settings import GraphSource

# Graphs of this size are solved one by one; smaller ones, together, in fewer steps.
_LARGE = 100


@dataclass
class HeldOut:
    """One set of held-out graphs; a group of ranks solves every G-th of them.

    Attributes
    ----------
    mine : list of int
        Which graphs this group solves.
    comm : Communicator
        The ranks of the group.
    blocks : list of RowBlock
        This rank's rows of them.
    collective : str
        How neighbour sums cross ranks.
    graphs : list of Graph
        All graphs of the set, whole.
    references : (graphs,) float64
        The objectives that results are divided by.
    kind : str
        What they are: ``optimum``, ``greedy`` or ``first policy``.
    """

    mine: list[int]
    comm: Communicator
    blocks: list[RowBlock]
    collective: str
    graphs: list[Graph]
    references: NDArray[np.float64]
    kind: str

    @cached_property
    def batch(self) -> GraphBatch:
        """The blocks, to be solved together."""
        return GraphBatch(self.comm, self.blocks, collective=self.collective)


Solve = Callable[[HeldOut], list[NDArray[np.int64]]]


class Evaluation:
    """Mean objective ratios on held-out graphs, solved one node a step.

    Results are divided by the optimum where graphs are so small that it is found at once, else
    by the problem's greedy heuristic, else by what the first evaluated policy found.

    Parameters
    ----------
    world
        All ranks.
    comm, group, groups
        The ranks of this rank's group, its number, and how many groups there are.
    problem
        What is solved.
    sources
        The held-out graphs; every rank holds all of them whole.
    collective, balance
        As in training.
    """

    def __init__(
        self,
        world: Communicator,
        comm: Communicator,
        group: int,
        groups: int,
        problem: Problem,
        sources: Sequence[GraphSource],
        collective: str,
        balance: str,
    ) -> None:
        self.world, self.comm, self.problem = world, comm, problem
        self._sets: dict[str, HeldOut] = {}
        for source in sources:
            graphs = list(whole_graphs(source))
            graphs = [without_unused_weights(graph, problem) for graph in graphs]
            mine = list(range(group, len(graphs), groups))
            blocks = [row_block(graphs[i], comm.rank, comm.size, balance) for i in mine]
            name = source.name
            while name in self._sets:
                name += "'"
            self._sets[name] = HeldOut(
                mine, comm, blocks, collective, graphs, *_references(problem, graphs)
            )

    def ratios(self, policy: Policy) -> dict[str, float]:
        """Return the mean ratio of each set by a network; see `ratios_of` (collective)."""
        return self.ratios_of(lambda held_out: self._solutions(held_out, policy))

    def ratios_of(self, solve: Solve) -> dict[str, float]:
        """Return the mean ratio of each set (collective).

        A ratio is oriented so that smaller is better: objective over reference when minimising,
        reference over objective when maximising.

        Parameters
        ----------
        solve
            Returns solutions of this group's graphs of a set; collective in the group.
        """
        result = {}
        for name, held_out in self._sets.items():
            objectives = self._objectives(held_out, solve)
            if held_out.kind == "first policy" and np.isnan(held_out.references).all():
                held_out.references = objectives
            ratio = ratio_to(objectives, held_out.references)
            result[name] = float(np.mean(1 / ratio if self.problem.maximize else ratio))
        return result

    def first_objectives(self) -> dict[str, list[float]]:
        """Return what the first policy found, of the sets whose results are divided by that."""
        return {
            name: held_out.references.tolist()
            for name, held_out in self._sets.items()
            if held_out.kind == "first policy"
        }

    def restore(self, first_objectives: dict[str, list[float]]) -> None:
        """Take over what `first_objectives` returned before the run was interrupted."""
        for name, references in first_objectives.items():
            self._sets[name].references = np.array(references)

    def kinds(self) -> dict[str, str]:
        """Return what each set's results are divided by."""
        return {name: held_out.kind for name, held_out in self._sets.items()}

    def _objectives(self, held_out: HeldOut, solve: Solve) -> NDArray[np.float64]:
        found = np.zeros(len(held_out.graphs))
        if held_out.mine:
            solutions = solve(held_out)
            if self.comm.rank == 0:
                for i, nodes in zip(held_out.mine, solutions, strict=True):
                    graph = held_out.graphs[i]
                    forced = np.setdiff1d(self.problem.forced(graph), nodes)
                    best = self.problem.improve(graph, np.concatenate([forced, nodes]))
                    found[i] = self.problem.objective(graph, best)
        total: NDArray[np.float64] = self.world.allreduce(found)
        return total

    def _solutions(self, held_out: HeldOut, policy: Policy) -> list[NDArray[np.int64]]:
        """Solve this group's graphs, as fast as a solve would."""
        blocks = held_out.blocks
        arrays = {name: value.cpu().numpy() for name, value in policy.state_dict().items()}
        stored = StoredPolicy(Path(), policy.name, policy.describe(), arrays, self.problem.name, {})
        network = NETWORKS.get(policy.name)
        large = np.mean([block.n for block in blocks]) >= _LARGE
        weighted = any(block.weights is not None for block in blocks)
        fits = ScalarEngine.fits(weighted, self.problem, policy)
        if network is None and not (large and fits):
            return search(held_out.batch, self.problem, PolicyScorer(policy)).solutions
        solutions = []
        for block in blocks:
            if network is not None:
                form = network.form(stored, block.n)
            else:
                form = scalar_form(stored, block.mean_degree)
            by = network or DEGREE_MESSAGES  # structure2vec in scalar form is one message a node
            none = np.empty(0, np.int64)
            solutions += by.search(self.comm, block, form, ONE, none).solutions
        return solutions


def _references(problem: Problem, graphs: Sequence[Graph]) -> tuple[NDArray[np.float64], str]:
    optima = [problem.optimum(graph) for graph in graphs]
    if all(value is not None for value in optima):
        return np.array(optima, np.float64), "optimum"
    values = []
    for graph in graphs:
        nodes = problem.greedy(graph)
        if nodes is None:
            return np.full(len(graphs), np.nan), "first policy"
        values.append(problem.objective(graph, nodes))
    return np.array(values), "greedy"


def ratio_to(
    objectives: NDArray[np.float64], references: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Divide, with 0 / 0 = 1: a graph without edges is solved exactly by nothing."""
    both_zero = (objectives == 0) & (references == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(both_zero, 1.0, objectives / references)
