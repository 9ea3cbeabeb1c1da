"""structure2vec over row blocks, against equations (1) and (2) on a dense matrix."""

import numpy as np
import pytest
import torch

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies import dense_reference
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.problems.problem import PartialSolution


class Case:
    def __init__(self, comm, graphs, copies, collective="allgather", **settings):
        self.comm, self.graphs, self.copies = comm, graphs, copies
        self.settings = Structure2VecSettings(**{"width": 5, **settings})
        self.policy = Structure2Vec(self.settings, seed=3)
        blocks = [row_block(graph, comm.rank, comm.size) for graph in graphs]
        self.batch = GraphBatch(comm, blocks, copies, collective)
        shape = (self.batch.nodes, copies)
        # Numbered by graph and node, so that no mask depends on the number of ranks.
        node, graph = self.batch.node_of[:, None], self.batch.graph_of[:, None]
        number = (node * 7 + graph * 5 + np.arange(copies) * 3) % 11
        self.solution = PartialSolution(number < 3, (number > 1) & np.ones(shape, bool))
        self.weight = np.cos(number + node)  # of each score in the loss

    @property
    def parameters(self):
        return {k: v.detach().numpy().copy() for k, v in self.policy.named_parameters()}

    def dense(self, function, parameters, **options):
        """The reference's result for all graphs and copies, in order of positions."""
        results = None
        for g, graph in enumerate(self.graphs):
            at = self.batch.positions(np.full(graph.n, g), np.arange(graph.n))
            for copy in range(self.copies):
                result = function(
                    parameters,
                    graph.to_scipy().toarray(),
                    self.solution.selected[at, copy],
                    self.solution.active[at, copy],
                    self.settings.layers,
                    **options,
                )
                if results is None:
                    shape = (self.batch.nodes, self.copies, *result.shape[1:])
                    results = np.full(shape, np.nan)
                results[at, copy] = result
        return results

    def dense_loss(self, parameters):
        scores = self.dense(dense_reference.scores, parameters, graph_term=self.settings.graph_term)
        return float((self.weight * scores).sum())

    def gradients(self):
        """Gradients of the weighted sum of all scores, summed over ranks."""
        scores = self.policy(self.batch, self.solution)
        (scores * torch.from_numpy(self.batch.local(self.weight))).sum().backward()
        return {
            # One layer has no neighbour term, so no gradient of theta4.
            name: self.comm.allreduce(np.zeros(p.shape) if p.grad is None else p.grad.numpy())
            for name, p in self.policy.named_parameters()
        }


GRAPHS = {
    "one graph": ([9], 1, False),
    "masks on one graph": ([9], 3, False),
    "graphs of different sizes": ([7, 1, 12], 1, False),
    "weights of both signs": ([6, 8], 2, True),
    "fewer nodes than ranks": ([2], 2, True),
}


@pytest.fixture(params=GRAPHS, ids=lambda name: name.replace(" ", "-"))
def make(request, comm, random_graph):
    sizes, copies, weighted = GRAPHS[request.param]
    graphs = [random_graph(n, seed=n, weighted=weighted) for n in sizes]

    def make(**options):
        return Case(comm, graphs, copies, **options)

    return make


@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_embeddings_are_those_of_equation_1(make, layers, collective):
    case = make(layers=layers, collective=collective)
    with torch.no_grad():
        embedding = case.policy.embed(case.batch, case.solution).numpy()
    expected = case.dense(dense_reference.embed, case.parameters)
    assert embedding.dtype == np.float64
    np.testing.assert_allclose(embedding, case.batch.local(expected), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
@pytest.mark.parametrize("graph_term", ["mean", "sum"])
def test_scores_are_those_of_equation_2(make, graph_term, collective):
    case = make(graph_term=graph_term, collective=collective)
    with torch.no_grad():
        scores = case.policy(case.batch, case.solution).numpy()
    expected = case.dense(dense_reference.scores, case.parameters, graph_term=graph_term)
    np.testing.assert_allclose(scores, case.batch.local(expected), rtol=1e-5, atol=1e-9)


def test_scores_of_some_nodes_are_those_of_all(make):
    case = make()
    with torch.no_grad():
        everything = case.policy(case.batch, case.solution).numpy()
        row = np.arange(0, case.batch.hi - case.batch.lo, 2)
        copy = row % case.copies
        some = case.policy(case.batch, case.solution, at=(row, copy)).numpy()
    assert some.shape == (len(row),)
    np.testing.assert_allclose(some, everything[row, copy], rtol=1e-12, atol=1e-14)


def test_given_degrees_change_nothing(make):
    case = make()
    degrees = case.batch.degrees(case.solution.active)
    with torch.no_grad():
        given = case.policy(case.batch, case.solution, degrees=degrees)
        computed = case.policy(case.batch, case.solution)
    torch.testing.assert_close(given, computed, rtol=0, atol=0)


@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
@pytest.mark.parametrize(
    ("layers", "graph_term"), [(1, "mean"), (2, "mean"), (2, "sum"), (3, "sum")]
)
def test_gradients_are_finite_differences(make, layers, graph_term, collective):
    case = make(width=3, layers=layers, graph_term=graph_term, collective=collective)
    gradients = case.gradients()
    step = 1e-6
    for name, gradient in gradients.items():
        expected = np.empty_like(gradient)
        for index in np.ndindex(gradient.shape):
            losses = []
            for sign in (1, -1):
                moved = case.parameters
                moved[name][index] += sign * step
                losses.append(case.dense_loss(moved))
            expected[index] = (losses[0] - losses[1]) / (2 * step)
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6, err_msg=name)


def test_both_strategies_give_equal_embeddings_scores_and_gradients(make):
    results = []
    for collective in ("allgather", "allreduce"):
        case = make(layers=3, collective=collective)
        with torch.no_grad():
            embedding = case.policy.embed(case.batch, case.solution).numpy()
            scores = case.policy(case.batch, case.solution).numpy()
        results.append({"embedding": embedding, "scores": scores, **case.gradients()})
    for name, value in results[0].items():
        np.testing.assert_allclose(value, results[1][name], rtol=1e-10, atol=1e-12, err_msg=name)


def test_strategies_send_what_they_promise(comm, random_graph):
    # Three layers: two products forward and two backward, of N rows of K numbers.
    bytes_of = {}
    for collective in ("allgather", "allreduce"):
        case = Case(comm, [random_graph(12, seed=1)], 1, collective, layers=3, width=4)
        part = comm.split(0)
        part.counts = {}
        case.batch.comm = part
        scores = case.policy(case.batch, case.solution)
        forward = {name: count["bytes"] for name, count in part.report().items()}
        scores.sum().backward()
        both = {name: count["bytes"] for name, count in part.report().items()}
        bytes_of[collective] = (forward, both)
    P, layer, graph = comm.size, 12 * 4 * 8, 4 * 8
    gathered, reduced = layer * (P - 1) // P, 2 * layer * (P - 1) // P
    whole = 2 * graph * (P - 1) // P
    assert bytes_of["allgather"] == (
        {"allgatherv": 2 * gathered, "allreduce": whole},
        {"allgatherv": 2 * gathered, "allreduce": 2 * whole, "reduce_scatter": 2 * gathered},
    )
    assert bytes_of["allreduce"] == (
        {"allreduce": 2 * reduced + whole},
        {"allreduce": 2 * reduced + 2 * whole, "allgatherv": 2 * gathered},
    )


def test_model_has_as_many_parameters_as_the_paper_says():
    policy = Structure2Vec(Structure2VecSettings(width=32))
    assert sum(p.numel() for p in policy.parameters()) == 4 * 32**2 + 4 * 32


def test_all_ranks_start_from_the_same_parameters(comm):
    policy = Structure2Vec(Structure2VecSettings(width=4), seed=9)
    mine = torch.cat([p.detach().reshape(-1) for p in policy.parameters()]).numpy()
    np.testing.assert_array_equal(comm.allreduce(mine, "max"), comm.allreduce(mine, "min"))
    assert len(np.unique(np.abs(mine))) == len(mine)
