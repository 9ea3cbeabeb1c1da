"""What a scaling study is told: the content of its TOML file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ogg_hpc import settings
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.batch import COLLECTIVES
from ogg_hpc.graphs.row_block import BALANCE
from ogg_hpc.runtime.device import DEVICE_KINDS
from ogg_hpc.scaling.kinds import KINDS
from ogg_hpc.scaling.sizes import GROWS, check_graph
from ogg_hpc.search.settings import ENGINES
from ogg_hpc.settings import misfit, setting
from ogg_hpc.training.q_settings import ENGINES as TRAINING_ENGINES

SCALING = ("strong", "weak")
# Settings of a training that a case decides.
_DECIDED = ("problem", "train", "validation", "learning.engine", "parallel")


@dataclass(frozen=True)
class Case:
    """What is measured at each number of ranks: one curve of the study."""

    name: str = setting(
        "", "name in tables, plots and files (default: the kind and the engine or strategy)"
    )
    kind: str = setting("inference", f"what a step is: {' or '.join(KINDS)}")
    scaling: str = setting("strong", "strong: one graph for all P; weak: a graph that grows with P")
    grows: str = setting(
        "entries",
        "weak scaling: what is proportional to P: entries of the adjacency matrix (constant work "
        "of a rank) or nodes",
    )
    graph: str = setting(
        "er:n=15000,p=0.15,seed=1",
        "GENERATOR:NAME=VALUE,… as for evaluate, of P = 1 in weak scaling; or a file",
    )
    problem: str = setting("mvc", "name of a problem, or FILE.py:CLASS of your own")
    engine: str = setting("auto", "reference, frontier, scalar or auto, as for solve and train")
    collective: str = setting(
        "allgather", "how neighbour sums cross ranks: allgather, or allreduce as in the paper"
    )
    balance: str = setting("rows", "what is balanced over ranks: rows or edges")
    policy: str = setting("mvc-s2v", "inference: a policy, as for solve")
    select: str = setting("one", "inference: nodes chosen a step, as for solve")
    preset: str = setting("paper", "training: a preset or a TOML file, as for train")
    overrides: tuple[str, ...] = setting(
        (),
        'training: settings that win over the preset, such as "learning.batch=2"; embedding: '
        'settings, such as "strategy=dot"',
    )
    steps: int = setting(20, "steps that are timed in each repeat")

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, KINDS)
        _one_of("scaling", self.scaling, SCALING)
        _one_of("grows", self.grows, GROWS)
        training = self.kind == "training"
        _one_of("engine", self.engine, TRAINING_ENGINES if training else ENGINES)
        _one_of("collective", self.collective, COLLECTIVES)
        _one_of("balance", self.balance, BALANCE)
        _at_least(1, "steps", self.steps)
        if self.kind == "embedding":
            self._check_embedding()
        _usable_in_files("name", self.label)
        for name in (assignment.partition("=")[0].strip() for assignment in self.overrides):
            if any(name == own or name.startswith(f"{own}.") for own in _DECIDED):
                raise misfit("overrides", f"{name} is for keys of the case itself to say")
        try:
            check_graph(self.graph, self.scaling == "weak")
        except SettingsError as error:
            raise misfit("graph", str(error)) from None

    def _check_embedding(self) -> None:
        if self.engine != "auto":
            raise misfit("engine", "an embedding has none; see its settings strategy and exchange")
        if self.growing == "nodes":
            raise misfit("grows", "the batches of an embedding grow with P, so entries must, too")
        try:
            settings = embedding_settings(self.overrides)
        except SettingsError as error:
            raise misfit("overrides", str(error)) from None
        if (settings.method, settings.order) == ("line", "both"):
            raise misfit("overrides", "line of both orders is two models: order=first or second")

    @property
    def growing(self) -> str | None:
        """What is proportional to P, None in strong scaling."""
        return self.grows if self.scaling == "weak" else None

    @property
    def label(self) -> str:
        """The name, or the kind and the engine; of an embedding its strategy."""
        how = self.engine
        if self.kind == "embedding":
            how = embedding_settings(self.overrides).strategy
        return self.name or f"{self.kind}-{how}"


@dataclass(frozen=True)
class Study:
    """A scaling study."""

    name: str = setting("scaling", "name in titles and of jobs")
    ranks: tuple[int, ...] = setting((1, 2), "numbers of ranks P at which every case is measured")
    repeats: int = setting(3, "times that the steps are timed after a warm-up; at least 3")
    threads: int = setting(1, "cores of each rank, the same at every P")
    device: str = setting("auto", "device of each rank: auto, cpu or cuda")
    minutes: int = setting(30, "time limit of a job, which measures all cases at one P")
    cases: tuple[Case, ...] = setting((), "what is measured: one [[cases]] table a curve")

    def __post_init__(self) -> None:
        _usable_in_files("name", self.name)
        if not self.ranks or min(self.ranks) < 1 or len(set(self.ranks)) < len(self.ranks):
            raise misfit("ranks", f"ranks are different numbers from 1, not {list(self.ranks)}")
        _at_least(3, "repeats", self.repeats)
        _at_least(1, "threads", self.threads)
        _at_least(1, "minutes", self.minutes)
        _one_of("device", self.device, DEVICE_KINDS)
        if not self.cases:
            raise SettingsError("nothing to measure: add a [[cases]] table")
        [(label, count)] = Counter(case.label for case in self.cases).most_common(1)
        if count > 1:
            raise misfit("cases", f"{count} cases are called {label}: give them a name each")


def embedding_settings(overrides: Sequence[str]) -> EmbedSettings:
    """Return the settings of an embedding that ``NAME=VALUE`` texts make of the defaults.

    Raises
    ------
    SettingsError
        One does not fit.
    """
    return settings.build(EmbedSettings, settings.override({}, overrides))


def load_study(path: str | Path) -> Study:
    """Read a study; see `ogg_hpc.settings.load`."""
    return settings.load(Study, path)


def _one_of(key: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise misfit(key, f"{key} is {' or '.join(known)}, not {value!r}")


def _at_least(least: int, key: str, value: int) -> None:
    if value < least:
        raise misfit(key, f"{key} must be at least {least}, not {value}")


def _usable_in_files(key: str, value: str) -> None:
    if not re.fullmatch(r"[\w.-]+", value):
        raise misfit(key, f"{key} {value!r}: letters, digits, dots, dashes and _ only")
