"""Policies of messages: which rules each network plays by, and what searches by its scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.policies import coverage_messages, cut_messages, degree_messages
from ogg_hpc.policies.file import StoredPolicy
from ogg_hpc.policies.scalar_form import ScalarForm, inverse_degree_form
from ogg_hpc.problems.maximum_cut import MaximumCut
from ogg_hpc.problems.minimum_dominating_set import MinimumDominatingSet
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.problem import Problem
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.stop import Stop, never
from ogg_hpc.search.policy_search import Scorer, SearchResult
from ogg_hpc.search.schedule import Schedule


class MessageNetwork(ABC):
    """A network of few parameters whose scores are sums of messages in fixed point.

    It needs no torch. Its parameters become a form, tables for graphs of up to a number of nodes,
    and two engines score by it: plain array operations, and one whose steps cost what they change.

    Attributes
    ----------
    name
        What parameter files and training settings call it.
    parameters
        Length of each parameter array, in the order in which evolution strategies learn them.
    start
        A plain heuristic, as parameters one after another: where evolution strategies start.
    refresh_above
        The share by which a message moves before it is sent anew, by default.
    """

    name: ClassVar[str]
    parameters: ClassVar[dict[str, int]]
    start: ClassVar[tuple[float, ...]]
    refresh_above: ClassVar[float] = 0.05

    @abstractmethod
    def misfit(self, problem: Problem) -> str | None:
        """Return why it does not play by a problem's rules, None where it does."""

    def form(self, stored: StoredPolicy, n: int, refresh_above: float | None = None) -> Any:
        """Return the tables of a stored policy.

        Parameters
        ----------
        stored
            The parameter file.
        n
            Largest number of nodes of a graph.
        refresh_above
            A message is sent anew when it has moved by more than this share; 0 for always, None
            for the network's default.

        Raises
        ------
        InputError
            Parameters that do not fit.
        """
        return self._form(stored, n, self.refresh_above if refresh_above is None else refresh_above)

    @abstractmethod
    def _form(self, stored: StoredPolicy, n: int, refresh_above: float) -> Any:
        """Return the tables; see `form`."""

    @abstractmethod
    def scorer(self, form: Any) -> Scorer:
        """Return what scores by array operations on whole batches: the reference."""

    @abstractmethod
    def search(
        self,
        comm: Communicator,
        block: RowBlock,
        form: Any,
        schedule: Schedule,
        forced: NDArray[np.int64],
        on_step: Callable[[int, NDArray[np.int64]], None] | None = None,
        stop: Stop = never,
    ) -> SearchResult:
        """Do what `policy_search.search` does by this network's rules, fast (collective)."""

    def baselines(self, n: int) -> Sequence[Any]:
        """Return forms of heuristics to compare candidates with, for graphs of up to n nodes.

        Without any, the problem's greedy heuristic serves.
        """
        return ()

    def parameter_arrays(self, numbers: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Split the parameters one after another into arrays by name."""
        ends = np.cumsum(list(self.parameters.values()))
        return dict(zip(self.parameters, np.split(numbers, ends[:-1]), strict=True))


class DegreeMessages(MessageNetwork):
    """Functions of residual degrees, by the rules of vertex cover; see `degree_messages`."""

    name = degree_messages.NETWORK
    parameters: ClassVar = {
        name: len(array) for name, array in degree_messages.TWO_MESSAGES.items()
    }
    start: ClassVar[tuple[float, ...]] = degree_messages.INVERSE_DEGREE

    def misfit(self, problem: Problem) -> str | None:
        """See `MessageNetwork.misfit`."""
        if not has_cover_rules(problem):
            return f"finds vertex covers by their own rules, not {problem.name}"
        if problem.uses_weights or problem.uses_node_weights:
            return "counts neighbours and reads no weights"
        return None

    def _form(
        self, stored: StoredPolicy, n: int, refresh_above: float
    ) -> ScalarForm | degree_messages.TwoMessageForm:
        return degree_messages.message_form(stored, n, refresh_above)

    def scorer(self, form: Any) -> Scorer:
        """See `MessageNetwork.scorer`."""
        return degree_messages.MessageScorer(form)

    def search(
        self,
        comm: Communicator,
        block: RowBlock,
        form: Any,
        schedule: Schedule,
        forced: NDArray[np.int64],
        on_step: Callable[[int, NDArray[np.int64]], None] | None = None,
        stop: Stop = never,
    ) -> SearchResult:
        """See `MessageNetwork.search`."""
        from ogg_hpc.search.scalar_search import scalar_search

        return scalar_search(comm, block, form, schedule, forced, on_step, stop)

    def baselines(self, n: int) -> Sequence[Any]:
        """Return inverse-degree greedy of three exponents."""
        return [inverse_degree_form(n, exponent) for exponent in (1.25, 1.5, 2.0)]


class CoverageMessages(MessageNetwork):
    """Functions of spans, by the rules of dominating sets; see `coverage_messages`."""

    name = coverage_messages.NETWORK
    parameters: ClassVar = coverage_messages.PARAMETERS
    start = (1.0, 0.0, 0.0)  # greedy by the largest new coverage

    def misfit(self, problem: Problem) -> str | None:
        """See `MessageNetwork.misfit`."""
        if _has_rules(problem, MinimumDominatingSet):
            return None
        return f"finds dominating sets by their own rules, not {problem.name}"

    def _form(
        self, stored: StoredPolicy, n: int, refresh_above: float
    ) -> coverage_messages.CoverageForm:
        return coverage_messages.stored_coverage_form(stored, n, refresh_above)

    def scorer(self, form: Any) -> Scorer:
        """See `MessageNetwork.scorer`."""
        return coverage_messages.CoverageScorer(form)

    def search(
        self,
        comm: Communicator,
        block: RowBlock,
        form: Any,
        schedule: Schedule,
        forced: NDArray[np.int64],
        on_step: Callable[[int, NDArray[np.int64]], None] | None = None,
        stop: Stop = never,
    ) -> SearchResult:
        """See `MessageNetwork.search`; always on the host."""
        from ogg_hpc.search.coverage_engine import CoverageEngine
        from ogg_hpc.search.scalar_search import search_by

        engine = CoverageEngine(comm, block, form, schedule.resolved(block.n), forced)
        return search_by(comm, engine, forced, "cpu", on_step, stop)


class WeightedDegreeMessages(DegreeMessages):
    """Functions of residual degrees and of weights of nodes, by the rules of vertex cover."""

    name = degree_messages.WEIGHTED_NETWORK
    parameters: ClassVar = {**DegreeMessages.parameters, "weights": 3}
    # Inverse-degree greedy, whose messages are as heavy as their nodes, by weight.
    start = (*DegreeMessages.start, 1.0, 0.0, -1.0)

    def misfit(self, problem: Problem) -> str | None:
        """See `MessageNetwork.misfit`."""
        if not has_cover_rules(problem) or problem.uses_weights:
            return f"finds weighted vertex covers by their own rules, not {problem.name}"
        return None

    def baselines(self, n: int) -> Sequence[Any]:
        """Return none: the problem's greedy heuristic serves."""
        return ()


class CutMessages(MessageNetwork):
    """Tentative sides, by the rules of maximum cut; see `cut_messages`."""

    name = cut_messages.NETWORK
    parameters: ClassVar = cut_messages.PARAMETERS
    start = (0.0, 0.5, 0.0, 0.0, 0.0, 0.0)  # plain mean-field equations
    refresh_above = 0.02  # hubs hear many small moves

    def misfit(self, problem: Problem) -> str | None:
        """See `MessageNetwork.misfit`."""
        if _has_rules(problem, MaximumCut):
            return None
        return f"places nodes on sides by the rules of maximum cut, not {problem.name}"

    def _form(
        self, stored: StoredPolicy, n: int, refresh_above: float
    ) -> cut_messages.CutMessageForm:
        return cut_messages.cut_message_form(stored, refresh_above)

    def scorer(self, form: Any) -> Scorer:
        """See `MessageNetwork.scorer`."""
        return cut_messages.CutMessageScorer(form)

    def search(
        self,
        comm: Communicator,
        block: RowBlock,
        form: Any,
        schedule: Schedule,
        forced: NDArray[np.int64],
        on_step: Callable[[int, NDArray[np.int64]], None] | None = None,
        stop: Stop = never,
    ) -> SearchResult:
        """See `MessageNetwork.search`; the rules force no node and allow one a step."""
        from ogg_hpc.search.cut_engine import cut_search

        return cut_search(comm, block, form, on_step, stop)


DEGREE_MESSAGES = DegreeMessages()
NETWORKS: dict[str, MessageNetwork] = {
    network.name: network
    for network in (
        DEGREE_MESSAGES,
        WeightedDegreeMessages(),
        CoverageMessages(),
        CutMessages(),
    )
}


def has_cover_rules(problem: Problem) -> bool:
    """Return whether a step's rules are those of vertex cover, which scalar engines follow."""
    return _has_rules(problem, MinimumVertexCover)


def _has_rules(problem: Problem, of: type[Problem]) -> bool:
    """Return whether a step's rules are those of a problem: a subclass may have others."""
    own = type(problem)
    return isinstance(problem, of) and own.candidates is of.candidates and own.choose is of.choose
