"""What an agent sees of a molecule that is being built, and what it can do.

Let N be the most atoms (`max_atoms`), K the number of kinds of atoms that can be added, B the most
bonds (N − 1 + `max_rings`). Atoms are numbered 0 … count − 1 in the order they were added. The
number N + k stands for a new atom of kind k, so that A = N + K things can be at the far end of a
new bond.

Observation: a dictionary of

``atoms`` (N,) int8
    Kind of each atom plus 1, that is 1 … K; 0 where there is no atom. The atoms come first.
``bonds`` (B, 3) int8
    Rows (first atom, second atom, order 1 … 3) in the order they were added, then rows of 0.
``free_valence`` (N,) int8
    How much of its valence each atom has left; 0 where there is no atom.
``action_mask`` (N, ⌈A / 4⌉) uint8
    What may be added: for each atom and each far end the largest order of a bond between them,
    0 … 3, where 0 forbids it. Two bits each; `largest_orders` unpacks them. Symmetric among atoms.
``stop_mask`` (2,) int8
    Whether the agent may go on, and whether it may stop. One of them is always 1.

Action: ``[first, second, order - 1, stop]``, sizes (N, A, 3, 2), int64. With ``stop`` 1 the
episode ends and the others do not count. Else a bond is added between atom `first` and atom or
new atom `second`. Chosen one after the other, with L = ``largest_orders(action_mask, A)``,

- stop is any value with ``stop_mask[stop]``;
- first is any i with ``(L[i] > 0).any()``;
- second is any j with ``L[first, j] > 0``;
- the order is any of 1 … ``L[first, second]``.

An action outside of this is defined too: nothing changes but the count of steps, and the reward
is minus `invalid_penalty`.
"""

from __future__ import annotations

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ogg_hpc.actors.environments.molecules.kinds import LARGEST_ORDER, LARGEST_VALENCE

PER_BYTE = 4  # far ends whose largest orders share a byte
_SHIFTS = np.arange(0, 8, 2, dtype=np.uint8)


def observation_space(max_atoms: int, kinds: int, max_bonds: int) -> spaces.Dict:
    """Return the space of the observations.

    Parameters
    ----------
    max_atoms, kinds, max_bonds
        N, K and B.
    """
    bytes_of_mask = -(-(max_atoms + kinds) // PER_BYTE)
    highest = max(max_atoms - 1, LARGEST_ORDER)
    return spaces.Dict(
        {
            "atoms": spaces.Box(0, kinds, (max_atoms,), np.int8),
            "bonds": spaces.Box(0, highest, (max_bonds, 3), np.int8),
            "free_valence": spaces.Box(0, LARGEST_VALENCE, (max_atoms,), np.int8),
            "action_mask": spaces.Box(0, 255, (max_atoms, bytes_of_mask), np.uint8),
            "stop_mask": spaces.Box(0, 1, (2,), np.int8),
        }
    )


def action_space(max_atoms: int, kinds: int) -> spaces.MultiDiscrete:
    """Return the space of the actions, for N and K."""
    return spaces.MultiDiscrete([max_atoms, max_atoms + kinds, LARGEST_ORDER, 2])


def pack_orders(orders: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Put four orders, 0 … 3 each, into a byte, the first into its lowest bits: (…, A) → (…, W)."""
    packed = orders[..., ::PER_BYTE].copy()
    for place in range(1, PER_BYTE):
        part = orders[..., place::PER_BYTE]
        packed[..., : part.shape[-1]] |= part << _SHIFTS[place]
    return packed


def largest_orders(action_mask: NDArray[np.uint8], ends: int) -> NDArray[np.uint8]:
    """Unpack an action mask, or any number of them: (…, W) → (…, A), with A = `ends`."""
    orders = (action_mask[..., None] >> _SHIFTS) & np.uint8(3)
    return orders.reshape(*action_mask.shape[:-1], -1)[..., :ends]
