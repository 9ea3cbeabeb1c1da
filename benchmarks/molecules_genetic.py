"""What searches without learning reach in molecules, by the number of molecules scored.

Random molecules, and a genetic algorithm on graphs after Jensen (Chemical Science, 2019): two
parents are cut at a bond outside of rings and a half of each is joined, and some children are
changed in one place. Only molecules that were not scored before count, as in PMO (Gao et al.,
NeurIPS 2022). What is learned has to be seen beside this.

Use: python benchmarks/molecules_genetic.py [--calls 3000] [--seeds 2]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from common import write_record
from rdkit import Chem, rdBase

from ogg_hpc.actors.environments.molecules.chemistry import graph_of, molecule_of, smiles_of
from ogg_hpc.actors.environments.molecules.kinds import KINDS
from ogg_hpc.actors.environments.molecules.random_policy import random_bond
from ogg_hpc.actors.environments.molecules.rewards import make_reward
from ogg_hpc.actors.environments.molecules.settings import MoleculeSettings
from ogg_hpc.actors.environments.molecules.starts import make_start

LEAST_ATOMS = 15  # as in the preset molecules-qed
POPULATION = 100
CHANGED = 0.5  # share of the children that are changed after their parents were joined
STOP = 0.05  # probability that a random molecule ends after a bond
REPORTED = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)  # numbers of molecules scored


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=3000, help="molecules that are scored")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    rdBase.DisableLog("rdApp.error")  # of children that are no molecules
    results = {}
    for reward in ("qed", "plogp"):
        for search in (randomly, genetically):
            runs = []
            for seed in range(args.seeds):
                scored = Scored(MoleculeSettings(reward=reward, min_atoms=LEAST_ATOMS), args.calls)
                start = time.process_time()
                search(scored, np.random.default_rng(seed))
                seconds = time.process_time() - start
                runs.append({"seed": seed, "processor_seconds": seconds, "at": scored.curve()})
            results[f"{reward}, {search.__name__}"] = runs
            print(reward, search.__name__, json.dumps(runs[0]["at"]), flush=True)
            write_record(args.output, results)


class Scored:
    """Scores molecules up to a number of calls, and keeps what it has seen."""

    def __init__(self, settings, calls):
        self.settings = settings
        self.values = {}  # by SMILES, in the order they were scored
        self._calls = calls
        self._reward = make_reward(settings)
        self.start = make_start(settings.start, settings)

    @property
    def over(self):
        """Whether enough molecules were scored."""
        return len(self.values) >= self._calls

    def score(self, molecule):
        """Return the value of a molecule."""
        smiles = smiles_of(molecule)
        if smiles not in self.values:
            self.values[smiles] = self._reward.score(molecule, self.start.molecule).value
        return self.values[smiles]

    def curve(self):
        """Return what was reached by some numbers of molecules."""
        smiles, values = list(self.values), np.array(list(self.values.values()))
        curve = []
        for calls in REPORTED:
            if calls <= len(values):
                best = np.argsort(-values[:calls], kind="stable")
                curve.append(
                    {
                        "molecules": calls,
                        "best": float(values[best[0]]),
                        "mean_of_best_10": float(values[best[:10]].mean()),
                        "mean_of_best_100": float(values[best[:100]].mean()),
                        "best_smiles": smiles[best[0]],
                    }
                )
        return curve


def randomly(scored, generator):
    """Score molecules of the policy that knows nothing."""
    while not scored.over:
        scored.score(grown(scored, generator))


def genetically(scored, generator):
    """Score generations; the best of parents and children are the next parents."""
    population = {}
    while len(population) < POPULATION:
        found = grown(scored, generator)
        population[smiles_of(found)] = scored.score(found), found
    while not scored.over:
        values, parents = zip(*population.values(), strict=True)
        # By rank, so that it does not matter where a reward has its zero.
        weights = 1.0 / (1 + np.argsort(np.argsort(-np.array(values), kind="stable")))
        weights /= weights.sum()
        children = 0
        while children < POPULATION and not scored.over:
            pair = generator.choice(len(parents), 2, p=weights)
            child = joined(*(parents[i] for i in pair), scored.settings, generator)
            if child is not None and generator.random() < CHANGED:
                child = changed(child, scored.settings, generator)
            if child is not None:
                children += 1
                population[smiles_of(child)] = scored.score(child), child
        best = sorted(population.items(), key=lambda entry: -entry[1][0])
        population = dict(best[:POPULATION])


def grown(scored, generator):
    """Return a random molecule."""
    graph = scored.start.graph.copy()
    orders = graph.largest_orders()
    least = scored.settings.min_atoms
    while orders.any() and (graph.count < least or generator.random() >= STOP):
        graph.add_bond(*random_bond(orders, generator))
        orders = graph.largest_orders()
    return molecule_of(graph)


def joined(first, second, settings, generator):
    """Return a part of each of two molecules, joined by a single bond; None where that fails."""
    parts, ends = [], []
    for parent in (first, second):
        part = editable(parent)
        bonds = [bond for bond in part.GetBonds() if not bond.IsInRing() and is_single(bond)]
        if not bonds:
            return None
        bond = bonds[generator.integers(len(bonds))]
        kept, lost = generator.permutation([bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()]).tolist()
        part.RemoveBond(kept, lost)
        parts.append(part)
        ends.append(kept)
    offset = parts[0].GetNumAtoms()
    child = Chem.RWMol(Chem.CombineMols(*parts))
    child.AddBond(ends[0], offset + ends[1], Chem.BondType.SINGLE)
    for atoms in Chem.GetMolFrags(child):
        if ends[0] in atoms:
            for atom in sorted(set(range(child.GetNumAtoms())) - set(atoms), reverse=True):
                child.RemoveAtom(atom)
            return checked(child, settings)
    raise AssertionError


def changed(molecule, settings, generator):
    """Return a molecule changed in one place; None where that gives none that is allowed."""
    way = generator.choice(["add", "drop", "kind", "order"])
    if way == "add":
        graph = graph_of(molecule, settings)
        orders = graph.largest_orders()
        if not orders.any():
            return None
        graph.add_bond(*random_bond(orders, generator))
        return molecule_of(graph)
    child = editable(molecule)
    atom = child.GetAtomWithIdx(int(generator.integers(child.GetNumAtoms())))
    if way == "drop" and atom.GetDegree() == 1:
        child.RemoveAtom(atom.GetIdx())
    elif way == "kind":
        kind = KINDS[generator.choice(settings.kinds)]
        atom.SetAtomicNum(Chem.GetPeriodicTable().GetAtomicNumber(kind.element))
        atom.SetFormalCharge(kind.charge)
    elif way == "order" and atom.GetDegree():
        bond = atom.GetBonds()[int(generator.integers(atom.GetDegree()))]
        bond.SetBondType(Chem.BondType.values[int(generator.integers(1, 4))])
    return checked(child, settings)


def editable(molecule):
    """Return a copy of alternating bonds and without hydrogen."""
    copy = Chem.RWMol(molecule)
    Chem.Kekulize(copy, clearAromaticFlags=True)
    for atom in copy.GetAtoms():
        atom.SetNumExplicitHs(0)
    return copy


def checked(child, settings):
    """Return a molecule that the environment could have built as well, or None."""
    if child.GetNumAtoms() < settings.min_atoms:
        return None
    try:
        Chem.SanitizeMol(child)
        return molecule_of(graph_of(child, settings))
    except ValueError:  # RDKit's are such, too
        return None


def is_single(bond):
    return bond.GetBondType() == Chem.BondType.SINGLE


if __name__ == "__main__":
    main()
