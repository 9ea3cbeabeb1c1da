"""What deep Q-learning is told, whoever acts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ogg_hpc.errors import SettingsError
from ogg_hpc.settings import setting

ENGINES = ("auto", "reference", "scalar")


@dataclass(frozen=True)
class QSettings:
    """Exploration, replay, targets, optimiser.

    Attributes
    ----------
    table
        The table of the TOML file that holds them.
    """

    table: ClassVar[str]

    batch: int = setting(64, "replay tuples in a gradient step, in each group of ranks or learner")
    tau: int = setting(8, "gradient steps after an environment step")
    train_frequency: int = setting(1, "environment steps from one such round to the next")
    gamma: float = setting(1.0, "discount factor")
    n_step: int = setting(2, "rewards summed before the bootstrap")
    reward: str = setting("per-node", "reward of a step: per-node (divided by N) or count")
    target_refresh: int = setting(
        20, "environment steps between copies into the target network; 0 = no target network"
    )
    double: bool = setting(
        False, "double DQN: the policy chooses the node whose value the target network gives"
    )
    learning_rate: float = setting(1e-3, "step size of Adam, at first")
    learning_rate_decay: float = setting(
        1.0, "what the step size is multiplied by, little by little, in `learning_rate_steps`"
    )
    learning_rate_steps: int = setting(1000, "environment steps that this takes")
    averaging: float = setting(
        0.0,
        "decay, at each gradient step, of the moving average of the parameters that is evaluated "
        "and kept; 0 = the parameters themselves",
    )
    epsilon_start: float = setting(0.9, "share of random actions at the first step")
    epsilon_end: float = setting(0.1, "share of random actions after `epsilon_steps`")
    epsilon_steps: int = setting(500, "environment steps over which epsilon falls linearly")
    replay: int = setting(50_000, "most replay tuples kept, in each group of ranks or learner")
    engine: str = setting(
        "auto",
        "scalar: structure2vec of at most 2 layers on vertex cover, many times faster; reference: "
        "any problem and policy, on a GPU where there is one; auto: scalar where it can be used",
    )

    def __post_init__(self) -> None:
        table = self.table
        for name in (
            "batch", "tau", "train_frequency", "n_step", "learning_rate_steps", "epsilon_steps",
            "replay",
        ):  # fmt: skip
            if getattr(self, name) < 1:
                raise SettingsError(f"{table}.{name} must be at least 1")
        if self.target_refresh < 0:
            raise SettingsError(f"{table}.target_refresh must not be negative")
        if self.reward not in ("per-node", "count"):
            raise SettingsError(f"{table}.reward is per-node or count, not {self.reward!r}")
        if self.engine not in ENGINES:
            names = " or ".join(ENGINES)
            raise SettingsError(f"{table}.engine is {names}, not {self.engine!r}")
        for name in ("learning_rate", "learning_rate_decay"):
            if not 0 < getattr(self, name) < math.inf:
                raise SettingsError(f"{table}.{name} must be positive and finite")
        for name in ("gamma", "epsilon_start", "epsilon_end"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingsError(f"{table}.{name} must be in [0, 1]")
        if not 0 <= self.averaging < 1:
            raise SettingsError(f"{table}.averaging must be in [0, 1)")

    def step_size(self, step: int) -> float:
        """Return the step size of Adam at an environment step."""
        part = min(1.0, step / self.learning_rate_steps)
        return float(self.learning_rate * self.learning_rate_decay**part)

    def epsilon(self, step: int) -> float:
        """Return the share of random actions at an environment step."""
        left = max(0.0, 1.0 - step / self.epsilon_steps)
        return self.epsilon_end + (self.epsilon_start - self.epsilon_end) * left
