"""Experience of many environments, as the actions of their newest episodes.

The state of step t is made from the first t actions of its episode, as in
`ogg_hpc.training.replay`; there one episode is running, here one in each slot. 12 bytes a step.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.random import integers, stream
from ogg_hpc.training.replay import Prefixes, Transitions


@dataclass(eq=False)
class Episode:
    """Steps in a row on one graph.

    Attributes
    ----------
    graph
        Its number.
    actions, rewards
        Of its steps, as int32 and float64.
    running
        Whether steps may follow.
    cut
        Whether it was left off before its end.
    """

    graph: int
    actions: array[int] = field(default_factory=lambda: array("i"))
    rewards: array[float] = field(default_factory=lambda: array("d"))
    running: bool = True
    cut: bool = False

    def __len__(self) -> int:
        return len(self.actions)

    def usable(self, n_step: int) -> int:
        """Return how many of its steps have a target; the last of a running one wait for it."""
        return max(0, len(self) - n_step + 1) if self.running else len(self)

    def prefix(self, length: int) -> NDArray[np.int64]:
        """Return its first actions."""
        return np.frombuffer(self.actions, np.int32, length).astype(np.int64)


class EpisodeReplay:
    """The newest episodes, whole, of all slots.

    Parameters
    ----------
    capacity
        The most steps that are held; where there are more, the oldest episodes go.
    n_step
        Rewards summed in a target.
    gamma
        Discount factor.

    Attributes
    ----------
    steps : int
        How many are held.
    """

    def __init__(self, capacity: int, n_step: int, gamma: float) -> None:
        self._capacity, self._n_step = capacity, n_step
        self._discounts = gamma ** np.arange(n_step + 1)
        self._episodes: list[Episode] = []  # by the time that they began
        self._running: dict[int, Episode] = {}  # by slot
        self._ends: NDArray[np.int64] | None = None  # of the episodes' usable steps, summed up
        self.steps = 0

    def extend(
        self,
        slot: int,
        graphs: NDArray[Any],
        first: NDArray[np.bool_],
        actions: NDArray[Any],
        rewards: NDArray[Any],
    ) -> None:
        """Add steps of a slot.

        Parameters
        ----------
        slot
            Where they were made.
        graphs, first, actions, rewards
            (T,) each: the graph's number, whether an episode begins with the step, the action's id,
            and what it earned. Steps that continue no episode that is known are passed over.

        Raises
        ------
        SettingsError
            The running episodes are longer than the capacity.
        """
        starts = np.flatnonzero(first)
        bounds = [*dict.fromkeys([0, *starts.tolist()]), len(first)]
        for start, stop in pairwise(bounds):
            if start < stop and first[start]:
                self._end(slot)
                self._running[slot] = Episode(int(graphs[start]))
                self._episodes.append(self._running[slot])
            if slot in self._running:
                episode = self._running[slot]
                episode.actions.frombytes(actions[start:stop].astype(np.int32).tobytes())
                episode.rewards.frombytes(rewards[start:stop].astype(np.float64).tobytes())
                self.steps += stop - start
        self._forget()
        self._ends = None

    def leave_off(self, slot: int) -> None:
        """End a slot's running episode where it is: no steps of it will follow."""
        if slot in self._running:
            self._running[slot].cut = True
            self._end(slot)

    def sample(self, count: int, seed: int, *items: int) -> Transitions | None:
        """Draw tuples uniformly, with replacement, keyed by seed and items; None without any."""
        if self._ends is None:
            usable = (episode.usable(self._n_step) for episode in self._episodes)
            self._ends = np.cumsum(np.fromiter(usable, np.int64, len(self._episodes)))
        total = int(self._ends[-1]) if len(self._ends) else 0
        if not total:
            return None
        drawn = integers(total, seed, stream("replay"), *items, np.arange(count))
        which = np.searchsorted(self._ends, drawn, side="right")
        before = np.concatenate([[0], self._ends])[which]
        return self._transitions([self._episodes[i] for i in which], drawn - before)

    def _transitions(self, episodes: list[Episode], steps: NDArray[np.int64]) -> Transitions:
        lengths = np.array([len(episode) for episode in episodes])
        following = np.minimum(steps + self._n_step, lengths)
        finished = ~np.array([episode.running or episode.cut for episode in episodes])
        returns = [
            float(np.frombuffer(each.rewards)[step:until] @ self._discounts[: until - step])
            for each, step, until in zip(episodes, steps, following, strict=True)
        ]
        return Transitions(
            graphs=np.array([episode.graph for episode in episodes]),
            actions=np.array(
                [each.actions[step] for each, step in zip(episodes, steps, strict=True)], np.int64
            ),
            returns=np.array(returns),
            discounts=np.where(
                finished & (following == lengths), 0.0, self._discounts[following - steps]
            ),
            values=None,
            prefix=_prefixes(episodes, steps),
            next_prefix=_prefixes(episodes, following),
        )

    def _end(self, slot: int) -> None:
        if slot in self._running:
            self._running.pop(slot).running = False
            self._ends = None

    def _forget(self) -> None:
        """Drop the oldest episodes that are not running, as many as there is no room for."""
        excess = self.steps - self._capacity
        if excess <= 0:
            return
        kept = []
        for episode in self._episodes:
            if excess > 0 and not episode.running:
                excess -= len(episode)
                self.steps -= len(episode)
            else:
                kept.append(episode)
        if excess > 0:
            raise SettingsError(
                f"the running episodes are longer than the replay buffer ({self._capacity} steps); "
                "raise dqn.replay"
            )
        self._episodes = kept

    # State.

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return all episodes as arrays; running ones will not be gone on with."""
        episodes = self._episodes
        empty = np.empty(0)
        return {
            "graphs": np.array([episode.graph for episode in episodes], np.int64),
            "lengths": np.array([len(episode) for episode in episodes], np.int64),
            "cut": np.array([episode.cut or episode.running for episode in episodes], bool),
            "actions": np.concatenate(
                [empty, *(episode.actions for episode in episodes)], dtype=np.int32,
                casting="unsafe",
            ),
            "rewards": np.concatenate([empty, *(episode.rewards for episode in episodes)]),
        }  # fmt: skip

    def restore(self, states: Iterable[dict[str, NDArray[Any]]]) -> None:
        """Take over what `state` returned, in one buffer or in several."""
        self._episodes, self._running, self._ends = [], {}, None
        for state in states:
            stops = np.cumsum(state["lengths"])
            for graph, cut, stop, length in zip(
                state["graphs"], state["cut"], stops, state["lengths"], strict=True
            ):
                part = slice(int(stop - length), int(stop))
                actions = array("i", state["actions"][part].astype(np.int32).tobytes())
                rewards = array("d", state["rewards"][part].astype(np.float64).tobytes())
                self._episodes.append(Episode(int(graph), actions, rewards, False, bool(cut)))
        self.steps = sum(map(len, self._episodes))
        self._forget()


def _prefixes(episodes: list[Episode], lengths: NDArray[np.int64]) -> Prefixes:
    parts = [each.prefix(length) for each, length in zip(episodes, lengths, strict=True)]
    return np.concatenate(parts), lengths
