"""A molecule that is being built: a connected graph with the rules that decide what may be added.

No RDKit here: valency and the sizes of rings decide, both known from what was there before the
last bond, so that a step costs some microseconds.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.environments.molecules.kinds import KINDS, LARGEST_ORDER
from ogg_hpc.actors.environments.molecules.settings import MoleculeSettings


class MolecularGraph:
    """Atoms and bonds, all atoms connected.

    Parameters
    ----------
    settings
        Kinds of atoms and limits.

    Attributes
    ----------
    count, bond_count : int
        Number of atoms and of bonds.
    atoms, bonds, free_valence
        As `spaces` tells of observations. To be read only.
    """

    def __init__(self, settings: MoleculeSettings) -> None:
        most = settings.max_atoms
        self.settings = settings
        self.count = 0
        self.bond_count = 0
        self.atoms = np.zeros(most, np.int8)
        self.bonds = np.zeros((settings.max_bonds, 3), np.int8)
        self.free_valence = np.zeros(most, np.int8)
        self._valences = np.array([KINDS[name].valence for name in settings.kinds], np.int8)
        # Bonds between two atoms; what it says where there are no atoms has no meaning.
        self._distances = np.zeros((most, most), np.uint8)

    @property
    def rings(self) -> int:
        """Number of independent rings."""
        return self.bond_count - self.count + 1

    def copy(self) -> Self:
        """Return a molecule of its own with the same atoms and bonds."""
        twin = type(self)(self.settings)
        twin.count, twin.bond_count = self.count, self.bond_count
        for name in ("atoms", "bonds", "free_valence", "_distances"):
            getattr(twin, name)[...] = getattr(self, name)
        return twin

    def add_atom(self, kind: int) -> int:
        """Add an atom without bonds and return its number; `add_bond` has to connect it.

        Parameters
        ----------
        kind
            Number in ``settings.kinds``.
        """
        atom = self.count
        self.count += 1
        self.atoms[atom] = kind + 1
        self.free_valence[atom] = self._valences[kind]
        return atom

    def add_bond(self, first: int, second: int, order: int) -> None:
        """Add a bond that `largest_orders` allows, or one that a start has in spite of its rings.

        Parameters
        ----------
        first
            An atom.
        second
            Another atom, or ``max_atoms + kind`` for a new one.
        order
            1, 2 or 3.
        """
        if second >= self.settings.max_atoms:
            second = self.add_atom(second - self.settings.max_atoms)
            self._connect_last_atom(first)
        else:
            self._shorten_distances(first, second)
        self.bonds[self.bond_count] = first, second, order
        self.bond_count += 1
        self.free_valence[first] -= order
        self.free_valence[second] -= order

    def largest_orders(self) -> NDArray[np.uint8]:
        """Return what may be added.

        Returns
        -------
        ndarray, shape (N, A), uint8
            Largest order of a new bond between an atom and an atom or new atom; 0 where none is
            allowed.
        """
        settings = self.settings
        most = settings.max_atoms
        free = np.minimum(self.free_valence, LARGEST_ORDER).astype(np.uint8)
        orders = np.zeros((most, most + len(self._valences)), np.uint8)
        if self.rings < settings.max_rings:
            closes = self._distances >= settings.smallest_ring - 1
            closes &= self._distances < settings.largest_ring
            np.multiply(np.minimum.outer(free, free), closes, out=orders[:, :most])
        if self.count < most:
            np.minimum.outer(free, self._valences.astype(np.uint8), out=orders[:, most:])
        if self.count < settings.min_atoms:
            kept_open = np.minimum(orders, self._orders_that_keep_it_open())
            return kept_open if kept_open.any() else orders
        return orders

    def _orders_that_keep_it_open(self) -> NDArray[np.uint8]:
        """Return the (A,) largest orders of bonds to each end that leave something to add to."""
        brought = np.zeros(self.settings.max_atoms + len(self._valences), np.int64)
        brought[self.settings.max_atoms :] = self._valences
        # A bond takes its order from both ends.
        largest = (int(self.free_valence.sum()) + brought - 1) // 2
        if self.count + 1 >= self.settings.min_atoms:
            largest[self.settings.max_atoms :] = LARGEST_ORDER
        return largest.clip(0, LARGEST_ORDER).astype(np.uint8)

    def _connect_last_atom(self, neighbour: int) -> None:
        last = self.count - 1
        distances = self._distances[neighbour, :last] + np.uint8(1)
        self._distances[last, :last] = distances
        self._distances[:last, last] = distances

    def _shorten_distances(self, first: int, second: int) -> None:
        """Take up a bond between two atoms: a shortest path uses it once or not at all."""
        n = self.count
        distances = self._distances[:n, :n]
        to_first, to_second = distances[first] + np.uint8(1), distances[second] + np.uint8(1)
        np.minimum(distances, np.add.outer(to_first, distances[second]), out=distances)
        np.minimum(distances, np.add.outer(to_second, distances[first]), out=distances)
