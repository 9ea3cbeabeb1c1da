"""Rewards that shrink when the same is made again, so that a policy goes on making other things.

A policy that is rewarded for its products alone ends up making the best few again and again. Here
the reward at the end of an episode is weighed by how often its product was made lately: the more
often, the less, by a power of the count as in count-based exploration (Bellemare et al., NeurIPS
2016). What then pays most is a policy that spreads over many good products.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.settings import misfit, setting


@dataclass(frozen=True)
class NoveltySettings:
    """How rewards shrink with repetition."""

    product: str = setting(
        "", "what the environment says of an episode that names its product, such as smiles; "
        "empty = repetition costs nothing"
    )  # fmt: skip
    window: int = setting(2000, "how many of the latest episodes of all learners are compared")
    exponent: float = setting(
        0.5, "a positive reward for what was made c times in the window is divided by (1 + c)^this"
    )

    def __post_init__(self) -> None:
        if self.window < 1:
            raise misfit("window", "novelty.window must be at least 1")
        if not 0 <= self.exponent < math.inf:
            raise misfit("exponent", "novelty.exponent must be finite and not negative")


class Novelty:
    """What was made lately, and how often.

    A function of the products alone, in the order of learners and of each learner's episodes: the
    same on all learners, however the experience was collected.

    Parameters
    ----------
    settings
        Window and exponent.

    Attributes
    ----------
    repeated : float or None
        Share of the products that were last taken in, of all learners, that were in the window
        already; None where there were none.
    """

    def __init__(self, settings: NoveltySettings) -> None:
        self.repeated: float | None = None
        self._settings = settings
        self._latest: deque[int] = deque()
        self._counts: Counter[int] = Counter()

    def weighed(
        self, rewards: NDArray[Any], fragments: Sequence[Fragment], learners: Communicator
    ) -> NDArray[Any]:
        """Return the rewards of fragments, one after another, with those for repetition shrunk.

        Only positive rewards at the ends of episodes shrink. Collective, and without effect where
        no product is named.

        Parameters
        ----------
        rewards
            (steps,) of this learner's fragments.
        fragments
            Those fragments, whose episodes are taken in.
        learners
            All learners.

        Raises
        ------
        SettingsError
            The environment does not say what was made.
        """
        if not self._settings.product:
            return rewards
        made = learners.on_all(lambda: self._products(fragments))
        factors = self.factors(made, learners)
        ended = [each.arrays["terminated"] | each.arrays["truncated"] for each in fragments]
        ends = np.flatnonzero(np.concatenate([np.empty(0, np.bool_), *ended]))
        result = rewards.copy()
        result[ends] = np.where(rewards[ends] > 0, factors * rewards[ends], rewards[ends])
        return result

    def factors(self, products: Sequence[str], learners: Communicator) -> NDArray[np.float32]:
        """Take in the products of this learner's episodes, and return what part of it each earns.

        Collective.

        Returns
        -------
        (products,) ndarray
            In (0, 1]; 1 for what was not made before in the window.
        """
        parts = learners.gather_objects([_number(product) for product in products])
        repeats = [[self._take(number) for number in part] for part in parts]
        every = [before > 0 for part in repeats for before in part]
        self.repeated = fmean(every) if every else None
        own = np.array(repeats[learners.rank], np.float64)
        return ((1 + own) ** -self._settings.exponent).astype(np.float32)

    def _products(self, fragments: Sequence[Fragment]) -> list[str]:
        name = self._settings.product
        episodes = [episode for fragment in fragments for episode in fragment.episodes]
        if any(name not in episode for episode in episodes):
            raise SettingsError(
                f"ppo.novelty.product is {name!r}, which the environment does not tell of its "
                "episodes; leave it out, or use molecules"
            )
        return [str(episode[name]) for episode in episodes]

    def state(self) -> NDArray[np.uint64]:
        """Return what `restore` needs: the numbers of the latest products, oldest first."""
        return np.array(self._latest, np.uint64)

    def restore(self, latest: NDArray[Any]) -> None:
        """Take up what `state` has returned."""
        self._latest.clear()
        self._counts.clear()
        for number in latest:
            self._take(int(number))

    def _take(self, number: int) -> int:
        """Add a product, and return how often it was there before."""
        before = self._counts[number]
        self._counts[number] += 1
        self._latest.append(number)
        if len(self._latest) > self._settings.window:
            oldest = self._latest.popleft()
            self._counts[oldest] -= 1
            if not self._counts[oldest]:
                del self._counts[oldest]
        return before


def _number(product: str) -> int:
    """Return 64 bits that stand for a name, the same in every process."""
    return int.from_bytes(hashlib.blake2b(product.encode(), digest_size=8).digest(), "little")
