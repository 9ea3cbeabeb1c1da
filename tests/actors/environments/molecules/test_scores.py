from __future__ import annotations

import csv

import pytest
from rdkit import Chem

from ogg_hpc.actors.environments.molecules import scores

# The constants of the literature: SMILES, penalised logP, QED. The first three are the best that
# Jin et al. (ICML 2018) found.
KNOWN = [
    (
        "ClC1=CC=C2C(C=C(C(C)=O)C(C(NC3=CC(NC(NC4=CC(C5=C(C)C=CC=C5)=CC=C4)=O)=CC=C3)=O)=C2)=C1",
        5.30, 0.186,
    ),
    ("CC(NC1=CC(C2=CC=CC(NC(NC3=CC=CC(C4=CC(F)=CC=C4)=C3)=O)=C2)=CC=C1)=O", 4.49, 0.321),
    ("ClC(C(Cl)=C1)=CC=C1NC2=CC=CC=C2C(NC(NC3=C(C(NC4=C(Cl)C=CC=C4)=S)C=CC=C3)=O)=O", 4.93, 0.176),
    ("C" * 38, 11.19, 0.071),
    ("C", -6.23, 0.360),
]  # fmt: skip


@pytest.mark.parametrize(("smiles", "plogp", "qed"), KNOWN)
def test_scores_of_the_literature(smiles, plogp, qed):
    molecule = Chem.MolFromSmiles(smiles)
    assert scores.penalised_log_p(molecule)["plogp"] == pytest.approx(plogp, abs=0.005)
    assert scores.qed(molecule) == pytest.approx(qed, abs=0.001)


def rows(shared_data, name):
    path = shared_data / "mols" / name
    if not path.is_file():
        pytest.skip(f"needs {path}")
    with path.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_scores_equal_the_golden_values(shared_data):
    for row in rows(shared_data, "golden_values.csv"):
        molecule = Chem.MolFromSmiles(row["smiles"])
        found = scores.penalised_log_p(molecule)["plogp"]
        assert found == pytest.approx(float(row["plogp"]), abs=1e-3), row["smiles"]
        assert scores.qed(molecule) == pytest.approx(float(row["qed"]), abs=1e-3), row["smiles"]


def test_scores_of_zinc(shared_data):
    for row in rows(shared_data, "zinc_sample_1000.csv")[::5]:
        molecule = Chem.MolFromSmiles(row["smiles"])
        parts = scores.penalised_log_p(molecule)
        expected = {
            "plogp": "plogp",
            "log_p": "logp",
            "synthetic_accessibility": "sa",
            "ring_excess": "longest_ring_excess",
        }
        for name, column in expected.items():
            assert parts[name] == pytest.approx(float(row[column]), abs=1e-3), row["smiles"]
        assert scores.qed(molecule) == pytest.approx(float(row["qed"]), abs=1e-3)


@pytest.mark.parametrize(
    ("smiles", "excess"), [("CC", 0), ("C1CC1", 0), ("C1CCCCC1", 0), ("C1CCCCCCC1", 2)]
)
def test_the_excess_of_the_longest_ring(smiles, excess):
    assert scores.ring_excess(Chem.MolFromSmiles(smiles)) == excess


def test_similarity_is_that_of_sets_of_neighbourhoods():
    first, second = (scores.fingerprint(Chem.MolFromSmiles(smiles)) for smiles in ("CCO", "CCN"))
    assert scores.similarity(first, first) == 1.0
    bits = set(first.GetOnBits()), set(second.GetOnBits())
    expected = len(bits[0] & bits[1]) / len(bits[0] | bits[1])
    assert 0 < expected < 1
    assert scores.similarity(first, second) == pytest.approx(expected)
