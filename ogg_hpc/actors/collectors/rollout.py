"""The steps of the slots of a process under one grant, while they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.fragment import Layout, prefixed
from ogg_hpc.actors.networks.network import Acted, Arrays
from ogg_hpc.actors.schema import Leaf, Schema

_OF_A_STEP = (
    Leaf("log_probability", "float32"),
    Leaf("value", "float32"),
    Leaf("next_value", "float32"),
    Leaf("reward", "float32"),
    Leaf("terminated", "bool"),
    Leaf("truncated", "bool"),
)


def step_layout(schema: Schema) -> Layout:
    """Return which arrays a fragment of single steps has."""
    observations = prefixed("observation", schema.observations)
    return Layout((*observations, *prefixed("action", schema.actions), *_OF_A_STEP))


class Rollout:
    """Arrays (steps, slots, ...) that fill up step by step.

    Parameters
    ----------
    schema
        What is observed and done.
    steps, slots
        How many there are at most.
    """

    def __init__(self, schema: Schema, steps: int, slots: int) -> None:
        self._schema = schema
        self._arrays: Arrays = {
            leaf.name: np.zeros((steps, slots, *leaf.shape), leaf.dtype)
            for leaf in step_layout(schema).steps
        }
        self._to_value: list[tuple[int, int, Arrays]] = []

    def observe(self, step: int, observations: list[Arrays]) -> Arrays:
        """Note what the first slots show before a step; return it, (n, ...) by leaf."""
        rows = {}
        for leaf in self._schema.observations:
            rows[leaf.name] = self._arrays[f"observation/{leaf.name}"][step, : len(observations)]
            for i, observation in enumerate(observations):
                rows[leaf.name][i] = observation[leaf.name]
        return rows

    def act(self, step: int, acted: Acted) -> None:
        """Note what the first slots do."""
        count = len(acted.value)
        for name, action in acted.actions.items():
            self._arrays[f"action/{name}"][step, :count] = action
        self._arrays["log_probability"][step, :count] = acted.log_probability
        self._arrays["value"][step, :count] = acted.value

    def reward(
        self, step: int, slot: int, reward: float, *, terminated: bool, truncated: bool
    ) -> None:
        """Note what a slot's step has brought."""
        self._arrays["reward"][step, slot] = reward
        self._arrays["terminated"][step, slot] = terminated
        self._arrays["truncated"][step, slot] = truncated

    def leads_to(self, step: int, slot: int, observation: Arrays) -> None:
        """Note the state after a step, where its value is needed."""
        # A copy: an environment may show all its states in one array.
        kept = {name: each.copy() for name, each in observation.items()}
        self._to_value.append((step, slot, kept))

    def fill_in_values(self, value: Callable[[Arrays], NDArray[np.float32]]) -> None:
        """Value the states that `leads_to` has noted, all at once."""
        if not self._to_value:
            return
        steps, slots, observations = zip(*self._to_value, strict=True)
        stacked = {
            name: np.stack([each[name] for each in observations]) for name in observations[0]
        }
        self._arrays["next_value"][list(steps), list(slots)] = value(stacked)

    def fragment(self, slot: int, steps: int) -> dict[str, NDArray[Any]]:
        """Return the arrays of a slot's first steps."""
        return {name: array[:steps, slot] for name, array in self._arrays.items()}
