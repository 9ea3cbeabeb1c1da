"""What all code on arrays must do on a device, on whichever device a subclass gives."""

import copy

import numpy as np
import pytest

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.problems import problem_by_name
from ogg_hpc.search.policy_search import search, start_solution
from ogg_hpc.search.schedule import PAPER

GRAPHS = [erdos_renyi(60, 0.2, 1), barabasi_albert(90, 3, 2)]


def _batch(comm, copies=1, collective="allgather"):
    return GraphBatch(comm, [row_block(g, 0, 1) for g in GRAPHS], copies, collective)


class BatchChecks:
    """A subclass has the fixture `on_device`, a communicator of one rank."""

    def test_sums_over_neighbours_are_exact(self, on_device, alone):
        there, on_host = _batch(on_device, 3), _batch(alone, 3)
        mask = np.random.default_rng(0).random((on_host.nodes, 3)) < 0.5
        device = on_device.device
        for name in ("degrees", "adjacent", "count"):
            expected = getattr(on_host, name)(mask)
            assert (device.to_host(getattr(there, name)(device.from_host(mask))) == expected).all()

    @pytest.mark.parametrize("collective", ["allgather", "allreduce"])
    def test_scores_and_gradients_equal_those_of_the_host(self, on_device, alone, collective):
        found = []
        for comm in (on_device, alone):
            policy = Structure2Vec(Structure2VecSettings(layers=3), seed=1).to(comm.device.name)
            batch = _batch(comm, collective=collective)
            scores = policy(batch, start_solution(batch))
            scores.square().sum().backward()
            found.append([scores, *(p.grad for p in policy.parameters())])
        for there, on_host in zip(*found, strict=True):
            np.testing.assert_allclose(
                there.detach().cpu(), on_host.detach(), rtol=1e-9, atol=1e-12
            )

    @pytest.mark.parametrize("gpu_aware", [False, True])
    def test_collectives_on_device_buffers_equal_those_on_host_buffers(self, on_device, gpu_aware):
        comm = copy.copy(on_device)
        comm.gpu_aware, comm.counts = gpu_aware, {}
        values = np.arange(12.0).reshape(4, 3)
        copied = comm.device.from_host(values)
        for result in (comm.allreduce(copied), comm.allgatherv(copied, [4])):
            assert (comm.device.to_host(result) == values).all()
        assert comm.counts["allreduce"].path == ("device" if gpu_aware else "staged")

    def test_a_search_finds_the_cover_that_the_host_finds(self, on_device, alone):
        problem = problem_by_name("mvc")
        solutions = []
        for comm in (on_device, alone):
            policy = Structure2Vec(Structure2VecSettings(), seed=1).to(comm.device.name)
            solutions.append(search(_batch(comm), problem, PolicyScorer(policy), PAPER).solutions)
        for there, on_host in zip(*solutions, strict=True):
            assert (there == on_host).all()
