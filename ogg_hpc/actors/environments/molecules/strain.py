"""Steric strain: molecules that are possible on paper, and bent out of shape in space."""

from __future__ import annotations

from rdkit import Chem, rdBase
from rdkit.Chem import rdDistGeom, rdForceFieldHelpers

LARGEST_STRAIN = 0.82  # kcal/mol an angle; the cut-off of GCPN (You et al. 2018)
_EMBEDDINGS = 20  # attempts
_ITERATIONS = 200  # of the optimisation, as in GCPN
_SEED = 1


def angle_strain(molecule: Chem.Mol) -> float | None:
    """Return the mean energy of bending of the angles of a molecule at rest, in kcal/mol.

    The molecule is embedded in three dimensions with its hydrogens and relaxed with the force
    field MMFF94. This takes up to 0.1 s.

    Returns
    -------
    float or None
        None where it cannot be embedded, or the force field has no parameters for it.
    """
    shape = Chem.AddHs(molecule)
    properties = rdForceFieldHelpers.MMFFGetMoleculeProperties(shape)
    if properties is None:
        return None
    embedding = rdDistGeom.ETKDGv3()
    embedding.randomSeed = _SEED
    embedding.maxIterations = _EMBEDDINGS
    with rdBase.BlockLogs():  # it warns of atoms that it knows little of
        if rdDistGeom.EmbedMolecule(shape, embedding) < 0:
            return None
    rdForceFieldHelpers.MMFFOptimizeMolecule(shape, maxIters=_ITERATIONS)
    for term in ("Bond", "StretchBend", "Oop", "Torsion", "VdW", "Ele"):
        getattr(properties, f"SetMMFF{term}Term")(False)
    bending = rdForceFieldHelpers.MMFFGetMoleculeForceField(shape, properties).CalcEnergy()
    degrees = (atom.GetDegree() for atom in shape.GetAtoms())
    angles = sum(degree * (degree - 1) // 2 for degree in degrees)
    return float(bending / angles) if angles else 0.0


def is_strained(molecule: Chem.Mol) -> bool:
    """Return whether a molecule is refused: strained above `LARGEST_STRAIN`, or not embedded."""
    strain = angle_strain(molecule)
    return strain is None or strain > LARGEST_STRAIN
