"""Experience of one number of groups of ranks, shared out among another.

Old group g goes to new group g mod G, which goes on with the running episode of the first that
it gets. The running episodes of the others are left off: what they hold stays, with targets that
reach as far as the episode does. A group that was not there before starts with a copy of what
old group g mod G holds, and with an episode of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# What `ReplayBuffer.state` returns, and how many episodes the group has started, as "episodes".
GroupState = dict[str, NDArray[np.generic]]


@dataclass(frozen=True)
class _Episode:
    """Steps in a row on one graph.

    Attributes
    ----------
    graph
        Its index.
    places
        Where its steps lie in the ring of `state`.
    age
        How many steps the group has made since it began.
    cut
        Whether it was left off before its end.
    state
        The group it is of.
    """

    graph: int
    places: NDArray[np.int64]
    age: int
    cut: bool
    state: GroupState


def regrouped(states: list[GroupState], groups: int) -> list[GroupState]:
    """Return the state of each of another number of groups.

    Parameters
    ----------
    states
        What the groups of a checkpoint held.
    groups
        How many there are now; for as many as before, the states are the same.
    """
    old = len(states)
    if groups == old:
        return states
    return [
        _merged(states[group::groups]) if group < old else _left_off(states[group % old])
        for group in range(groups)
    ]


def _merged(states: list[GroupState]) -> GroupState:
    """Return the state of a group that goes on with the first and has what the others hold."""
    first = states[0]
    *finished, running = _episodes(first)
    others = [episode for state in states[1:] for episode in _episodes(_left_off(state))]
    # What is forgotten first, for want of room now or later, is what is oldest.
    ordered = sorted(
        (episode for episode in finished + others if len(episode.places)), key=lambda e: -e.age
    )
    return _ring([*ordered, running], first)


def _left_off(state: GroupState) -> GroupState:
    """Return a state whose running episode will not be gone on with."""
    cut = np.array(state["cut"])
    cut[-1] = True
    return {**state, "cut": cut, "episodes": np.array(0)}


def _episodes(state: GroupState) -> list[_Episode]:
    """Return the episodes that a state has whole, the running one last."""
    capacity, end = len(state["actions"]), int(state["end"])
    starts = state["starts"].tolist()
    return [
        _Episode(int(graph), np.arange(start, until) % capacity, end - start, bool(cut), state)
        for start, until, graph, cut in zip(
            starts, [*starts[1:], end], state["graphs"], state["cut"], strict=True
        )
        if start >= end - capacity
    ]


def _ring(episodes: list[_Episode], like: GroupState) -> GroupState:
    """Return a state that holds given episodes, or the last of them that there is room for."""
    capacity = len(like["actions"])
    lengths = np.array([len(episode.places) for episode in episodes])
    fit = np.cumsum(lengths[::-1])[::-1] <= capacity
    episodes, lengths = episodes[int(np.argmax(fit)) :], lengths[fit]
    state: GroupState = {}
    for name in ("actions", "rewards", "values"):
        state[name] = np.zeros_like(like[name])
        if len(like[name]):
            steps = [episode.state[name][episode.places] for episode in episodes]
            state[name][: lengths.sum()] = np.concatenate(steps)
    return state | {
        "end": np.array(lengths.sum()),
        "starts": np.cumsum(lengths) - lengths,
        "graphs": np.array([episode.graph for episode in episodes], np.int64),
        "cut": np.array([episode.cut for episode in episodes], bool),
        "episodes": like["episodes"],
    }
