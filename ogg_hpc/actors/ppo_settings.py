"""What proximal policy optimisation is told."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ogg_hpc.actors.novelty import NoveltySettings
from ogg_hpc.settings import misfit, setting


@dataclass(frozen=True)
class PPOSettings:
    """Proximal policy optimisation.

    What ends in ``_end`` is a value after the last step of the run, to which it changes linearly.
    """

    round_steps: int = setting(2048, "environment steps of all learners under one version")
    minibatch: int = setting(256, "steps of all learners in a gradient step")
    epochs: int = setting(10, "times that the steps of a round are gone through")
    gamma: float = setting(0.99, "discount factor")
    gae_lambda: float = setting(0.95, "decay of later advantages; 0 = one step, 1 = all of them")
    learning_rate: float = setting(3e-4, "step size of Adam, at first")
    learning_rate_end: float = setting(0.0, "step size of Adam after the last step")
    clip: float = setting(0.2, "most that a ratio of probabilities may gain from 1, at first")
    clip_end: float = setting(0.2, "the same after the last step")
    entropy: float = setting(0.0, "weight of the policy's entropy in the loss, at first")
    entropy_end: float = setting(0.0, "the same after the last step")
    value_weight: float = setting(0.5, "weight of the values' squared errors in the loss")
    value_clip: float = setting(0.0, "most that a value may gain from the old one; 0 = no limit")
    gradient_norm: float = setting(0.5, "norm that a longer gradient is cut to; 0 = no limit")
    target_kl: float = setting(
        0.0, "mean divergence from the acting policy that ends a round's update; 0 = none"
    )
    normalise_observations: bool = setting(
        False, "shift and scale real observations to mean 0 and deviation 1 of all so far"
    )
    normalise_returns: bool = setting(
        False, "divide rewards by the deviation of the discounted returns so far"
    )
    novelty: NoveltySettings = setting(NoveltySettings, "rewards that shrink with repetition")

    def __post_init__(self) -> None:
        for name in ("round_steps", "minibatch", "epochs"):
            if getattr(self, name) < 1:
                raise misfit(name, f"ppo.{name} must be at least 1")
        if self.minibatch > self.round_steps:
            raise misfit("minibatch", "ppo.minibatch must be at most ppo.round_steps")
        for name in ("gamma", "gae_lambda"):
            if not 0 <= getattr(self, name) <= 1:
                raise misfit(name, f"ppo.{name} must be in [0, 1]")
        for name in ("learning_rate", "clip"):
            if not 0 < getattr(self, name) < math.inf:
                raise misfit(name, f"ppo.{name} must be positive and finite")
        for name in (
            "learning_rate_end", "clip_end", "entropy", "entropy_end", "value_weight",
            "value_clip", "gradient_norm", "target_kl",
        ):  # fmt: skip
            if not 0 <= getattr(self, name) < math.inf:
                raise misfit(name, f"ppo.{name} must be finite and not negative")

    def learning_rate_at(self, done: float) -> float:
        """Return the step size of Adam after a share of the run's steps."""
        return _between(self.learning_rate, self.learning_rate_end, done)

    def clip_at(self, done: float) -> float:
        """Return the limit of the ratio after a share of the run's steps."""
        return _between(self.clip, self.clip_end, done)

    def entropy_at(self, done: float) -> float:
        """Return the weight of the entropy after a share of the run's steps."""
        return _between(self.entropy, self.entropy_end, done)


def _between(first: float, last: float, done: float) -> float:
    return first + (last - first) * min(done, 1.0)
