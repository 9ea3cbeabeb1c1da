from __future__ import annotations

import csv

import pytest
from rdkit import Chem

from ogg_hpc.actors.environments.molecules.chemistry import graph_of, molecule_of
from ogg_hpc.actors.environments.molecules.kinds import KINDS
from ogg_hpc.actors.environments.molecules.molecular_graph import MolecularGraph
from ogg_hpc.actors.environments.molecules.settings import MoleculeSettings

ALL_KINDS = MoleculeSettings(kinds=tuple(KINDS))


def without_stereo(molecule):
    molecule = Chem.Mol(molecule)
    Chem.RemoveStereochemistry(molecule)
    return Chem.MolToSmiles(molecule)


@pytest.mark.parametrize(
    "smiles",
    [
        "C",
        "c1ccccc1",
        "c1cc[nH]c1",
        "C[N+](C)(C)CC(=O)[O-]",
        "CC(=O)Nc1ccc(O)cc1",
        "O=[N+]([O-])c1ccccc1",
        "c1cc[nH+]cc1",
        "[NH3+]C",
        "CS(=O)(=O)c1ccc(Cl)cc1",
        "C[S+](C)[O-]",
        "OP(=O)(O)O",
        "[H]C#N",
        "OB(O)c1ccccc1",
        "c1ccc2c(c1)[n-]cc2",
    ],
)
def test_molecules_come_back_from_their_graphs(smiles):
    molecule = Chem.MolFromSmiles(smiles)
    assert Chem.MolToSmiles(molecule_of(graph_of(molecule, ALL_KINDS))) == Chem.MolToSmiles(
        molecule
    )


def test_stereochemistry_is_left_out():
    molecule = Chem.MolFromSmiles("C[C@H](N)/C=C/F")
    assert Chem.MolToSmiles(molecule_of(graph_of(molecule, ALL_KINDS))) == "CC(N)C=CF"


def test_the_masks_allow_all_bonds_of_real_molecules(shared_data):
    """Each of 1,000 molecules of ZINC can be built, atom by atom, as the rules stand."""
    path = shared_data / "mols" / "zinc_sample_1000.csv"
    if not path.is_file():
        pytest.skip(f"needs {path}")
    with path.open(encoding="utf-8") as lines:
        sample = [row["smiles"] for row in csv.DictReader(lines)]
    assert len(sample) == 1000
    for smiles in sample:
        molecule = Chem.MolFromSmiles(smiles)  # sanitises
        found = graph_of(molecule, ALL_KINDS)
        graph = MolecularGraph(ALL_KINDS)
        graph.add_atom(found.atoms[0] - 1)
        for first, second, order in found.bonds[: found.bond_count].tolist():
            if second == graph.count:
                second = ALL_KINDS.max_atoms + int(found.atoms[second]) - 1
            assert graph.largest_orders()[first, second] >= order, smiles
            graph.add_bond(first, second, order)
        assert Chem.MolToSmiles(molecule_of(graph)) == without_stereo(molecule)


@pytest.mark.parametrize(
    ("smiles", "options", "message"),
    [
        ("CCC", {"max_atoms": 2}, r"has 3 atoms, not 1 to max_atoms = 2"),
        ("", {}, "has 0 atoms"),
        ("C1CC1", {"max_rings": 0}, r"has 1 rings; max_rings = 0"),
        ("CC=[Se]", {}, "has an atom Se; kinds are B, C"),
        ("C[NH3+]", {"kinds": ("C", "N")}, r"has an atom N\+; kinds are C, N"),
        ("C[N-2]", {}, "has an atom N of charge -2; kinds"),
        ("CC.C", {}, "is more than one molecule"),
        ("C.CC", {}, "is more than one molecule"),
        ("CI(Cl)Cl", {}, "has an atom I of valence above 1"),
        ("[13CH4]", {}, "has isotopes, radicals or numbers of hydrogen"),
        ("[CH3]", {}, "has isotopes, radicals or numbers of hydrogen"),
        ("C[NH2]->[B]", {}, "has a bond DATIVE"),
    ],
)
def test_what_cannot_be_built_is_told(smiles, options, message):
    settings = MoleculeSettings(**{"kinds": tuple(KINDS), **options})
    with pytest.raises(ValueError, match=message):
        graph_of(Chem.MolFromSmiles(smiles), settings)
