"""What the frontier engine on a device must do, on whichever device a subclass gives."""

import numpy as np
import pytest

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.search import frontier_engine
from ogg_hpc.search.frontier_engine import FrontierScorer
from ogg_hpc.search.frontier_kernels import push
from ogg_hpc.search.policy_search import search
from ogg_hpc.search.schedule import Schedule

COARSE = Schedule("coarse", ((0.5, 16), (0.1, 5)))


def batch_on(comm, graphs, copies=1):
    blocks = [row_block(graph, comm.rank, comm.size) for graph in graphs]
    return GraphBatch(comm, blocks, copies)


class FrontierChecks:
    """A subclass has the fixture `on_device`, a communicator."""

    @pytest.mark.parametrize("width", [1, 6, 32])
    @pytest.mark.parametrize("copies", [1, 3])
    @pytest.mark.parametrize("id_type", [np.int32, np.int64])
    def test_push_adds_what_changed(self, on_device, width, copies, id_type):
        device, random = on_device.device, np.random.default_rng([width, copies])
        graph = barabasi_albert(140, 5, 1)
        adjacency = graph.to_scipy().toarray()
        pairs = np.sort(random.permutation(graph.n * copies)[:90])
        listening = random.random(graph.n * copies) < 0.7
        sums = random.standard_normal((graph.n * copies, width))
        deltas = random.standard_normal((len(pairs), width))

        of_nodes = np.zeros((graph.n * copies, width))
        of_nodes[pairs] = deltas
        changed = np.zeros(graph.n * copies, bool)
        changed[pairs] = True
        shape = (graph.n, copies, width)
        added = np.einsum("vu,ucw->vcw", adjacency, of_nodes.reshape(shape)).reshape(-1, width)
        touched = (adjacency @ changed.reshape(graph.n, copies) > 0).reshape(-1) & listening

        on = device.from_host
        found, marked = on(sums.copy()), on(np.zeros(len(listening), bool))
        lists = (on(graph.row_offsets.astype(id_type)), on(graph.columns.astype(id_type)))
        push(device, *lists, copies, on(pairs), on(deltas), on(listening), found, marked)
        expected = sums + added * listening[:, None]
        np.testing.assert_allclose(device.to_host(found), expected, rtol=0, atol=1e-12)
        assert (device.to_host(marked) == touched).all()

    @pytest.mark.parametrize("layers", [2, 3])
    def test_solutions_are_those_of_the_reference_engine(
        self, on_device, alone, monkeypatch, layers
    ):
        monkeypatch.setattr(frontier_engine, "SMALLEST_PRODUCT", 0)
        monkeypatch.setattr(frontier_engine, "PUSH_COST", 0.0)
        graphs = [erdos_renyi(60, 0.1, 2), barabasi_albert(70, 3, 3), Graph.from_edges(2, [0], [1])]
        solutions = []
        for comm, scorer in ((alone, PolicyScorer), (on_device, FrontierScorer)):
            settings = Structure2VecSettings(width=6, layers=layers)
            policy = Structure2Vec(settings, seed=layers).to(comm.device.name)
            batch = batch_on(comm, graphs, copies=2)
            found = search(batch, MinimumVertexCover(), scorer(policy), COARSE)
            solutions.append([nodes.tolist() for nodes in found.solutions])
        assert solutions[0] == solutions[1]
