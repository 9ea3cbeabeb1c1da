"""What deep Q-learning from actors is told."""

from __future__ import annotations

from dataclasses import dataclass

from ogg_hpc.errors import SettingsError
from ogg_hpc.settings import setting


@dataclass(frozen=True)
class DQNSettings:
    """Deep Q-learning."""

    ahead: int = setting(256, "environment steps that actors may be ahead of the learner")

    def __post_init__(self) -> None:
        if self.ahead < 1:
            raise SettingsError("dqn.ahead must be at least 1")
