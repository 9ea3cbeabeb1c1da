"""Training sets: many random graphs with their best objectives, made by all ranks together.

A folder of shards that ``ogg-hpc train`` reads graph by graph. What it holds is a function of the
settings alone, but where a time limit has cut a solver short: then the objective is what it had
found, and is not marked as proven.
"""

from __future__ import annotations

import bisect
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import MANIFEST, GraphStore, Objective, SolvedGraph, write_shards
from ogg_hpc.problems.graph_input import without_unused_weights
from ogg_hpc.problems.problem import Problem
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.runtime.clock import Clock, over_ranks
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.environment import versions
from ogg_hpc.runtime.files import read_json, write_json
from ogg_hpc.runtime.progress import progress_bar
from ogg_hpc.search.methods import Method, Search, exact_method
from ogg_hpc.search.settings import SolveSettings
from ogg_hpc.settings import differences
from ogg_hpc.training.graphs import generated
from ogg_hpc.training.set_settings import SEARCH, TrainingSetSettings
from ogg_hpc.training.settings import GraphSource

SETTINGS = "training_set.json"
RECORD = "record.json"
FORMAT = "ogg-hpc-training-set/1"


def make_training_set(
    comm: Communicator, settings: TrainingSetSettings, folder: Path
) -> dict[str, Any]:
    """Make a training set, or go on with one (collective).

    Each shard is made by one rank. Finished ones are kept, also on another number of ranks.

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
        proven, seconds, and how many graphs this call has made. Of a training set that was finished
        before, it is that of then.

    Raises
    ------
    SettingsError
        Settings that cannot be, or the folder holds other graphs.
    OggError
        A solver that is missing or fails, or files that cannot be written.
    """
    start = time.perf_counter()
    content = {"format": FORMAT, **json.loads(json.dumps(asdict(settings)))}
    finished = comm.on_root(lambda: _find(folder, settings, content))
    if finished is not None:
        return dict(finished)
    clock = Clock(comm, "generate", "solve", "write")
    solvers = comm.on_all(lambda: _Solvers(comm.alone(), settings))
    # Settings that cannot be are not noted: corrected ones would be refused as others.
    comm.on_root(lambda: write_json(folder / SETTINGS, content))
    total = sum(source.count for source in settings.graphs)
    with (
        progress_bar(comm, "making a training set", -(-total // comm.size)) as show,
        clock("write"),
    ):
        graphs = _Graphs(settings, solvers, clock, lambda made: show(made, ""))
        if not comm.on_root((folder / MANIFEST).exists):
            about = {"training_set": json.dumps(content)}
            write_shards(folder, graphs, settings.graphs_per_shard, about, comm=comm, plan=content)
    record = {
        "folder": str(folder),
        "graphs": total,
        "made": int(comm.allreduce(np.array([graphs.made]))[0]),
        "families": comm.on_root(lambda: _families(folder, settings)),
        "ranks": comm.size,
        "seconds": time.perf_counter() - start,
        "phases": over_ranks(comm, clock.report()),
        "versions": versions(),
    }
    comm.on_root(lambda: write_json(folder / RECORD, record))
    return record


def _find(
    folder: Path, settings: TrainingSetSettings, content: dict[str, Any]
) -> dict[str, Any] | None:
    """Find what is in the folder, which must have been made with the same settings.

    Returns
    -------
    dict or None
        The record, if nothing is left to do.
    """
    for source in settings.graphs:
        generated(source, 0)  # parameters that do not fit are found before hours have gone by
    path = folder / SETTINGS
    if path.exists():
        different = list(differences(content, read_json(path, "settings of a training set")))
        if different:
            raise SettingsError(
                f"{folder} holds a training set with {'; '.join(different)}; choose another "
                "folder or delete it"
            )
        if (folder / MANIFEST).exists() and (folder / RECORD).exists():
            return read_json(folder / RECORD, "record")
    elif (folder / MANIFEST).exists() or any(folder.glob("shard-*")):
        raise SettingsError(f"{folder} already holds graphs; choose another folder or delete it")
    return None


def _families(folder: Path, settings: TrainingSetSettings) -> list[dict[str, Any]]:
    """Return what a finished folder holds of each family."""
    with GraphStore(folder) as store:
        objectives = {problem: store.objectives(problem) for problem in store.problems}
        return [
            {
                "family": source.name,
                "graphs": source.count,
                "nodes": int(store.nodes[own].sum()),
                "edges": int(store.nnz[own].sum()) // 2,
                "known": {p: int((~np.isnan(v[own])).sum()) for p, (v, _) in objectives.items()},
                "proven": {p: int(proven[own].sum()) for p, (_, proven) in objectives.items()},
            }
            for source, own in zip(settings.graphs, _ranges(settings.graphs), strict=True)
        ]


def _ranges(families: tuple[GraphSource, ...]) -> list[slice]:
    """Return which graphs of all are those of each family."""
    first = accumulate((source.count for source in families), initial=0)
    return [slice(start, stop) for start, stop in pairwise(first)]


class _Graphs:
    """The graphs of all families with their best objectives, each made when it is asked for.

    Attributes
    ----------
    made : int
        How many this rank has been asked for.
    """

    def __init__(
        self,
        settings: TrainingSetSettings,
        solvers: _Solvers,
        clock: Clock,
        tell: Callable[[int], None],
    ) -> None:
        self._families, self._solvers = settings.graphs, solvers
        self._clock, self._tell = clock, tell
        self._starts = [own.start for own in _ranges(settings.graphs)]
        self.made = 0

    def __len__(self) -> int:
        return sum(source.count for source in self._families)

    def __getitem__(self, index: int) -> SolvedGraph:
        family = bisect.bisect_right(self._starts, index) - 1
        with self._clock("generate"):
            graph = generated(self._families[family], index - self._starts[family])
        with self._clock("solve"):
            objectives = self._solvers.objectives(graph)
        self.made += 1
        self._tell(self.made)
        return SolvedGraph(graph, objectives)


class _Solvers:
    """How a rank finds the best objectives of a graph."""

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
