"""The same code on a GPU gives what it gives on the host."""

import numpy as np
import pytest

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.policies.structure2vec import Structure2Vec, Structure2VecSettings
from ogg_hpc.problems import problem_by_name
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.device import CUDADevice, visible_gpus
from ogg_hpc.search.policy_search import search, start_solution
from ogg_hpc.search.schedule import ADAPTIVE

if visible_gpus() == 0:
    pytest.skip("needs an NVIDIA GPU and CuPy", allow_module_level=True)

GRAPHS = [erdos_renyi(60, 0.2, 1), barabasi_albert(90, 3, 2)]


@pytest.fixture(scope="module")
def gpu():
    return Communicator(CUDADevice(0))


@pytest.fixture(scope="module")
def host():
    return Communicator()


def _batch(comm, copies=1, collective="allgather"):
    return GraphBatch(comm, [row_block(g, 0, 1) for g in GRAPHS], copies, collective)


def test_sums_over_neighbours_are_exact(gpu, host):
    on_gpu, on_host = _batch(gpu, 3), _batch(host, 3)
    mask = np.random.default_rng(0).random((on_host.nodes, 3)) < 0.5
    on_device = gpu.device.from_host(mask)
    for name in ("degrees", "adjacent", "count"):
        expected = getattr(on_host, name)(mask)
        assert (gpu.device.to_host(getattr(on_gpu, name)(on_device)) == expected).all()


@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
def test_scores_and_gradients_equal_those_of_the_host(gpu, host, collective):
    found = []
    for comm in (gpu, host):
        policy = Structure2Vec(Structure2VecSettings(layers=3), seed=1).to(comm.device.name)
        batch = _batch(comm, collective=collective)
        scores = policy(batch, start_solution(batch))
        scores.square().sum().backward()
        found.append([scores, *(p.grad for p in policy.parameters())])
    for on_gpu, on_host in zip(*found, strict=True):
        np.testing.assert_allclose(on_gpu.detach().cpu(), on_host.detach(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("gpu_aware", [False, True])
def test_collectives_on_device_buffers_equal_those_on_host_buffers(gpu_aware):
    comm = Communicator(CUDADevice(0), gpu_aware=gpu_aware)
    values = np.arange(12.0).reshape(4, 3)
    on_device = comm.device.from_host(values)
    for result in (comm.allreduce(on_device), comm.allgatherv(on_device, [4])):
        assert (comm.device.to_host(result) == values).all()
    assert comm.counts["allreduce"].path == ("device" if gpu_aware else "staged")


def test_a_search_finds_the_cover_that_the_host_finds(gpu, host):
    problem = problem_by_name("mvc")
    solutions = []
    for comm in (gpu, host):
        policy = Structure2Vec(Structure2VecSettings(), seed=1).to(comm.device.name)
        solutions.append(search(_batch(comm), problem, PolicyScorer(policy), ADAPTIVE).solutions)
    for on_gpu, on_host in zip(*solutions, strict=True):
        assert (on_gpu == on_host).all()
