from __future__ import annotations

import pytest
from rdkit import Chem

from ogg_hpc.actors.environments.molecules.strain import (
    LARGEST_STRAIN,
    angle_strain,
    is_strained,
)


def strained(smiles):
    return is_strained(Chem.MolFromSmiles(smiles))


@pytest.mark.parametrize("smiles", ["C", "CCO", "c1ccccc1", "CC(=O)Nc1ccc(O)cc1"])
def test_ordinary_molecules_are_not_strained(smiles):
    assert not strained(smiles)


def test_bent_molecules_are_strained():
    assert angle_strain(Chem.MolFromSmiles("C1=C=CC1")) > LARGEST_STRAIN  # wants to be straight
    assert strained("C1=C=CC1")


def test_a_molecule_without_a_shape_or_without_parameters_is_refused():
    assert angle_strain(Chem.MolFromSmiles("C1#CCC1")) is None
    assert strained("C1#CCC1")
    assert angle_strain(Chem.MolFromSmiles("CB(C)C")) is None  # no boron in MMFF94
    assert strained("CB(C)C")


def test_strain_is_the_same_each_time():
    molecule = Chem.MolFromSmiles("C1CC1CCN")
    assert angle_strain(molecule) == angle_strain(molecule)
