"""Degrees and sums of many residual graphs, on every number of ranks, against SciPy products."""

import numpy as np
import pytest

from ogg_hpc.graphs import masked_sums
from ogg_hpc.graphs.masked_sums import MaskedGraphs
from ogg_hpc.graphs.neighbour_lists import NeighbourLists
from ogg_hpc.graphs.residual_degrees import ResidualDegrees
from ogg_hpc.graphs.row_block import row_block

# Graph sizes and the graph of each mask, in no order; one graph has more masks than one pass takes.
CASES = {
    "one mask": ([9], [0]),
    "many masks on one graph": ([23], [0] * 150),
    "a mask on each of some graphs": ([7, 1, 12, 3], [2, 0, 3, 1]),
    "masks on some of the graphs": ([6, 11, 40], [1, 2, 1, 1, 2, 1] + [2] * 70),
    "fewer nodes than ranks": ([2], [0, 0]),
    "a single node": ([1], [0]),
}


class Case:
    """Masks with random nodes taken out, on this rank's rows of random graphs."""

    def __init__(self, comm, graphs, graph_of_mask, balance):
        self.comm, self.graphs, self.graph_of_mask = comm, graphs, np.array(graph_of_mask)
        blocks = [row_block(graph, comm.rank, comm.size, balance) for graph in graphs]
        self.lists = NeighbourLists(comm, blocks)
        self.masked = MaskedGraphs(self.lists, self.graph_of_mask)
        self.generator = np.random.default_rng(5)
        self.active = [self.generator.random(graphs[g].n) < 0.7 for g in graph_of_mask]
        self.residual = ResidualDegrees(self.masked, *self.flat(~mask for mask in self.active))

    @staticmethod
    def flat(inside):
        nodes = [np.flatnonzero(mask) for mask in inside]
        return np.arange(len(nodes)).repeat([len(part) for part in nodes]), np.concatenate(nodes)

    def check(self, residual, active):
        own = self.masked.rows(residual.degrees)
        for b, (g, mask) in enumerate(zip(self.graph_of_mask, active, strict=True)):
            adjacency = self.graphs[g].to_scipy().astype(bool).astype(np.int64)
            degrees = (adjacency @ mask) * mask
            sums = (adjacency @ degrees) * mask
            masks, nodes = np.full(len(mask), b), np.arange(len(mask))
            at = self.masked.at(masks, nodes)
            np.testing.assert_array_equal(residual.active[at], mask)
            np.testing.assert_array_equal(residual.degrees[at], degrees)
            mine, at = self.masked.own_at(masks, nodes)
            np.testing.assert_array_equal(residual.sums[at], sums[mine])
            np.testing.assert_array_equal(own[at], degrees[mine])


@pytest.fixture(params=CASES, ids=lambda name: name.replace(" ", "-"))
def make_case(request, comm, random_graph):
    sizes, graph_of_mask = CASES[request.param]
    graphs = [random_graph(n, seed=n) for n in sizes]
    return lambda balance="rows": Case(comm, graphs, graph_of_mask, balance)


@pytest.mark.parametrize("balance", ["rows", "edges"])
def test_degrees_and_sums_are_those_of_products(make_case, balance):
    case = make_case(balance)
    case.check(case.residual, case.active)


def test_removed_nodes_leave_what_products_give_without_them(make_case):
    case = make_case()
    later, active = case.residual.copy(), [mask.copy() for mask in case.active]
    for _ in range(3):
        gone = []
        for mask in active:
            inside = case.generator.permutation(np.flatnonzero(mask))
            gone.append(np.isin(np.arange(len(mask)), inside[: case.generator.integers(0, 4)]))
            mask &= ~gone[-1]
        later.remove(*case.flat(gone))
        case.check(later, active)
    case.check(case.residual, case.active)  # the copy was changed alone


def test_threads_change_nothing(make_case, monkeypatch):
    monkeypatch.setattr(masked_sums, "_WORTH_THREADS", 0)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    case = make_case()
    case.check(case.residual, case.active)


def test_lists_are_held_once(make_case):
    lists = make_case().lists
    assert lists.nbytes == 4 * len(lists.columns) + 8 * len(lists.starts)


def test_neighbours_come_from_whoever_holds_them(make_case, comm):
    case = make_case()
    picks = [
        (g, v) for g, graph in enumerate(case.graphs) for v in case.generator.permutation(graph.n)
    ]
    graphs, nodes = np.array(picks).T
    neighbours, lengths = case.lists.neighbours(graphs, nodes)
    parts = np.split(neighbours, np.cumsum(lengths)[:-1])
    for g, v, part in zip(graphs, nodes, parts, strict=True):
        assert part.tolist() == case.graphs[g].neighbours(v).tolist()
    none = np.empty(0, np.int64)
    assert [len(part) for part in case.lists.neighbours(none, none)] == [0, 0]
