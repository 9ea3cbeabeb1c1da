"""What an environment process does with a grant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
from numpy.typing import NDArray

from ogg_hpc.actors.environments.registry import make_environment
from ogg_hpc.actors.fragment import Fragment, Layout
from ogg_hpc.actors.message import Message
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.weights import Weights
from ogg_hpc.runtime.random import hash64, stream


@dataclass(eq=False)
class Slot:
    """An environment of this process.

    Parameters
    ----------
    number
        Its number in its learner.
    incarnation
        How often it was started anew.
    env
        The environment.
    """

    number: int
    incarnation: int
    env: gymnasium.Env[Any, Any]
    fragments: int = 0
    steps: int = 0  # of all episodes; part of what random numbers are keyed by
    episodes: int = 0


class Collector(ABC):
    """Steps the environments of one process together, as many steps as were granted to each.

    Nothing here imports torch.

    Parameters
    ----------
    welcome
        The learner's: ``environment``, ``options``, ``network``, ``model``, ``seed``, ``run``,
        ``learner``, and ``slots`` with those of this process alone.

    Attributes
    ----------
    schema : Schema
        That of the environments.
    slots : dict of int to Slot
        The environments by slot, in order of the slots.
    """

    def __init__(self, welcome: Message) -> None:
        self.run = welcome.text("run")
        self.seed = welcome.integer("seed")
        self.learner = welcome.integer("learner")
        name, options = welcome.text("environment"), welcome.table("options")
        self.slots = {
            number: Slot(number, incarnation, make_environment(name, options, number))
            for number, incarnation in sorted(welcome.slots("slots").items())
        }
        self.schema = Schema.of(next(iter(self.slots.values())).env)

    @staticmethod
    @abstractmethod
    def layout(schema: Schema) -> Layout:
        """Return which arrays the fragments have."""

    @abstractmethod
    def load(self, weights: Weights) -> None:
        """Act by these weights from now on."""

    @abstractmethod
    def collect(
        self,
        grant: Message,
        cut: Callable[[], bool],
        progress: Callable[[Mapping[int, int]], None],
    ) -> Iterator[Fragment]:
        """Step the environments and yield one fragment for each slot of the grant.

        Episodes go on from one grant to the next.

        Parameters
        ----------
        grant
            ``steps`` {slot: steps}, ``round``, ``version``.
        cut
            To be asked before each step; once it says True, what there is has to be yielded
            without another step, with ``complete`` False where steps are missing.
        progress
            To be told after each step how many steps of the grant each slot has done.
        """

    def close(self) -> None:
        """Close the environments."""
        for slot in self.slots.values():
            slot.env.close()

    def key(self, slot: Slot, purpose: str) -> int:
        """Return the 64 random bits of a slot's present step for a purpose.

        They depend on the seed, learner, slot, incarnation and step alone, so that it does not
        matter in which process or on which host a slot lives.
        """
        items = (stream(purpose), self.learner, slot.number, slot.incarnation, slot.steps)
        return int(hash64(self.seed, *items))

    def reset_seed(self, slot: Slot) -> int:
        """Return the seed for ``env.reset`` at the slot's present step."""
        return self.key(slot, "actors reset") >> 33  # what every generator takes

    def fragment(
        self,
        grant: Message,
        slot: Slot,
        steps: int,
        complete: bool,
        episodes: Sequence[Mapping[str, Any]],
        arrays: Mapping[str, NDArray[Any]],
    ) -> Fragment:
        """Return a slot's fragment under a grant, and count it."""
        fragment = Fragment(
            run=self.run,
            version=grant.integer("version"),
            round=grant.integer("round"),
            slot=slot.number,
            incarnation=slot.incarnation,
            sequence=slot.fragments,
            steps=steps,
            complete=complete,
            episodes=episodes,
            arrays=arrays,
        )
        slot.fragments += 1
        return fragment
