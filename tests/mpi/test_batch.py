"""A batch spread over ranks, against dense matrices."""

import numpy as np
import pytest

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.row_block import row_block


class Case:
    """A batch, its dense block-diagonal matrix in order of positions, and random input."""

    def __init__(self, comm, graphs, copies, balance="rows"):
        blocks = [row_block(graph, comm.rank, comm.size, balance) for graph in graphs]
        self.batch = GraphBatch(comm, blocks, copies)
        self.weights = np.zeros((self.batch.nodes, self.batch.nodes))
        for g, graph in enumerate(graphs):
            at = self.batch.positions(np.full(graph.n, g), np.arange(graph.n))
            self.weights[np.ix_(at, at)] = graph.to_scipy().toarray()
        self.ones = (self.weights != 0).astype(float)
        self.generator = np.random.default_rng(5)
        self.mask = self.generator.random((self.batch.nodes, copies)) < 0.6
        self.mine = slice(self.batch.lo, self.batch.hi)


# Graph sizes, copies of each, weighted, balance. Up to four ranks: some own no row of some graph.
CASES = {
    "one graph": ([9], 1, False, "rows"),
    "masks on one graph": ([9], 5, False, "rows"),
    "graphs of different sizes": ([7, 1, 12, 3], 1, False, "rows"),
    "masks on different graphs": ([6, 11], 3, False, "edges"),
    "weights of both signs": ([7, 10], 2, True, "edges"),
    "fewer nodes than ranks": ([2], 2, True, "rows"),
    "a single node": ([1], 1, False, "rows"),
}


@pytest.fixture(params=CASES, ids=lambda name: name.replace(" ", "-"))
def case(request, comm, random_graph):
    sizes, copies, weighted, balance = CASES[request.param]
    graphs = [random_graph(n, seed=n, weighted=weighted) for n in sizes]
    return Case(comm, graphs, copies, balance)


def test_every_rank_owns_consecutive_positions(case, comm):
    batch = case.batch
    assert batch.counts.sum() == batch.nodes
    assert (batch.lo, batch.hi) == (
        batch.counts[: comm.rank].sum(),
        batch.lo + batch.counts[comm.rank],
    )
    pairs = sorted(zip(batch.graph_of.tolist(), batch.node_of.tolist(), strict=True))
    assert pairs == [(g, v) for g, n in enumerate(batch.sizes) for v in range(n)]
    np.testing.assert_array_equal(
        batch.positions(batch.graph_of, batch.node_of), np.arange(batch.nodes)
    )


def test_matrix_is_this_ranks_rows_sorted(case):
    matrix = case.batch.matrix
    np.testing.assert_array_equal(matrix.toarray(), case.ones[case.mine])
    assert (np.diff(matrix.row) >= 0).all()


def test_products_share_the_memory_of_the_matrix(case):
    if case.batch.matrix.nnz == 0:
        pytest.skip("no entries on this rank's block")
    case.batch.degrees(case.mask)
    assert np.shares_memory(case.batch._product.data, case.batch.matrix.data)
    assert np.shares_memory(case.batch._product.indices, case.batch.matrix.col)


def test_degrees_count_neighbours_inside_the_mask(case):
    degrees = case.batch.degrees(case.mask)
    assert degrees.dtype == np.float64
    np.testing.assert_array_equal(degrees, case.ones[case.mine] @ case.mask)


def test_edge_sums_split_weights_by_sign(case):
    positive, negative = case.batch.edge_sums(case.mask)
    weights = case.weights[case.mine]
    np.testing.assert_allclose(positive, np.maximum(weights, 0) @ case.mask, atol=1e-12)
    np.testing.assert_allclose(negative, np.maximum(-weights, 0) @ case.mask, atol=1e-12)


def test_adjacent_is_the_neighbourhood_on_every_rank(case):
    chosen = case.mask & (case.generator.random(case.mask.shape) < 0.3)
    np.testing.assert_array_equal(case.batch.adjacent(chosen), case.ones @ chosen > 0)


def test_count_is_by_graph_and_copy(case):
    counts = case.batch.count(case.mask)
    for graph in range(len(case.batch.sizes)):
        inside = case.mask[case.batch.graph_of == graph]
        np.testing.assert_array_equal(counts[graph], inside.sum(axis=0))


def test_mask_marks_the_named_nodes(case):
    graphs = case.batch.graph_of
    nodes = np.arange(case.batch.nodes)[::2]
    mask = case.batch.mask(graphs[nodes], case.batch.node_of[nodes], 0)
    expected = np.zeros_like(case.mask)
    expected[nodes, 0] = True
    np.testing.assert_array_equal(mask, expected)


def test_groups_number_graph_and_copy(case):
    copies = case.batch.copies
    graphs = case.batch.graph_of[case.mine]
    np.testing.assert_array_equal(case.batch.row_graph, graphs)
    np.testing.assert_array_equal(
        case.batch.local(case.batch.group_of), graphs[:, None] * copies + np.arange(copies)
    )
    assert case.batch.groups == len(case.batch.sizes) * copies


@pytest.mark.parametrize("product", ["gather", "reduce_scatter", "allreduce"])
def test_all_three_products_are_the_neighbour_sum(case, product):
    rows = case.generator.standard_normal((case.batch.nodes, 4))
    multiply = {
        "gather": case.batch.gather_multiply,
        "reduce_scatter": case.batch.multiply_reduce_scatter,
        "allreduce": case.batch.multiply_allreduce,
    }[product]
    result = multiply(rows[case.mine])
    np.testing.assert_allclose(result, (case.ones @ rows)[case.mine], rtol=1e-12, atol=1e-12)


def test_one_graph_may_appear_twice(comm, random_graph):
    graph = random_graph(8, seed=2)
    case = Case(comm, [graph, graph], 1)
    np.testing.assert_array_equal(case.batch.degrees(case.mask), (case.ones @ case.mask)[case.mine])


def test_weighted_and_unweighted_graphs_mix(comm, random_graph):
    case = Case(comm, [random_graph(8, seed=2), random_graph(8, seed=3, weighted=True)], 1)
    positive, negative = case.batch.edge_sums(case.mask)
    weights = case.weights[case.mine]
    np.testing.assert_allclose(positive - negative, weights @ case.mask, atol=1e-12)


def test_unknown_collective_is_refused(comm, random_graph):
    blocks = [row_block(random_graph(4, seed=0), comm.rank, comm.size)]
    with pytest.raises(SettingsError, match="'gather' is unknown; use one of allgather, allreduce"):
        GraphBatch(comm, blocks, collective="gather")


def test_total_is_the_sum_of_each_graphs_rows(case):
    batch = case.batch
    values = np.random.default_rng(3).normal(size=case.mask.shape)
    expected = np.array([values[batch.graph_of == g].sum(axis=0) for g in range(len(batch.sizes))])
    np.testing.assert_allclose(batch.total(batch.local(values)), expected)
