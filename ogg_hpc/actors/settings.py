"""What a run of actors and learners is told: the content of its TOML file."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from ogg_hpc import settings
from ogg_hpc.actors.dqn_settings import DQNSettings
from ogg_hpc.actors.ppo_settings import PPOSettings
from ogg_hpc.errors import SettingsError
from ogg_hpc.settings import misfit, setting

ALGORITHMS = ("ppo", "dqn")
PRESETS = files("ogg_hpc.actors") / "presets"


@dataclass(frozen=True)
class EnvironmentSettings:
    """What actors step."""

    name: str = setting(
        "gymnasium:CartPole-v1",
        "gymnasium:ID, molecules, graph-problem, synthetic, or FILE.py:CLASS of your own",
    )
    options: dict[str, Any] = setting(dict, "keyword arguments of the environment")

    def __post_init__(self) -> None:
        if not self.name:
            raise misfit("name", "environment.name is empty")


@dataclass(frozen=True)
class NetworkSettings:
    """The policy."""

    name: str = setting("mlp", "mlp, gcn, FILE.py:CLASS of your own, or s2v for dqn")
    model: dict[str, Any] = setting(dict, "settings of the network, such as width and layers")


@dataclass(frozen=True)
class RolesSettings:
    """Which ranks learn, which act, and with how many environments."""

    learners_per_node: int = setting(
        0, "ranks of a node that learn; 0 = one for each of its GPUs, where no node has any one"
    )
    actors_per_learner: int = setting(
        0, "ranks that act for each learner, of any node; 0 = all that do not learn"
    )
    local: bool = setting(
        True,
        "whether there are actors in the job: the ranks that do not learn, or the learners "
        "themselves where all ranks learn; if not, all ranks learn from remote actors alone",
    )
    processes: int = setting(
        0, "environment processes of a host: of an actor rank, or of a learner without; 0 = cores"
    )
    environments: int = setting(4, "environments that a process steps together")

    def __post_init__(self) -> None:
        for name in ("learners_per_node", "actors_per_learner", "processes"):
            if getattr(self, name) < 0:
                raise misfit(name, f"roles.{name} must not be negative")
        if self.environments < 1:
            raise misfit("environments", "roles.environments must be at least 1")


@dataclass(frozen=True)
class CollectionSettings:
    """How experience is collected, and what happens to those who are slow."""

    cutoff: float = setting(
        0.6, "share of the environments that must be done before those that lag are cut off"
    )
    patience: float = setting(
        1.5, "how many times as long as those took the others may take; 0 = nobody is cut off"
    )
    lease: float = setting(
        5.0,
        "seconds without a step after which an environment process is started anew; a minute, or "
        "the lease if that is longer, without an environment at the start",
    )
    wait_for_actors: float = setting(
        300.0, "seconds that a learner without any environment waits for one; 0 = for ever"
    )
    minimum_hosts: int = setting(1, "hosts that a learner waits for before it begins")

    def __post_init__(self) -> None:
        if not 0 < self.cutoff <= 1:
            raise misfit("cutoff", "collection.cutoff must be above 0 and at most 1")
        if self.patience and not 1 <= self.patience < math.inf:
            raise misfit("patience", "collection.patience is 0, or finite and at least 1")
        if not 0 < self.lease < math.inf:
            raise misfit("lease", "collection.lease must be positive and finite")
        if not 0 <= self.wait_for_actors < math.inf:
            raise misfit(
                "wait_for_actors", "collection.wait_for_actors must be finite, not negative"
            )
        if self.minimum_hosts < 1:
            raise misfit("minimum_hosts", "collection.minimum_hosts must be at least 1")


@dataclass(frozen=True)
class RemoteSettings:
    """Where actors outside the job connect: the controller of each node."""

    listen: str = setting(
        "", "ADDRESS:PORT of the controller, port 0 for a free one; empty = no remote actors"
    )
    token_file: str = setting("", "file with the secret that actors must know; empty = made anew")
    certificate: str = setting("", "TLS certificate chain, PEM; empty = one made for the run")
    key: str = setting("", "private key of the certificate, PEM")

    def __post_init__(self) -> None:
        if bool(self.certificate) != bool(self.key):
            raise SettingsError("remote.certificate and remote.key go together")


@dataclass(frozen=True)
class OutputSettings:
    """What is written, and how often."""

    checkpoint_every: int = setting(50_000, "environment steps between checkpoints")
    checkpoint_minutes: float = setting(
        10.0, "most minutes between checkpoints, where steps take long; 0 = no matter"
    )
    keep_checkpoints: int = setting(3, "newest checkpoints that are kept")
    tensorboard: bool = setting(True, "write TensorBoard curves where tensorboard is installed")

    def __post_init__(self) -> None:
        for name in ("checkpoint_every", "keep_checkpoints"):
            if getattr(self, name) < 1:
                raise misfit(name, f"output.{name} must be at least 1")
        if not 0 <= self.checkpoint_minutes < math.inf:
            raise misfit(
                "checkpoint_minutes", "output.checkpoint_minutes must be finite and not negative"
            )


@dataclass(frozen=True)
class ActorsSettings:
    """A run of actors and learners."""

    algorithm: str = setting("ppo", "ppo, or dqn for the graph problems")
    seed: int = setting(0, "seed of parameters, environments and actions")
    steps: int = setting(100_000, "environment steps of all actors together")
    environment: EnvironmentSettings = setting(EnvironmentSettings, "environment")
    network: NetworkSettings = setting(NetworkSettings, "network")
    roles: RolesSettings = setting(RolesSettings, "roles")
    collection: CollectionSettings = setting(CollectionSettings, "collection")
    ppo: PPOSettings = setting(PPOSettings, "proximal policy optimisation")
    dqn: DQNSettings = setting(DQNSettings, "deep Q-learning")
    remote: RemoteSettings = setting(RemoteSettings, "remote actors")
    output: OutputSettings = setting(OutputSettings, "output")

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            names = " or ".join(ALGORITHMS)
            raise misfit("algorithm", f"algorithm is {names}, not {self.algorithm!r}")
        if not 0 <= self.seed < 2**63:
            raise misfit("seed", "seed must not be negative, and be below 2^63")
        if self.steps < 1:
            raise misfit("steps", "steps must be at least 1")
        if not self.roles.local and not self.remote.listen:
            raise misfit("roles.local", "without roles.local, remote.listen has to be set")


def preset_names() -> list[str]:
    """Return the names of the presets."""
    return sorted(each.name.removesuffix(".toml") for each in PRESETS.iterdir())


def load_actors_settings(path: str | Path, overrides: Sequence[str] = ()) -> ActorsSettings:
    """Read the settings of a run; see `ogg_hpc.settings.load`.

    A path that names no file but one of `preset_names` reads that preset.
    """
    preset = PRESETS / f"{path}.toml"
    if not Path(path).is_file() and "/" not in str(path) and preset.is_file():
        document = tomllib.loads(preset.read_text(encoding="utf-8"))
        return settings.build(ActorsSettings, settings.override(document, overrides))
    return settings.load(ActorsSettings, path, overrides)
