"""From the graph of a molecule to RDKit's molecule, and back.

The environment imports this module before the others that need RDKit.
"""

from __future__ import annotations

from collections import deque

from ogg_hpc.actors.environments.molecules.kinds import KINDS
from ogg_hpc.actors.environments.molecules.molecular_graph import MolecularGraph
from ogg_hpc.actors.environments.molecules.settings import MoleculeSettings
from ogg_hpc.errors import MissingExtraError

try:
    from rdkit import Chem
except ImportError:
    raise MissingExtraError("rdkit", "molecules") from None

_BOND_TYPES = (None, Chem.BondType.SINGLE, Chem.BondType.DOUBLE, Chem.BondType.TRIPLE)
_NAMES = {(kind.element, kind.charge): kind.name for kind in KINDS.values()}


def molecule_of(graph: MolecularGraph) -> Chem.Mol:
    """Return RDKit's molecule of a graph, sanitised."""
    molecule = Chem.RWMol()
    kinds = graph.settings.kinds
    for number in graph.atoms[: graph.count].tolist():
        kind = KINDS[kinds[number - 1]]
        atom = Chem.Atom(kind.element)
        atom.SetFormalCharge(kind.charge)
        molecule.AddAtom(atom)
    for first, second, order in graph.bonds[: graph.bond_count].tolist():
        molecule.AddBond(first, second, _BOND_TYPES[order])
    Chem.SanitizeMol(molecule)
    return molecule.GetMol()


def smiles_of(molecule: Chem.Mol) -> str:
    """Return the canonical SMILES of a molecule."""
    return str(Chem.MolToSmiles(molecule))


def graph_of(molecule: Chem.Mol, settings: MoleculeSettings) -> MolecularGraph:
    """Return the graph of a molecule, its atoms in breadth-first order, stereochemistry left out.

    Raises
    ------
    ValueError
        The settings do not permit the molecule; the message says why.
    """
    molecule = Chem.RemoveHs(molecule)
    Chem.RemoveStereochemistry(molecule)
    wanted = smiles_of(molecule)
    atoms, bonds = molecule.GetNumAtoms(), molecule.GetNumBonds()
    if not 1 <= atoms <= settings.max_atoms:
        raise ValueError(f"has {atoms} atoms, not 1 to max_atoms = {settings.max_atoms}")
    if bonds - atoms + 1 > settings.max_rings:
        raise ValueError(f"has {bonds - atoms + 1} rings; max_rings = {settings.max_rings}")
    Chem.Kekulize(molecule, clearAromaticFlags=True)
    graph = MolecularGraph(settings)
    numbers = {0: graph.add_atom(_kind(molecule.GetAtomWithIdx(0), settings))}
    waiting, added = deque([molecule.GetAtomWithIdx(0)]), set()
    while waiting:
        atom = waiting.popleft()
        for bond in atom.GetBonds():
            if bond.GetIdx() in added:
                continue
            added.add(bond.GetIdx())
            if bond.GetBondType() not in _BOND_TYPES:
                raise ValueError(f"has a bond {bond.GetBondType()}; 1 to 3 electron pairs make one")
            other = bond.GetOtherAtom(atom)
            second = numbers.get(other.GetIdx())
            if second is None:
                second = settings.max_atoms + _kind(other, settings)
                numbers[other.GetIdx()] = graph.count
                waiting.append(other)
            order = _BOND_TYPES.index(bond.GetBondType())
            graph.add_bond(numbers[atom.GetIdx()], second, order)
    if graph.count < atoms:
        raise ValueError("is more than one molecule")
    if (graph.free_valence < 0).any():
        kind = settings.kinds[graph.atoms[graph.free_valence.argmin()] - 1]
        raise ValueError(f"has an atom {kind} of valence above {KINDS[kind].valence}")
    if smiles_of(molecule_of(graph)) != wanted:
        raise ValueError("has isotopes, radicals or numbers of hydrogen that cannot be built")
    return graph


def _kind(atom: Chem.Atom, settings: MoleculeSettings) -> int:
    """Return the number of an atom's kind."""
    name = _NAMES.get((atom.GetSymbol(), atom.GetFormalCharge()))
    if name in settings.kinds:
        return settings.kinds.index(name)
    text = name or atom.GetSymbol()
    if not name and atom.GetFormalCharge():
        text = f"{text} of charge {atom.GetFormalCharge():+d}"
    raise ValueError(f"has an atom {text}; kinds are {', '.join(settings.kinds)}")
