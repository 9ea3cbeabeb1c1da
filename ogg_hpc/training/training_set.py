"""Training sets: many random graphs with their best objectives, made by all ranks together.

A folder of shards that `ogg-hpc train` reads graph by graph. Each rank makes shards of its own.
What a shard holds is a function of the settings alone, but where a time limit has cut a solver
short: then the objective is what it had found, and is not marked as proven.
"""

from __future__ import annotations

import bisect
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import (
    MANIFEST,
    GraphStore,
    Objective,
    Shard,
    SolvedGraph,
    shard_name,
    write_manifest,
    write_store,
)
from ogg_hpc.problems.graph_input import without_unused_weights
from ogg_hpc.problems.problem import Problem
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.runtime.clock import Clock, over_ranks
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.environment import versions
from ogg_hpc.runtime.files import read_json, remove_leftovers, write_json
from ogg_hpc.runtime.progress import progress_bar
from ogg_hpc.search.methods import Method, Search, exact_method
from ogg_hpc.search.settings import SolveSettings
from ogg_hpc.training.folder import differences
from ogg_hpc.training.graphs import generated
from ogg_hpc.training.set_settings import SEARCH, TrainingSetSettings

SETTINGS = "training_set.json"
RECORD = "record.json"
FORMAT = "ogg-hpc-training-set/1"


def make_training_set(
    comm: Communicator, settings: TrainingSetSettings, folder: Path
) -> dict[str, Any]:
    """Make a training set, or go on with one (collective).

    Rank i of P makes shards i, i + P, i + 2P, … Finished ones are kept, also on other numbers of
    ranks. The manifest, which makes the folder one that can be read, is written last.

    Parameters
    ----------
    comm
        All ranks.
    settings
        The training set.
    folder
        Created when missing; beside the shards it gets ``training_set.json`` with the settings and
        ``record.json``.

    Returns
    -------
    dict
        The content of ``record.json``: graphs, nodes and edges by family, objectives known and
        proven, seconds. Of a training set that was finished before, it is that of then.

    Raises
    ------
    SettingsError
        Settings that cannot be, or the folder holds other graphs.
    OggError
        A solver that is missing or fails, or files that cannot be written.
    """
    started = time.perf_counter()
    plan = _Plan(settings, folder)
    clock = Clock(comm, "generate", "solve", "write")
    finished_before = comm.on_root(plan.begin)
    if finished_before is not None:
        return dict(finished_before)
    solvers = comm.on_all(lambda: _Solvers(comm.alone(), settings))
    mine = range(comm.rank, plan.shards, comm.size)

    def make() -> dict[int, _Finished]:
        found: dict[int, _Finished] = {}
        with progress_bar(comm, "making a training set", len(mine)) as show:
            for number in mine:
                show(len(found), shard_name(number))
                kept = plan.is_finished(number)
                if not kept:
                    with clock("write"):
                        graphs = plan.solved_graphs(number, solvers, clock)
                        write_store(plan.path(number), graphs, plan.attributes)
                found[number] = _Finished(Shard.of(plan.path(number)), kept, plan.summary(number))
        return found

    finished: dict[int, _Finished] = {}
    for of_rank in comm.gather_objects(comm.on_all(make)):
        finished |= of_rank
    in_order = [finished[number] for number in range(plan.shards)]
    record = {
        "folder": str(folder),
        "graphs": plan.graphs,
        "shards": plan.shards,
        "shards_kept": sum(each.kept for each in in_order),
        "families": plan.families([each.summary for each in in_order]),
        "ranks": comm.size,
        "seconds": time.perf_counter() - started,
        "phases": over_ranks(comm, clock.report()),
        "versions": versions(),
    }

    def complete() -> None:
        write_json(folder / RECORD, record)
        write_manifest(folder, [each.shard for each in in_order], plan.attributes)

    comm.on_root(complete)
    return record


@dataclass(frozen=True)
class _Finished:
    """A shard that is there: its line in the manifest, whether it was before, what it holds."""

    shard: Shard
    kept: bool
    summary: dict[int, Any]


class _Plan:
    """Which graph is in which shard, and what the folder is to hold."""

    def __init__(self, settings: TrainingSetSettings, folder: Path) -> None:
        self._settings, self._folder = settings, folder
        # Of each family the number of its first graph, and of all graphs.
        self._first = [0, *accumulate(source.count for source in settings.graphs)]
        self.graphs = self._first[-1]
        self.shards = -(-self.graphs // settings.graphs_per_shard)

    @cached_property
    def content(self) -> dict[str, Any]:
        """The settings as plain values."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self._settings)))
        return {"format": FORMAT, **plain}

    @property
    def attributes(self) -> dict[str, str]:
        """What the shards and the manifest say of where they are from."""
        return {"training_set": json.dumps(self.content)}

    def begin(self) -> dict[str, Any] | None:
        """Note the settings in the folder, or find that they are those of what is there.

        Returns
        -------
        dict or None
            The record, if nothing is left to do.
        """
        for source in self._settings.graphs:
            generated(source, 0)  # parameters that do not fit are found before hours have gone by
        path = self._folder / SETTINGS
        if path.exists():
            found = read_json(path, "settings of a training set")
            different = list(differences(self.content, found))
            if different:
                raise SettingsError(
                    f"{self._folder} holds a training set with {'; '.join(different)}; choose "
                    "another folder or delete it"
                )
        elif (self._folder / MANIFEST).exists() or self.path(0).exists():
            raise SettingsError(
                f"{self._folder} already holds graphs; choose another folder or delete it"
            )
        if path.exists() and (self._folder / MANIFEST).exists():
            return read_json(self._folder / RECORD, "record")
        remove_leftovers(self._folder)
        write_json(path, self.content)
        return None

    def path(self, shard: int) -> Path:
        """Return the file of a shard."""
        return self._folder / shard_name(shard)

    def is_finished(self, shard: int) -> bool:
        """Return whether a shard is there already; a damaged one is made again."""
        try:
            with GraphStore(self.path(shard)) as store:
                return len(store) == len(self._numbers(shard))
        except InputError:
            return False

    def solved_graphs(self, shard: int, solvers: _Solvers, clock: Clock) -> Iterator[SolvedGraph]:
        """Yield the graphs of a shard with their objectives."""
        for number in self._numbers(shard):
            family = self._family(number)
            with clock("generate"):
                source = self._settings.graphs[family]
                graph = generated(source, number - self._first[family])
            with clock("solve"):
                objectives = solvers.objectives(graph)
            yield SolvedGraph(graph, objectives)

    def summary(self, shard: int) -> dict[int, Any]:
        """Return by family what a finished shard holds of it."""
        numbers = self._numbers(shard)
        family = np.array([self._family(number) for number in numbers])
        with GraphStore(self.path(shard)) as store:
            objectives = {problem: store.objectives(problem) for problem in store.problems}
            return {
                int(each): {
                    "graphs": int((own := family == each).sum()),
                    "nodes": int(store.nodes[own].sum()),
                    "edges": int(store.nnz[own].sum()) // 2,
                    "known": {
                        p: int((~np.isnan(v[own])).sum()) for p, (v, _) in objectives.items()
                    },
                    "proven": {p: int(proven[own].sum()) for p, (_, proven) in objectives.items()},
                }
                for each in np.unique(family)
            }

    def families(self, summaries: list[dict[int, Any]]) -> list[dict[str, Any]]:
        """Return what all shards hold of each family."""
        return [
            {
                "family": source.name,
                **_total([summary[i] for summary in summaries if i in summary]),
            }
            for i, source in enumerate(self._settings.graphs)
        ]

    def _numbers(self, shard: int) -> range:
        size = self._settings.graphs_per_shard
        return range(shard * size, min((shard + 1) * size, self.graphs))

    def _family(self, number: int) -> int:
        return bisect.bisect_right(self._first, number) - 1


def _total(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Add up equal structures of numbers."""
    return {
        name: _total([part[name] for part in parts])
        if isinstance(value, dict)
        else sum(part[name] for part in parts)
        for name, value in parts[0].items()
    }


class _Solvers:
    """How this rank finds the best objectives of a graph."""

    def __init__(self, alone: Communicator, settings: TrainingSetSettings) -> None:
        self._alone = alone
        self._methods: list[tuple[Problem, Method]] = []
        # What cannot be is found at once, and what is compiled is, before the clock runs.
        path = Graph.from_edges(5, np.arange(4), np.arange(1, 5))
        for name in settings.objectives:
            problem, method = problem_by_name(name), _method(name, settings)
            method(alone, path)
            self._methods.append((problem, method))

    def objectives(self, graph: Graph) -> Mapping[str, Objective]:
        """Return the best objective of each problem that is found within the time."""
        return {
            problem.name: self._best(problem, method, graph) for problem, method in self._methods
        }

    def _best(self, problem: Problem, method: Method, graph: Graph) -> Objective:
        graph = without_unused_weights(graph, problem)
        optimum = problem.optimum(graph)
        if optimum is not None:
            return Objective(float(optimum), True)
        found = method(self._alone, graph)
        return Objective(float(found.objective), found.proven)


def _method(problem: str, settings: TrainingSetSettings) -> Method:
    if settings.method == SEARCH:
        return Search(SEARCH, SolveSettings(problem=problem, polish=settings.limit))
    return exact_method(problem, settings.limit, settings.method)
