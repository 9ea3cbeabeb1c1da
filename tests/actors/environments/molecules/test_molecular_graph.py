from __future__ import annotations

import networkx
import numpy as np
import pytest
from rdkit import Chem

from ogg_hpc.actors.environments.molecules.chemistry import molecule_of
from ogg_hpc.actors.environments.molecules.kinds import KINDS
from ogg_hpc.actors.environments.molecules.molecular_graph import MolecularGraph
from ogg_hpc.actors.environments.molecules.settings import MoleculeSettings

SMALL = MoleculeSettings(
    kinds=("C", "N", "S", "O-", "N+", "F"), max_atoms=9, max_rings=3, largest_ring=6
)


def grow(settings, generator, bonds):
    """Yield a molecule before each of some random bonds, until nothing can be added."""
    graph = MolecularGraph(settings)
    graph.add_atom(int(generator.integers(len(settings.kinds))))
    for _ in range(bonds):
        yield graph
        allowed = np.argwhere(graph.largest_orders())
        if not len(allowed):
            return
        first, second = generator.choice(allowed)
        graph.add_bond(
            int(first),
            int(second),
            int(generator.integers(graph.largest_orders()[first, second])) + 1,
        )


def as_networkx(graph):
    plain = networkx.Graph()
    plain.add_nodes_from(range(graph.count))
    plain.add_edges_from((i, j) for i, j, _ in graph.bonds[: graph.bond_count].tolist())
    return plain


def allowed_by_definition(graph):
    """Return what may be added, each pair by itself, with paths from another library."""
    settings = graph.settings
    valences = [KINDS[name].valence for name in settings.kinds]
    plain = as_networkx(graph)
    used = np.zeros(graph.count, int)
    for i, j, order in graph.bonds[: graph.bond_count].tolist():
        used[[i, j]] += order
    free = [valences[graph.atoms[i] - 1] - used[i] for i in range(graph.count)]
    orders = np.zeros((settings.max_atoms, settings.max_atoms + len(valences)), int)
    for i in range(graph.count):
        for j in range(graph.count):
            if i == j or plain.has_edge(i, j) or graph.rings >= settings.max_rings:
                continue
            ring = networkx.shortest_path_length(plain, i, j) + 1
            if settings.smallest_ring <= ring <= settings.largest_ring:
                orders[i, j] = min(3, free[i], free[j])
        if graph.count < settings.max_atoms:
            for kind, valence in enumerate(valences):
                orders[i, settings.max_atoms + kind] = min(3, free[i], valence)
    return orders


@pytest.mark.parametrize("seed", range(20))
def test_what_may_be_added_is_what_the_rules_say(seed):
    for graph in grow(SMALL, np.random.default_rng(seed), bonds=30):
        np.testing.assert_array_equal(graph.largest_orders(), allowed_by_definition(graph))


@pytest.mark.parametrize("seed", range(10))
def test_all_that_may_be_added_gives_valid_molecules_and_no_more_fits_in_the_valencies(seed):
    *_, graph = grow(SMALL, np.random.default_rng(seed), bonds=6)
    orders = graph.largest_orders()
    for first, second in np.argwhere(orders):
        for order in range(1, orders[first, second] + 1):
            larger = graph.copy()
            larger.add_bond(int(first), int(second), order)
            Chem.SanitizeMol(molecule_of(larger))
            assert (larger.free_valence >= 0).all()
        if orders[first, second] < 3:
            larger = graph.copy()
            larger.add_bond(int(first), int(second), int(orders[first, second]) + 1)
            assert (larger.free_valence < 0).any()


@pytest.mark.parametrize("seed", range(20))
def test_no_ring_is_smaller_or_larger_than_allowed(seed):
    settings = MoleculeSettings(
        kinds=("C", "N"), max_atoms=14, smallest_ring=5, largest_ring=6, max_rings=6
    )
    graph = list(grow(settings, np.random.default_rng(seed), bonds=40))[-1]
    sizes = [len(ring) for ring in networkx.minimum_cycle_basis(as_networkx(graph))]
    assert graph.rings == len(sizes)
    assert set(sizes) <= {5, 6}


def test_a_copy_grows_by_itself():
    graph = MolecularGraph(SMALL)
    graph.add_atom(0)
    twin = graph.copy()
    twin.add_bond(0, SMALL.max_atoms, 1)
    assert (graph.count, twin.count) == (1, 2)
    assert graph.free_valence[0] == 4
    assert graph.bonds.any() < twin.bonds.any()


def test_benzene_closes_and_then_takes_six_neighbours():
    settings = MoleculeSettings(kinds=("C",), max_atoms=12)
    graph = MolecularGraph(settings)
    graph.add_atom(0)
    for atom in range(5):
        graph.add_bond(atom, settings.max_atoms, 2 - atom % 2)
    assert graph.largest_orders()[0, 5] == 2  # five bonds away: a ring of six
    graph.add_bond(0, 5, 1)
    assert Chem.MolToSmiles(molecule_of(graph)) == "c1ccccc1"
    assert graph.free_valence[:6].tolist() == [1] * 6
    assert graph.rings == 1
    assert graph.largest_orders()[0, :6].tolist() == [0, 0, 1, 1, 1, 0]  # across the ring alone
