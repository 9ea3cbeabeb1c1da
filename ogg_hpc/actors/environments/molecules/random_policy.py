"""The policy that knows nothing but what is allowed: a baseline, and what tests walk with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogg_hpc.actors.environments.molecules.spaces import largest_orders


def random_action(
    observation: dict[str, NDArray[Any]], ends: int, generator: np.random.Generator, stop: float
) -> NDArray[np.int64]:
    """Return an action that the masks of an observation allow.

    Parameters
    ----------
    observation
        Of one environment.
    ends
        Number of far ends: atoms at most, and kinds.
    generator
        Source of randomness.
    stop
        Probability of stopping where it is allowed, and not forced.
    """
    may_go_on, may_stop = observation["stop_mask"]
    if not may_go_on or (may_stop and generator.random() < stop):
        return np.array([0, 0, 0, 1])
    orders = largest_orders(observation["action_mask"], ends)
    first, second, order = random_bond(orders, generator)
    return np.array([first, second, order - 1, 0])


def random_bond(orders: NDArray[np.uint8], generator: np.random.Generator) -> tuple[int, int, int]:
    """Return first atom, far end and order of a bond, drawn evenly one after the other.

    Parameters
    ----------
    orders
        (N, A) largest orders, as `MolecularGraph.largest_orders` gives them; not all 0.
    generator
        Source of randomness.
    """
    first = _draw(orders.any(axis=1), generator)
    second = _draw(orders[first], generator)
    return first, second, int(generator.integers(orders[first, second])) + 1


def _draw(allowed: ArrayLike, generator: np.random.Generator) -> int:
    """Return the number of a place that is not zero."""
    places = np.flatnonzero(allowed)
    return int(places[generator.integers(len(places))])
