"""The scalar engine's kernels, run on a CPU by emulation, on every number of ranks."""

import networkx as nx
import numpy as np
import pytest
from cuda_emulation import ApartDevice, EmulatedDevice, emulated
from scalar_device_checks import GRAPHS, NONE, RANKS, ScalarEngineChecks, linear_form, use_devices

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.search.scalar_search import scalar_search
from ogg_hpc.search.schedule import ONE, PAPER


class TestByEmulation(ScalarEngineChecks):
    @pytest.fixture(params=["in order", "in any order"] if RANKS == 1 else ["in any order"])
    def on_device(self, comm, request):
        """Threads run in their own order, or in one drawn anew for each launch."""
        return emulated(comm, ApartDevice(None if request.param == "in order" else comm.rank))


def test_a_step_sends_pairs_and_neighbours_alone(comm, monkeypatch):
    if comm.size == 1:
        pytest.skip("nothing is sent on one rank")
    use_devices(monkeypatch)
    graph, on_device = GRAPHS["erdos-renyi"], emulated(comm, ApartDevice())
    block = row_block(graph, comm.rank, comm.size)
    result = scalar_search(on_device, block, linear_form(1), ONE, NONE)
    # Of each rank a key and whether to stop each step, at first each node's degree, and each edge
    # once at the most; a rank sends its share.
    most = len(result.step_seconds) * 16 * comm.size + 8 * graph.n + 4 * graph.m
    assert on_device.counts["allgatherv"].bytes <= most * (comm.size - 1) / comm.size
    assert set(on_device.counts) == {"allgatherv"}


def test_threads_are_checked_for_what_they_are_given(tmp_path):
    source = tmp_path / "twice.cu"
    source.write_text(
        'extern "C" __global__ void twice(i64 n, const int *from, double *to)\n'
        "{ FOR_EACH(i, n) to[i] = 2 * from[i]; }\n"
    )
    twice = EmulatedDevice(1).kernels(source).twice
    given, result = np.arange(1000, dtype=np.int32), np.zeros(1000)
    twice(300, 1000, given, result)
    assert (result == 2.0 * given).all()
    for wrong in (
        (1000, given),
        (1000, given.astype(np.int64), result),
        (1000, given, result[::2]),
        (1e3, given, result),
        (1000, given.tolist(), result),
    ):
        with pytest.raises(AssertionError):
            twice(300, *wrong)


def test_arrays_of_a_device_are_apart_from_those_of_the_host():
    device = ApartDevice()
    array, mine = device.xp.zeros(3), np.ones(3)
    for mixture in (
        lambda: np.sort(array),
        lambda: device.xp.sort(mine),
        lambda: array[np.array([1])],
        lambda: array.fill(mine),
        lambda: array.__setitem__(0, mine[:1]),
        lambda: device.to_host(mine),
        lambda: device.from_host(array),
    ):
        with pytest.raises((AssertionError, TypeError)):
            mixture()
    array[1:] = device.from_host(mine)[:2]
    assert device.to_host(device.xp.sort(array)).tolist() == [0, 1, 1]


def test_a_device_serves_where_a_step_is_much_work(alone):
    device = ApartDevice()
    device.name = "emulated"
    on_device = emulated(alone, device)
    found = {}
    for name, graph in {
        "sparse": Graph.from_networkx(nx.path_graph(40)),
        "dense": Graph.from_networkx(nx.complete_graph(400)),
    }.items():
        block = row_block(graph, 0, 1)
        found[name] = scalar_search(on_device, block, linear_form(1), PAPER, NONE).device
    assert found == {"sparse": "cpu", "dense": "emulated"}
