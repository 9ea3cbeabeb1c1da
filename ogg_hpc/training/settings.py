"""What a training run is told: the content of its TOML file."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

from ogg_hpc import settings
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.batch import COLLECTIVES
from ogg_hpc.graphs.row_block import BALANCE
from ogg_hpc.settings import misfit, setting
from ogg_hpc.training.q_settings import QSettings


@dataclass(frozen=True)
class GraphSource:
    """Where graphs come from: a generator family, or a file."""

    family: str = setting(
        "", "generator: er, ba, ws, plc, regular, girg, torus, planar, rb, rmat or geometric"
    )
    path: str = setting("", "an HDF5 store, a shard directory or any graph file, instead")
    nodes: int | tuple[int, ...] = setting(20, "number of nodes, or [least, most]")
    p: float | tuple[float, ...] = setting(
        0.15,
        "edge, rewiring or triangle probability of er, ws and plc, pairs joined of rb; or "
        "[least, most]",
    )
    d: int | tuple[int, ...] = setting(
        4,
        "degree parameter of ba, ws, plc and regular, mean degree of girg and geometric, graphs in "
        "planar, nodes of a clique of rb, edges drawn for each node of rmat; or [least, most]",
    )
    dimension: int = setting(2, "dimension of the torus of girg")
    temperature: float = setting(0.6, "how little distance decides in girg, in (0, 1)")
    long_range: float = setting(0.15, "share of edges that ignore distance in girg")
    a: float = setting(0.57, "probability of the upper left quadrant in rmat")
    b: float = setting(0.19, "probability of the upper right quadrant in rmat")
    c: float = setting(0.19, "probability of the lower left quadrant in rmat")
    weights: str = setting("", "signs: each generated edge weighs 1 or -1 at random")
    count: int = setting(1000, "number of graphs to generate")
    seed: int = setting(1, "seed of the generator")
    undirected: bool = setting(False, "take every arc of a directed file as an edge")
    lightest: int = setting(1, "least random whole weight of a node of a generated graph")
    heaviest: int = setting(0, "largest random whole weight of a node; 0 for no weights")

    def __post_init__(self) -> None:
        if bool(self.family) == bool(self.path):
            raise SettingsError("a graph source has either `family` or `path`")
        for name in ("nodes", "p", "d"):
            value = getattr(self, name)
            if isinstance(value, tuple) and (len(value) != 2 or not 0 <= value[0] <= value[1]):
                raise misfit(name, f"`{name}` is a number or [least, most]")
        if isinstance(self.nodes, tuple) and not self.nodes[0]:
            raise misfit("nodes", "`nodes` is a number or [least, most]")
        if self.weights not in ("", "signs") or (self.weights and self.path):
            raise SettingsError("`weights` is signs, or nothing, of generated graphs")
        if self.count < 1:
            raise SettingsError("`count` must be at least 1")

    @property
    def name(self) -> str:
        """A short name for tables and metrics, such as ``er20``."""
        if self.path:
            return Path(self.path).stem
        sizes = self.nodes if isinstance(self.nodes, tuple) else (self.nodes,)
        return f"{self.family}{'-'.join(map(str, sizes))}{'±' if self.weights else ''}"


@dataclass(frozen=True)
class LearningSettings(QSettings):
    """Alg. 5: deep Q-learning, with an environment of its own in each group of ranks."""

    table: ClassVar[str] = "learning"

    steps: int = setting(1000, "environment steps")
    targets: str = setting("sampled", "when targets are computed: sampled (at each use) or stored")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps < 1:
            raise SettingsError("learning.steps must be at least 1")
        if self.targets not in ("sampled", "stored"):
            raise SettingsError(f"learning.targets is sampled or stored, not {self.targets!r}")


@dataclass(frozen=True)
class EvolutionSettings:
    """Evolution strategies: CMA-ES on the parameters of a policy of messages."""

    generations: int = setting(40, "times that a population is drawn and judged")
    population: int = setting(14, "candidates in a generation")
    sigma: float = setting(0.3, "standard deviation of the first generation")
    start: tuple[float, ...] = setting(
        (),
        "mean of the first generation: the policy's parameter arrays one after another; the "
        "default is a plain heuristic, for vertex cover inverse-degree greedy",
    )
    graphs: str = setting(
        "fixed", "whether all generations share their graphs (fixed) or each has its own (fresh)"
    )

    def __post_init__(self) -> None:
        if self.generations < 1:
            raise SettingsError("evolution.generations must be at least 1")
        if self.population < 4:
            raise SettingsError("evolution.population must be at least 4")
        if not 0 < self.sigma < math.inf:
            raise SettingsError("evolution.sigma must be positive and finite")
        if not all(abs(x) < 1e9 for x in self.start):
            raise SettingsError(f"evolution.start is finite numbers, not {list(self.start)}")
        if self.graphs not in ("fixed", "fresh"):
            raise SettingsError(f"evolution.graphs is fixed or fresh, not {self.graphs!r}")


@dataclass(frozen=True)
class ParallelSettings:
    """How ranks share the work."""

    ranks_per_graph: int = setting(
        0, "ranks that share each graph; 0 = all. Results depend on the number of groups alone"
    )
    collective: str = setting(
        "allgather", "how neighbour sums cross ranks: allgather, or allreduce as in the paper"
    )
    balance: str = setting("rows", "what is balanced over ranks: rows or edges")

    def __post_init__(self) -> None:
        if self.ranks_per_graph < 0:
            raise SettingsError("parallel.ranks_per_graph must not be negative")
        if self.collective not in COLLECTIVES:
            raise SettingsError(
                f"parallel.collective is {' or '.join(COLLECTIVES)}, not {self.collective!r}"
            )
        if self.balance not in BALANCE:
            raise SettingsError(f"parallel.balance is {' or '.join(BALANCE)}, not {self.balance!r}")


@dataclass(frozen=True)
class OutputSettings:
    """What is written, and how often."""

    evaluate_every: int = setting(50, "steps or generations between evaluations on held-out graphs")
    checkpoint_every: int = setting(100, "steps or generations between checkpoints")
    checkpoint_minutes: float = setting(
        10.0, "most minutes between checkpoints, where steps take long; 0 = no matter"
    )
    keep_checkpoints: int = setting(3, "newest checkpoints that are kept")
    check_every: int = setting(100, "steps or generations between checks that ranks agree")
    tensorboard: bool = setting(True, "write TensorBoard curves where tensorboard is installed")

    def __post_init__(self) -> None:
        for name in ("evaluate_every", "checkpoint_every", "check_every", "keep_checkpoints"):
            if getattr(self, name) < 1:
                raise SettingsError(f"output.{name} must be at least 1")
        if not 0 <= self.checkpoint_minutes < math.inf:
            raise SettingsError("output.checkpoint_minutes must be finite and not negative")


@dataclass(frozen=True)
class TrainSettings:
    """A training run."""

    problem: str = setting("mvc", "name of a problem, or FILE.py:CLASS of your own")
    policy: str = setting(
        "s2v",
        "name of a policy network, or FILE.py:CLASS of your own; for evolution one of messages, "
        "such as degree-messages",
    )
    model: dict[str, Any] = setting(
        dict, "settings of the policy network, such as width and layers"
    )
    seed: int = setting(0, "seed of parameters, exploration and sampling")
    train: tuple[GraphSource, ...] = setting((), "training graphs")
    validation: tuple[GraphSource, ...] = setting((), "held-out graphs that choose the best policy")
    graph_cache: float = setting(
        2000.0,
        "megabytes of training graphs from stores that each rank keeps; others are read again when "
        "they are needed. Results do not depend on it",
    )
    method: str = setting("q-learning", "how to learn: q-learning (Alg. 5) or evolution")
    learning: LearningSettings = setting(LearningSettings, "Alg. 5")
    evolution: EvolutionSettings = setting(EvolutionSettings, "evolution strategies")
    parallel: ParallelSettings = setting(ParallelSettings, "ranks")
    output: OutputSettings = setting(OutputSettings, "output")

    def __post_init__(self) -> None:
        if not self.train:
            raise SettingsError("no training graphs: add a [[train]] table")
        if not 0 <= self.graph_cache < math.inf:
            raise misfit("graph_cache", "graph_cache must be finite and not negative")

    @property
    def steps_key(self) -> str:
        """The setting that says how many steps the run has."""
        return "evolution.generations" if self.method == "evolution" else "learning.steps"

    @property
    def steps(self) -> int:
        """How many steps or generations the run has."""
        if self.method == "evolution":
            return self.evolution.generations
        return self.learning.steps


def preset_names() -> list[str]:
    """Return the names of the presets."""
    folder = files("ogg_hpc.training") / "presets"
    return sorted(each.name.removesuffix(".toml") for each in folder.iterdir())


def load_train_settings(path: str | Path, overrides: Sequence[str] = ()) -> TrainSettings:
    """Read a training configuration; see `ogg_hpc.settings.load`.

    A path that names no file but one of `preset_names` reads that preset.
    """
    preset = files("ogg_hpc.training") / "presets" / f"{path}.toml"
    if not Path(path).is_file() and "/" not in str(path) and preset.is_file():
        document = tomllib.loads(preset.read_text(encoding="utf-8"))
        return settings.build(TrainSettings, settings.override(document, overrides))
    return settings.load(TrainSettings, path, overrides)
