from __future__ import annotations

import pytest
from rdkit import Chem, rdBase

from ogg_hpc.actors.environments.molecules.kinds import KINDS

USUAL_VALENCE = ("I", "S+", "S-")  # RDKit permits more


def bonded_to(kind, neighbours):
    molecule = Chem.RWMol()
    atom = Chem.Atom(kind.element)
    atom.SetFormalCharge(kind.charge)
    molecule.AddAtom(atom)
    for number in range(1, neighbours + 1):
        molecule.AddAtom(Chem.Atom("C"))
        molecule.AddBond(0, number, Chem.BondType.SINGLE)
    return molecule


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_rdkit_permits_each_valence_up_to_the_largest_and_none_above(kind):
    for bonds in range(kind.valence + 1):
        Chem.SanitizeMol(bonded_to(kind, bonds))
    if kind.name not in USUAL_VALENCE:
        with rdBase.BlockLogs(), pytest.raises(Chem.AtomValenceException):
            Chem.SanitizeMol(bonded_to(kind, kind.valence + 1))
