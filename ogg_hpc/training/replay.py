"""Experience replay as episode prefixes.

The partial solution of step t is the first t actions of its episode, so a tuple is an action
and a reward, 12 bytes (20 with a stored value), instead of the 8(N/P + 1) bytes of a
stored mask. Episodes lie one after another in a ring; an episode is gone as soon as its first
action is overwritten.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.random import integers, stream

# Actions chosen in each of some states, concatenated, and how many in each.
Prefixes = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class Transitions:
    """B sampled tuples: a state, an action, what followed.

    Attributes
    ----------
    graphs : (B,) int64
        Index of the training graph.
    actions : (B,) int64
        Id of the action chosen in the state: of the node, where nodes have one side.
    returns : (B,) float64
        Discounted sum of the rewards up to the next state.
    discounts : (B,) float64
        Factor of the next state's value: gamma to the number of rewards summed, 0 if terminal.
    values : (B,) float64, optional
        The next state's value as stored when it was reached.
    prefix, next_prefix : (nodes, lengths)
        Chosen actions of the states and of the next states, concatenated, and (B,) how many each.
    """

    graphs: NDArray[np.int64]
    actions: NDArray[np.int64]
    returns: NDArray[np.float64]
    discounts: NDArray[np.float64]
    values: NDArray[np.float64] | None
    prefix: Prefixes
    next_prefix: Prefixes


class ReplayBuffer:
    """The newest steps of the newest episodes.

    Parameters
    ----------
    capacity
        Number of tuples in the ring; no episode may be longer.
    n_step
        Rewards summed in a target.
    gamma
        Discount factor.
    stores_values
        Whether a value is stored with each step.
    """

    def __init__(
        self, capacity: int, n_step: int, gamma: float, stores_values: bool = False
    ) -> None:
        self._capacity = capacity
        self._n_step = n_step
        self._gamma = gamma
        self._actions = np.zeros(capacity, np.int32)
        self._rewards = np.zeros(capacity, np.float64)
        self._values = np.zeros(capacity if stores_values else 0, np.float64)
        # Steps are numbered from 0 for ever; step i lies at i modulo capacity.
        self._end = 0
        self._starts: list[int] = []
        self._graphs: list[int] = []
        self._cut: list[bool] = []  # left off before their ends

    @property
    def bytes_per_tuple(self) -> int:
        """Bytes that each tuple takes."""
        arrays = (self._actions, self._rewards, self._values)
        return sum(array.nbytes for array in arrays) // self._capacity

    @property
    def graph(self) -> int:
        """Index of the graph of the running episode."""
        return self._graphs[-1]

    @property
    def running(self) -> NDArray[np.int64]:
        """Actions of the running episode so far."""
        return self._actions[np.arange(self._starts[-1], self._end) % self._capacity].astype(
            np.int64
        )

    @property
    def running_return(self) -> float:
        """Sum of the rewards of the running episode so far."""
        places = np.arange(self._starts[-1], self._end) % self._capacity
        return float(self._rewards[places].sum())

    def start_episode(self, graph: int) -> None:
        """End the running episode and start one on another graph."""
        if self._starts and self._starts[-1] == self._end:
            self._starts.pop()
            self._graphs.pop()
            self._cut.pop()
        self._starts.append(self._end)
        self._graphs.append(graph)
        self._cut.append(False)
        oldest = int(np.searchsorted(self._starts, self._end - self._capacity))
        del self._starts[:oldest], self._graphs[:oldest], self._cut[:oldest]

    def append(self, action: int, reward: float, value: float = 0.0) -> None:
        """Add a step of the running episode.

        Parameters
        ----------
        action
            Node id.
        reward
            What it earned.
        value
            Value of the state it leads to, where targets are stored.
        """
        if self._end - self._starts[-1] == self._capacity:
            raise SettingsError(
                f"an episode is longer than the replay buffer ({self._capacity} steps); "
                "raise learning.replay"
            )
        place = self._end % self._capacity
        self._actions[place], self._rewards[place] = action, reward
        if len(self._values):
            self._values[place] = value
        self._end += 1

    def usable(self, ahead: int = 0) -> tuple[int, int]:
        """Return the range of steps that have an n-step target by now.

        The running episode's last steps wait for the states they lead to.

        Parameters
        ----------
        ahead
            How many steps later the running episode is taken to be.
        """
        end = self._end + ahead
        first = next((s for s in self._starts if s >= end - self._capacity), end)
        running = self._starts[-1]
        return first, max(running, end - self._n_step + 1) if end > running else running

    def sample(self, count: int, seed: int, *items: int) -> Transitions | None:
        """Draw tuples uniformly, with replacement, keyed by seed and items; None without any."""
        first, last = self.usable()
        return None if last <= first else self.transitions(_drawn(first, last, count, seed, *items))

    def graphs_ahead(self, ahead: int, count: int, seed: int, *items: int) -> list[int]:
        """Return the graphs of what `sample` will draw some steps later.

        They are most of them where the running episode ends before.
        """
        first, last = self.usable(ahead)
        steps = _drawn(first, max(first, last), count, seed, *items).tolist()
        return [self._graphs[bisect_right(self._starts, step) - 1] for step in steps]

    def transitions(self, steps: NDArray[np.int64]) -> Transitions:
        """Return the tuples of given steps."""
        starts = np.array([*self._starts, self._end])
        episode = np.searchsorted(starts[:-1], steps, side="right") - 1
        start, end = starts[episode], starts[episode + 1]
        following = np.minimum(steps + self._n_step, end)
        finished = (episode < len(self._starts) - 1) & ~np.array(self._cut)[episode]
        returns = np.zeros(len(steps))
        for ahead in range(self._n_step):
            inside = steps + ahead < end
            reward = self._rewards[(steps + ahead) % self._capacity]
            returns += np.where(inside, self._gamma**ahead * reward, 0.0)
        discounts = np.where(
            finished & (following == end), 0.0, self._gamma ** (following - steps).astype(float)
        )
        return Transitions(
            graphs=np.array(self._graphs)[episode],
            actions=self._actions[steps % self._capacity].astype(np.int64),
            returns=returns,
            discounts=discounts,
            values=self._values[(following - 1) % self._capacity] if len(self._values) else None,
            prefix=self._prefix(start, steps - start),
            next_prefix=self._prefix(start, following - start),
        )

    def _prefix(self, start: NDArray[np.int64], length: NDArray[np.int64]) -> Prefixes:
        within = np.arange(length.sum()) - (np.cumsum(length) - length).repeat(length)
        places = (start.repeat(length) + within) % self._capacity
        return self._actions[places].astype(np.int64), length

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return everything as arrays, for a checkpoint."""
        return {
            "actions": self._actions,
            "rewards": self._rewards,
            "values": self._values,
            "end": np.array(self._end),
            "starts": np.array(self._starts, np.int64),
            "graphs": np.array(self._graphs, np.int64),
            "cut": np.array(self._cut, bool),
        }

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Take over what `state` returned."""
        self._actions = np.array(state["actions"], np.int32)
        self._rewards = np.array(state["rewards"], np.float64)
        self._values = np.array(state["values"], np.float64)
        self._end = int(state["end"])
        self._starts = state["starts"].tolist()
        self._graphs = state["graphs"].tolist()
        self._cut = state["cut"].tolist()


def _drawn(first: int, last: int, count: int, seed: int, *items: int) -> NDArray[np.int64]:
    """Draw from a range of steps."""
    return first + integers(last - first, seed, stream("replay"), *items, np.arange(count))
