import numpy as np
import pytest

from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.masked_sums import MaskedGraphs
from ogg_hpc.graphs.neighbour_lists import NeighbourLists
from ogg_hpc.graphs.residual_degrees import ResidualDegrees
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.runtime.communicator import Communicator


def masks_on(graph, count):
    lists = NeighbourLists(Communicator(), [row_block(graph, 0, 1)])
    return MaskedGraphs(lists, np.zeros(count, np.int64))


@pytest.mark.parametrize("count", [1, 2, 64, 67])
@pytest.mark.parametrize(
    ("dtype", "most"),
    [(np.uint8, 1), (np.uint8, 100), (np.uint8, 255), (np.uint16, 65535), (np.uint32, 2**32 - 1)],
)
def test_narrow_types_never_overflow(dtype, most, count):
    graph = erdos_renyi(700, 0.8, seed=1)  # more neighbours than a byte counts
    graphs = masks_on(graph, count)
    values = np.full((graph.n, count), most, dtype)
    values[::7] = most // 2
    flat = np.empty(values.size, dtype)
    for b in range(count):
        flat[graphs.at(np.full(graph.n, b), np.arange(graph.n))] = values[:, b]
    sums = graphs.neighbour_sums(flat, most, np.int64)
    expected = graph.to_scipy().astype(np.int64) @ values[:, 0].astype(np.int64)
    for b in (0, count - 1):
        at = graphs.at(np.full(graph.n, b), np.arange(graph.n))
        np.testing.assert_array_equal(sums[at], expected)


@pytest.mark.parametrize(
    ("leaves", "degrees", "sums"),
    [
        (31, np.uint8, np.int32),
        (32, np.uint16, np.int32),
        (9000, np.uint32, np.int32),
        (46341, np.uint32, np.int64),  # the first degree whose square takes 32 bits
    ],
)
def test_types_are_as_narrow_as_degrees_allow(leaves, degrees, sums):
    star = Graph.from_edges(leaves + 1, range(leaves), [leaves] * leaves)
    none = np.empty(0, np.int64)
    residual = ResidualDegrees(masks_on(star, 2), none, none)
    assert (residual.degrees.dtype, residual.sums.dtype) == (degrees, sums)
    assert residual.degrees[-2:].tolist() == residual.sums[-2:].tolist() == [leaves, leaves]
    assert set(residual.sums.tolist()) == {leaves}
