"""What a training set is made of: the content of its TOML file."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ogg_hpc.errors import SettingsError
from ogg_hpc.search.exact_solvers import SOLVERS
from ogg_hpc.settings import misfit, setting
from ogg_hpc.training.settings import GraphSource

SEARCH = "search"
METHODS = (*SOLVERS, SEARCH)


@dataclass(frozen=True)
class TrainingSetSettings:
    """A training set."""

    graphs: tuple[GraphSource, ...] = setting((), "families of graphs, one after another")
    graphs_per_shard: int = setting(1000, "graphs in each file but the last")
    objectives: tuple[str, ...] = setting(
        (), "problems whose best objectives are stored with each graph, such as mvc and maxcut"
    )
    method: str = setting(
        "exact",
        "how they are found, where a graph is not so small that its optimum is found at once: a "
        "solver that evaluate knows (exact, highs, gurobi, cplex, kamis), or search, which is "
        "solve with a polish",
    )
    limit: float = setting(10.0, "seconds that this may take for each graph and problem")

    def __post_init__(self) -> None:
        if not self.graphs:
            raise SettingsError("no graphs: add a [[graphs]] table")
        for i, source in enumerate(self.graphs):
            if source.path:
                raise misfit(
                    f"graphs[{i}].path", "a training set is made of generated graphs: use family"
                )
        for name in ("weights", "heaviest"):
            if len({bool(getattr(source, name)) for source in self.graphs}) > 1:
                raise SettingsError(
                    f"some families have `{name}` and some have not: make a training set of each"
                )
        if self.graphs_per_shard < 1:
            raise misfit("graphs_per_shard", "graphs_per_shard must be at least 1")
        if len(set(self.objectives)) < len(self.objectives):
            raise misfit("objectives", "objectives names a problem twice")
        if self.method not in METHODS:
            names = ", ".join(METHODS)
            raise misfit("method", f"method is one of {names}, not {self.method!r}")
        if not 0 < self.limit < math.inf:
            raise misfit("limit", "limit must be positive and finite")
