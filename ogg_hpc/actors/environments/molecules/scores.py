"""What a finished molecule is worth by the measures of the literature. All take sanitised ones."""

from __future__ import annotations

from rdkit import Chem, DataStructs
from rdkit.Chem import QED, Crippen, rdFingerprintGenerator
from rdkit.Contrib.SA_Score import sascorer

# Mean and standard deviation of each term over ZINC250k, as in Jin et al. (ICML 2018) and You et
# al. (NeurIPS 2018).
_LOG_P = 2.4570953396190123, 1.434324401111988
_ACCESSIBILITY = 3.0525811293166134, 0.8335207024513095
_RING = 0.0485696876403053, 0.2860212110245455

_FINGERPRINTS = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)


def qed(molecule: Chem.Mol) -> float:
    """Return the quantitative estimate of drug-likeness, 0 to 1 (Bickerton et al. 2012)."""
    return float(QED.qed(molecule))


def log_p(molecule: Chem.Mol) -> float:
    """Return the octanol-water partition coefficient by Wildman and Crippen (1999)."""
    return float(Crippen.MolLogP(molecule))


def synthetic_accessibility(molecule: Chem.Mol) -> float:
    """Return how hard a molecule is to make, 1 to 10 (Ertl and Schuffenhauer 2009)."""
    return float(sascorer.calculateScore(molecule))


def ring_excess(molecule: Chem.Mol) -> int:
    """Return by how many atoms the longest ring exceeds six."""
    return max([0, *(len(ring) - 6 for ring in molecule.GetRingInfo().AtomRings())])


def penalised_log_p(molecule: Chem.Mol) -> dict[str, float]:
    """Return penalised logP as ``plogp``, and the three that it is made of.

    Each is normalised over ZINC250k: logP, minus the synthetic accessibility, minus the excess of
    the longest ring (Kusner et al. 2017). Rings are the smallest ones of RDKit; GCPN takes those
    of a cycle basis, which depends on the order of atoms.
    """
    solubility = log_p(molecule)
    accessibility = synthetic_accessibility(molecule)
    ring = ring_excess(molecule)
    value = (solubility - _LOG_P[0]) / _LOG_P[1]
    value -= (accessibility - _ACCESSIBILITY[0]) / _ACCESSIBILITY[1]
    value -= (ring - _RING[0]) / _RING[1]
    return {
        "plogp": value,
        "log_p": solubility,
        "synthetic_accessibility": accessibility,
        "ring_excess": ring,
    }


def fingerprint(molecule: Chem.Mol) -> DataStructs.ExplicitBitVect:
    """Return the Morgan fingerprint of radius 2 in 2,048 bits (Rogers and Hahn 2010)."""
    return _FINGERPRINTS.GetFingerprint(molecule)


def similarity(first: DataStructs.ExplicitBitVect, second: DataStructs.ExplicitBitVect) -> float:
    """Return the Tanimoto similarity of two fingerprints, 0 to 1."""
    return float(DataStructs.TanimotoSimilarity(first, second))
