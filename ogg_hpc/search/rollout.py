"""A policy's solutions of one graph: by the engine that suits it, once or by several samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import RowBlock, scatter_rows
from ogg_hpc.policies.degree_messages import named_form
from ogg_hpc.policies.file import StoredPolicy
from ogg_hpc.policies.scalar_form import scalar_form
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.on_root import OnRoot
from ogg_hpc.runtime.progress import progress_bar
from ogg_hpc.runtime.stop import Stop, never
from ogg_hpc.search.approach import NO_FRONTIER, Approach
from ogg_hpc.search.networks import DEGREE_MESSAGES, has_cover_rules
from ogg_hpc.search.policy_search import Scorer, SearchResult, search
from ogg_hpc.search.samples import sampled
from ogg_hpc.search.schedule import Schedule
from ogg_hpc.search.settings import SolveSettings

OnStep = Callable[[int, NDArray[np.int64]], None]


class Run(Protocol):
    """A search that begins anew each time (collective)."""

    def __call__(self, on_step: OnStep | None, stop: Stop = never) -> SearchResult:
        """Search; see `search`."""


def rollout(
    comm: Communicator,
    host: OnRoot[Graph],
    approach: Approach,
    settings: SolveSettings,
    schedule: Schedule,
    clock: Clock,
    stop: Stop = never,
) -> tuple[SearchResult, str]:
    """Let a policy build a solution of rank 0's graph, on all ranks together (collective).

    Parameters
    ----------
    comm
        The ranks.
    host
        The graph.
    approach
        A policy, or messages with a name: no heuristic of its own.
    settings
        Engine, collectives, balance.
    schedule
        Nodes a step.
    clock
        Where setup and policy count.
    stop
        Where it holds on any rank, the search ends and the problem completes its solution. It is
        not asked if the problem cannot.

    Returns
    -------
    result, engine
        What was found, and the name of the engine that was used.
    """
    rules = approach.rules
    with clock("setup"):
        block = scatter_rows(comm, host.value, settings.balance)
        forced = host.do(rules.forced)
        run, engine = prepare(comm, block, approach, settings, schedule, forced)
    with progress_bar(comm, "solving", block.n) as show:

        def on_step(step: int, left: NDArray[np.int64]) -> None:
            show(block.n - int(left[0]), f"step {step}, {left[0]} candidates left")

        with clock("policy"):
            result = run(on_step, stop if rules.completion() else never)
            if result.partial is not None:
                [actions] = result.partial
                result.solutions = [host.do(lambda graph: rules.complete(graph, actions))]
    return result, engine


def prepare(
    comm: Communicator,
    block: RowBlock,
    approach: Approach,
    settings: SolveSettings,
    schedule: Schedule,
    forced: NDArray[np.int64],
) -> tuple[Run, str]:
    """Return what searches a graph from the start each time it is called (collective).

    Parameters
    ----------
    comm
        The ranks.
    block
        This rank's rows of the graph.
    approach
        A policy, or messages with a name: no heuristic of its own.
    settings
        Engine, collectives.
    schedule, forced
        As for `search`.

    Returns
    -------
    run, engine
        A (collective) function of `search`'s ``on_step`` and ``stop``, and the name of the engine
        that it uses.
    """
    form = comm.on_all(lambda: _form(approach, settings, block))
    if form is not None and settings.engine != "reference":
        # structure2vec in scalar form is one message a node.
        network = approach.network or DEGREE_MESSAGES
        return partial(network.search, comm, block, form, schedule, forced), "scalar"

    make_scorer: Callable[[], Scorer]
    if approach.network is not None:
        of_messages = approach.network
        make_scorer, engine = lambda: of_messages.scorer(form), "reference"
    else:
        stored = approach.stored
        assert stored is not None
        make_scorer, engine = comm.on_all(lambda: _scorer(comm, stored, settings))
    batch = GraphBatch(comm, [block], collective=settings.collective)

    def run(on_step: OnStep | None, stop: Stop = never) -> SearchResult:
        return search(batch, approach.rules, make_scorer(), schedule, forced, on_step, stop)

    return run, engine


def best_rollout(
    comm: Communicator,
    host: OnRoot[Graph],
    approach: Approach,
    settings: SolveSettings,
    schedule: Schedule,
    clock: Clock,
    stop: Stop,
) -> tuple[SearchResult, str]:
    """Let each rank build solutions alone, by policies around a stored one; return the best.

    Collective; parameters as for `rollout`. Of equally good samples the first counts, so that the
    result is the same for every number of ranks. Where `stop` holds, a rank's sample ends as a
    rollout does, and no further one is begun.
    """
    rules, stored = approach.rules, approach.stored
    assert stored is not None
    graph = comm.broadcast_object(host.value)
    assert graph is not None
    sign = -1 if rules.maximize else 1
    alone = comm.alone()

    def search_mine() -> list[tuple[float, int, SearchResult, str]]:
        whole = OnRoot(alone, lambda: graph)
        found: list[tuple[float, int, SearchResult, str]] = []
        with progress_bar(comm, "sampling", settings.samples) as show:
            for sample in range(comm.rank, settings.samples, comm.size):
                if found and stop():
                    break
                show(sample, f"sample {sample}")
                policy = replace(approach, stored=sampled(stored, settings.seed, sample))
                with comm.trace.span("sample", number=sample):
                    result, engine = rollout(alone, whole, policy, settings, schedule, clock, stop)
                value = sign * rules.objective(graph, rules.improve(graph, result.solutions[0]))
                found.append((value, sample, result, engine))
        return sorted(found, key=lambda each: each[:2])[:1]

    mine = comm.on_all(search_mine)
    best = min(each for part in comm.gather_objects([m[:2] for m in mine]) for each in part)
    [(*_, result, engine)] = comm.broadcast_object(mine, best[1] % comm.size)
    return result, engine


def _form(approach: Approach, settings: SolveSettings, block: RowBlock) -> Any:
    """Return the policy's form of messages if that is what scores, else None."""
    stored, form = approach.stored, None
    if approach.network is not None:
        refresh_above = approach.network.refresh_above
        if settings.refresh_above is not None:
            refresh_above = settings.refresh_above
        if stored is None:
            return named_form(approach.name, block.n, refresh_above)
        return approach.network.form(stored, block.n, refresh_above)
    assert stored is not None  # what scores without a file is messages
    if (
        has_cover_rules(approach.rules)
        and block.weights is None
        and settings.engine in ("auto", "scalar")
    ):
        form = scalar_form(stored, block.mean_degree)
    if settings.engine == "scalar" and form is None:
        raise SettingsError(
            "the scalar engine needs a structure2vec policy of at most two layers, the rules of "
            "vertex cover and an unweighted graph; use --engine auto"
        )
    return form


def _scorer(
    comm: Communicator, stored: StoredPolicy, settings: SolveSettings
) -> tuple[Callable[[], Scorer], str]:
    """Return what makes a scorer by a network, for one search, and the engine's name."""
    # torch takes seconds to import: only where it is needed
    from ogg_hpc.policies.scorer import PolicyScorer
    from ogg_hpc.search.frontier_engine import FrontierScorer, can_follow

    network = stored.policy(settings.policy_class).to(comm.device.name)
    # Measured on CPUs, only episodes of a step or two take longer by the frontier engine (1.4
    # times); on GPUs others do, too.
    wanted = settings.engine == "frontier" or (
        settings.engine == "auto" and comm.device.name == "cpu"
    )
    if wanted and can_follow(network):
        return lambda: FrontierScorer(network), "frontier"
    if settings.engine == "frontier":
        raise SettingsError(NO_FRONTIER)
    return lambda: PolicyScorer(network), "reference"
