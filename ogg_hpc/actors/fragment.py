"""What was experienced: the steps of one slot under one grant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.message import MalformedMessageError, Message
from ogg_hpc.actors.schema import Leaf


@dataclass(frozen=True)
class Layout:
    """Which arrays the fragments of an algorithm have.

    Parameters
    ----------
    steps
        Arrays with one row a step.
    episodes
        Arrays with one row for each episode that ended.
    """

    steps: tuple[Leaf, ...]
    episodes: tuple[Leaf, ...] = ()


def prefixed(prefix: str, leaves: Iterable[Leaf]) -> tuple[Leaf, ...]:
    """Return leaves under the names ``prefix/name``, as arrays of fragments have them."""
    return tuple(leaf.renamed(f"{prefix}/{leaf.name}") for leaf in leaves)


@dataclass(frozen=True, eq=False)
class Fragment:
    """The steps of one slot under one grant.

    Parameters
    ----------
    run
        Id of the run.
    version
        Version of the weights that chose the actions.
    round
        That of the grant.
    slot
        Number of the environment in its learner.
    incarnation
        How often the slot was started anew.
    sequence
        How many fragments this incarnation has made before.
    steps
        How many steps it holds.
    complete
        Whether these are all that were granted; False after a cut.
    episodes
        Of each episode that ended, in order: ``return``, ``length``, and what the environment
        says of it under ``info["episode"]``.
    arrays
        As the algorithm's `Layout` says.
    """

    run: str
    version: int
    round: int
    slot: int
    incarnation: int
    sequence: int
    steps: int
    complete: bool
    episodes: Sequence[Mapping[str, Any]]
    arrays: Mapping[str, NDArray[Any]]

    @classmethod
    def of(cls, message: Message, layout: Layout) -> Fragment:
        """Return the fragment of a message, after a check of all that it says.

        Raises
        ------
        MalformedMessageError
            A field is missing or of another type, an array is missing or there without being
            expected, or has another dtype, shape or range than the layout's.
        """
        integers = ("version", "round", "slot", "incarnation", "sequence", "steps")
        episodes = message.fields.get("episodes")
        if not isinstance(episodes, list) or not all(map(_is_episode, episodes)):
            raise MalformedMessageError("fragment: episodes need a return and a length each")
        fragment = cls(
            run=message.text("run"),
            **{name: message.integer(name) for name in integers},
            complete=message.flag("complete"),
            episodes=episodes,
            arrays=message.arrays,
        )
        rows = [
            *((leaf, fragment.steps) for leaf in layout.steps),
            *((leaf, len(episodes)) for leaf in layout.episodes),
        ]
        expected = {leaf.name for leaf, _ in rows}
        if expected != set(fragment.arrays):
            odd = ", ".join(sorted(expected ^ set(fragment.arrays)))
            raise MalformedMessageError(f"fragment: arrays that miss or are too many: {odd}")
        for leaf, count in rows:
            leaf.check(fragment.arrays[leaf.name], count)
        if {"terminated", "truncated"} <= expected:
            ended = fragment.arrays["terminated"] | fragment.arrays["truncated"]
            if np.count_nonzero(ended) != len(episodes):
                raise MalformedMessageError("fragment: as many episodes are expected as ended")
        return fragment

    def message(self) -> Message:
        """Return the message that takes it to the learner."""
        names = ("run", "version", "round", "slot", "incarnation", "sequence", "steps", "complete")
        fields = {name: getattr(self, name) for name in names}
        return Message("fragment", {**fields, "episodes": list(self.episodes)}, self.arrays)


def _is_episode(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and type(value.get("return")) in (int, float)
        and type(value.get("length")) is int
        and value["length"] >= 0
    )
