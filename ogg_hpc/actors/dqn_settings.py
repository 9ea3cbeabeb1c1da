"""What deep Q-learning from actors is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ogg_hpc.errors import SettingsError
from ogg_hpc.settings import setting
from ogg_hpc.training.q_settings import QSettings
from ogg_hpc.training.settings import GraphSource


@dataclass(frozen=True)
class DQNSettings(QSettings):
    """Deep Q-learning of a graph problem: Alg. 5, with actors in the place of its own environment.

    The training graphs are those of the environment. Steps are those of all actors together, but
    for `train_frequency`, which counts those of the actors of one learner.
    """

    table: ClassVar[str] = "dqn"

    ahead: int = setting(
        32, "environment steps that the actors of a learner may be ahead of its gradient steps"
    )
    stale: int = setting(
        1000,
        "versions by which the weights that experience was made with may be behind; what is older "
        "is dropped and counted",
    )
    publish_every: int = setting(8, "gradient steps from one version of the weights to the next")
    validation: tuple[GraphSource, ...] = setting((), "held-out graphs that choose the best policy")
    evaluate_every: int = setting(50, "environment steps between evaluations on held-out graphs")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("ahead", "stale", "publish_every", "evaluate_every"):
            if getattr(self, name) < 1:
                raise SettingsError(f"dqn.{name} must be at least 1")
        # Else actors and learner could wait for one another for ever.
        if self.ahead < 2 * self.train_frequency:
            raise SettingsError("dqn.ahead must be at least twice dqn.train_frequency")
