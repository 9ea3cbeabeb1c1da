"""What proximal policy optimisation is told."""

from __future__ import annotations

from dataclasses import dataclass

from ogg_hpc.errors import SettingsError
from ogg_hpc.settings import setting


@dataclass(frozen=True)
class PPOSettings:
    """Proximal policy optimisation."""

    round_steps: int = setting(2048, "environment steps of all learners under one version")

    def __post_init__(self) -> None:
        if self.round_steps < 1:
            raise SettingsError("ppo.round_steps must be at least 1")
