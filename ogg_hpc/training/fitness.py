"""How good candidate policies are on training graphs, judged by all ranks together."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
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
from ogg_hpc.runtime.read_ahead import MEGABYTE, ReadAhead
from ogg_hpc.search.networks import NETWORKS, MessageNetwork
from ogg_hpc.search.schedule import ONE
from ogg_hpc.training.evaluation import ratio_to
from ogg_hpc.training.graphs import indexed_graphs
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
    """Objectives relative to plain heuristics, on graphs that ranks solve whole.

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
    cache
        Megabytes of prepared graphs that this rank keeps; those of stores are else read again.

    Attributes
    ----------
    largest : int
        Nodes of the largest graph.
    """

    def __init__(
        self,
        comm: Communicator,
        player: Player,
        sources: Sequence[GraphSource],
        cache: float = math.inf,
    ) -> None:
        self._comm, self._player, problem = comm, player, player.problem
        self._sets = comm.on_all(lambda: [indexed_graphs(source) for source in sources])
        self._counts = [len(graphs.sizes) for graphs in self._sets]
        self._first = np.cumsum([0, *self._counts])
        self.largest = max(int(graphs.sizes.max()) for graphs in self._sets)
        self._prepared = ReadAhead(self._prepare, _bytes, cache * MEGABYTE)
        stored = [graphs for graphs in self._sets if graphs.stored]
        most = sum(_nbytes(int(each.sizes.sum()), int(each.entries.sum())) for each in stored)
        if most <= cache * MEGABYTE:
            comm.on_all(self._prepare_all)
        baselines = player.network.baselines(self.largest)
        if baselines:
            found = self._objectives(baselines)
            best = found.max(axis=1) if problem.maximize else found.min(axis=1)
        else:
            graphs = range(self._first[-1])
            best = comm.on_all(
                lambda: np.array([_greedy(problem, graph) for graph, _ in self._in_order(graphs)])
            )
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
        found = np.zeros((self._first[-1], len(forms)))
        pairs = np.arange(self._comm.rank, found.size, self._comm.size)
        numbers = (pairs // len(forms)).tolist()
        for pair, (graph, played) in zip(pairs.tolist(), self._in_order(numbers), strict=True):
            nodes = self._player.solve(graph, played, forms[pair % len(forms)])
            found.flat[pair] = self._player.problem.objective(graph, nodes)
        total: NDArray[np.float64] = self._comm.allreduce(found)
        return total

    def _in_order(self, numbers: Sequence[int]) -> Iterator[tuple[Graph, Graph]]:
        """Yield graphs by rising numbers, and what the network sees of them.

        The next one is prepared meanwhile.
        """
        for number in numbers:
            following = bisect_right(numbers, number)
            self._prepared.expect([number, *numbers[following : following + 1]])
            yield self._prepared[number]

    def _prepare_all(self) -> None:
        for number in range(self._first[-1]):
            self._prepared[number]

    def _prepare(self, number: int) -> tuple[Graph, Graph]:
        part = int(np.searchsorted(self._first, number, side="right")) - 1
        graph = self._sets[part].read(number - int(self._first[part]))
        graph = without_unused_weights(graph, self._player.problem)
        return graph, self._player.played(graph)


def _greedy(problem: Problem, graph: Graph) -> float:
    nodes = problem.greedy(graph)
    if nodes is None:
        raise SettingsError(f"{problem.name} has no greedy heuristic to measure candidates by")
    return problem.objective(graph, nodes)


def _bytes(prepared: tuple[Graph, Graph]) -> int:
    graph, played = prepared
    held = [graph] if played is graph else [graph, played]
    return sum(_nbytes(each.n, len(each.columns)) for each in held)


def _nbytes(nodes: int, entries: int) -> int:
    """Return about what a graph takes with all that it keeps of itself."""
    return 32 * nodes + 16 * entries
