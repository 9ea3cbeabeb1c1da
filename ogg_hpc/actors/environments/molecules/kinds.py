"""Kinds of atoms: element, formal charge, and how many bonds they can have.

Valencies are the largest that RDKit permits, but for I, S+ and S-, which keep their usual ones.
What an atom has left is filled up by hydrogen, which is never written down.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """What an atom can be.

    Attributes
    ----------
    name : str
        Element and sign of the charge, such as ``N+``.
    element : str
        Symbol of the element.
    charge : int
        Formal charge.
    valence : int
        Largest sum of the orders of its bonds.
    """

    name: str
    element: str
    charge: int
    valence: int


KINDS = {
    kind.name: kind
    for kind in (
        Kind("B", "B", 0, 3),
        Kind("C", "C", 0, 4),
        Kind("N", "N", 0, 3),
        Kind("O", "O", 0, 2),
        Kind("F", "F", 0, 1),
        Kind("Si", "Si", 0, 4),
        Kind("P", "P", 0, 5),
        Kind("S", "S", 0, 6),
        Kind("Cl", "Cl", 0, 1),
        Kind("Br", "Br", 0, 1),
        Kind("I", "I", 0, 1),
        Kind("N+", "N", 1, 4),
        Kind("O+", "O", 1, 3),
        Kind("P+", "P", 1, 4),
        Kind("S+", "S", 1, 3),
        Kind("N-", "N", -1, 2),
        Kind("O-", "O", -1, 1),
        Kind("S-", "S", -1, 1),
    )
}
LARGEST_VALENCE = max(kind.valence for kind in KINDS.values())
LARGEST_ORDER = 3
