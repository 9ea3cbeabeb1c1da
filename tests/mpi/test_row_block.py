import numpy as np
import pytest

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.row_block import partition_rows, row_block, scatter_rows


@pytest.mark.parametrize("balance", ["rows", "edges"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 3, 10, 23])
def test_scattered_rows_equal_those_cut_from_the_whole_graph(
    comm, random_graph, n, weighted, balance
):
    graph = random_graph(n, seed=n, weighted=weighted)
    mine = scatter_rows(comm, graph if comm.rank == 0 else None, balance)
    expected = row_block(graph, comm.rank, comm.size, balance)
    assert mine.n == n
    assert mine.rows == expected.rows == expected.partition.counts[comm.rank]
    np.testing.assert_array_equal(mine.partition.offsets, expected.partition.offsets)
    np.testing.assert_array_equal(mine.row_offsets, expected.row_offsets)
    np.testing.assert_array_equal(mine.columns, expected.columns)
    assert mine.columns.dtype == graph.columns.dtype
    if weighted:
        np.testing.assert_array_equal(mine.weights, expected.weights)
    else:
        assert mine.weights is None


def test_graphs_of_other_ranks_are_ignored(comm, random_graph):
    graph = random_graph(8, seed=comm.rank)
    mine = scatter_rows(comm, graph)
    expected = row_block(random_graph(8, seed=0), comm.rank, comm.size)
    np.testing.assert_array_equal(mine.columns, expected.columns)


def test_blocks_together_are_the_graph(random_graph):
    graph = random_graph(11, seed=4, weighted=True)
    for size in (1, 2, 5, 16):
        blocks = [row_block(graph, rank, size, "edges") for rank in range(size)]
        np.testing.assert_array_equal(np.concatenate([b.columns for b in blocks]), graph.columns)
        np.testing.assert_array_equal(np.concatenate([b.weights for b in blocks]), graph.weights)


def test_unknown_balance_is_refused():
    with pytest.raises(SettingsError, match="balance 'nodes' is unknown; use one of rows, edges"):
        partition_rows(np.ones(3, np.int64), 2, "nodes")
