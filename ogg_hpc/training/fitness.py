"""How good candidate policies are on training graphs, judged by all ranks together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.problems.graph_input import without_unused_weights
from ogg_hpc.problems.node_sets import others
from ogg_hpc.problems.problem import Problem
from ogg_hpc.problems.registry import cover_problem
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.networks import NETWORKS, MessageNetwork
from ogg_hpc.search.schedule import ONE
from ogg_hpc.training.evaluation import ratio_to
from ogg_hpc.training.graphs import whole_graphs
from ogg_hpc.training.settings import GraphSource


class Player:
    """A network that solves whole graphs on one rank, one node a step.

    Where it does not play by the problem's own rules but by those of vertex cover, it covers the
    graph whose covers are the complements of the solutions.

    Parameters
    ----------
    alone
        This rank alone.
    problem
        What is solved.
    network
        The network.

    Raises
    ------
    SettingsError
        The network plays by neither rules.
    """

    def __init__(self, alone: Communicator, problem: Problem, network: MessageNetwork) -> None:
        self._alone, self.problem, self.network = alone, problem, network
        misfit = network.misfit(problem)
        cover = cover_problem(problem)
        if misfit and (cover is None or network.misfit(cover)):
            rules = cover or problem
            fitting = [repr(each.name) for each in NETWORKS.values() if not each.misfit(rules)]
            use = " or ".join(fitting) or "method = 'q-learning'"
            raise SettingsError(f"policy = {network.name!r} {misfit}; use {use}")
        self._rules = cover if misfit and cover is not None else problem

    def played(self, graph: Graph) -> Graph:
        """Return the graph that the network is to see."""
        covered = graph if self._rules is self.problem else self.problem.as_vertex_cover(graph)
        if covered is None:
            raise SettingsError(f"a training graph of {graph.n} nodes is too large to be covered")
        return covered

    def solve(self, graph: Graph, played: Graph, form: Any) -> NDArray[np.int64]:
        """Return a solution of a graph, what is redundant removed."""
        rules = self._rules
        block, forced = row_block(played, 0, 1), rules.forced(played)
        [nodes] = self.network.search(self._alone, block, form, ONE, forced).solutions
        # Scores beyond all bounds end a search early: no candidate is worse than all nodes.
        if rules.violation(played, nodes):
            nodes = np.arange(played.n)
        else:
            nodes = rules.improve(played, nodes)
        return nodes if rules is self.problem else others(graph, nodes)


class Fitness:
    """Objectives relative to plain heuristics, on graphs that every rank holds whole.

    Rank i of P solves the pairs i, i + P, i + 2P, … of a graph and a candidate. Each objective is
    computed by one rank, so that results are the same for every P.

    Parameters
    ----------
    comm
        All ranks.
    player
        The network on this rank.
    sources
        The training graphs.

    Attributes
    ----------
    largest : int
        Nodes of the largest graph.
    """

    def __init__(self, comm: Communicator, player: Player, sources: Sequence[GraphSource]) -> None:
        self._comm, self._player, problem = comm, player, player.problem
        sets = comm.on_all(lambda: [list(whole_graphs(source)) for source in sources])
        self._counts = [len(graphs) for graphs in sets]
        self._graphs = comm.on_all(
            lambda: [without_unused_weights(graph, problem) for graphs in sets for graph in graphs]
        )
        self._played = comm.on_all(lambda: [player.played(graph) for graph in self._graphs])
        self.largest = max(graph.n for graph in self._graphs)
        baselines = player.network.baselines(self.largest)
        if baselines:
            found = self._objectives(baselines)
            best = found.max(axis=1) if problem.maximize else found.min(axis=1)
        else:
            best = comm.on_all(lambda: np.array([_greedy(problem, g) for g in self._graphs]))
        self._references = best[:, np.newaxis]

    def __call__(self, forms: Sequence[Any]) -> NDArray[np.float64]:
        """Return the mean ratio of each candidate, all sources alike (collective).

        The ratio is of its objectives to the best of the network's baselines, or to the problem's
        greedy heuristic; less is better, so when maximising it is 2 minus that.

        Parameters
        ----------
        forms
            The candidates, for graphs of up to `largest` nodes.
        """
        ratios = ratio_to(self._objectives(forms), self._references)
        if self._player.problem.maximize:
            ratios = 2 - ratios
        parts = np.split(ratios, np.cumsum(self._counts)[:-1])
        means: NDArray[np.float64] = np.mean([part.mean(axis=0) for part in parts], axis=0)
        return means

    def _objectives(self, forms: Sequence[Any]) -> NDArray[np.float64]:
        """Return (graphs, forms) objectives (collective)."""
        found = np.zeros((len(self._graphs), len(forms)))
        for pair in range(self._comm.rank, found.size, self._comm.size):
            number, form = divmod(pair, len(forms))
            graph = self._graphs[number]
            nodes = self._player.solve(graph, self._played[number], forms[form])
            found.flat[pair] = self._player.problem.objective(graph, nodes)
        total: NDArray[np.float64] = self._comm.allreduce(found)
        return total


def _greedy(problem: Problem, graph: Graph) -> float:
    nodes = problem.greedy(graph)
    if nodes is None:
        raise SettingsError(f"{problem.name} has no greedy heuristic to measure candidates by")
    return problem.objective(graph, nodes)
