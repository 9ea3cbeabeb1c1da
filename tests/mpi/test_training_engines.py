"""The scalar training engine acts and values as the reference engine, on every number of ranks."""

import numpy as np
import pytest
import torch

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.training.engine import make_engine
from ogg_hpc.training.rows import HeldRows, TrainingRows

GRAPHS = [erdos_renyi(9, 0.4, 1), barabasi_albert(30, 2, 2), erdos_renyi(2, 1.0, 3)]
MODELS = ({"layers": 1}, {"layers": 2, "degree_unit": "mean"}, {"graph_term": "sum"})


@pytest.fixture(params=MODELS, ids=str)
def policy(request):
    return Structure2Vec(Structure2VecSettings(width=8, **request.param), seed=4)


@pytest.fixture
def engines(comm, alone, policy):
    def rows(on):
        blocks = [row_block(graph, on.rank, on.size, "edges") for graph in GRAPHS]
        return TrainingRows([HeldRows(blocks)])

    problem = MinimumVertexCover()
    return (
        make_engine("reference", alone, rows(alone), problem, policy, "allgather"),
        make_engine("auto", comm, rows(comm), problem, policy, "allgather"),
    )


def random_states(seed):
    """Prefixes of a dozen random episodes, what follows them, and an action of each."""
    generator = np.random.default_rng(seed)
    graphs = generator.integers(len(GRAPHS), size=12)
    orders = [generator.permutation(GRAPHS[graph].n) for graph in graphs]
    lengths = np.array([generator.integers(len(order)) for order in orders])
    later = np.minimum(lengths + generator.integers(0, 4, 12), [len(order) for order in orders])
    actions = np.array([order[k] for order, k in zip(orders, lengths, strict=True)])

    def prefixes(counts):
        return np.concatenate([o[:k] for o, k in zip(orders, counts, strict=True)]), counts

    return graphs, prefixes(lengths), prefixes(later), actions


@pytest.mark.parametrize("greedy", [True, False])
def test_engines_take_the_same_actions(engines, policy, greedy):
    reference, scalar = engines
    assert (reference.name, scalar.name) == ("reference", "scalar")
    for graph in range(len(GRAPHS)):
        found = []
        for engine in engines:
            environment = engine.environment(graph, np.array([1]))
            steps = []
            while len(steps) < 40:
                values = environment.value(policy)
                outcome = (
                    environment.step(policy)
                    if greedy
                    else environment.random_step(7, graph, len(steps))
                )
                if outcome is None:
                    assert values == 0.0
                    break
                steps.append((*outcome, values))
            found.append(steps)
        assert found[0] == found[1]


@pytest.mark.parametrize("seed", range(4))
def test_engines_value_and_differentiate_states_alike(engines, policy, comm, seed):
    graphs, prefixes, later, actions = random_states(seed)
    found = []
    for engine, ranks in zip(engines, (1, comm.size), strict=True):
        states = engine.states(graphs, prefixes)
        following = states.after(later)
        values = following.values(policy), following.best(policy), states.values(policy)
        scores, tuples = states.predicted(policy, actions)
        policy.zero_grad()
        (scores * torch.from_numpy(np.arange(1.0, 13.0)[tuples])).sum().backward()
        predicted = np.zeros(12)
        predicted[tuples] = scores.detach().numpy()
        gradient = np.concatenate(
            [
                np.zeros(p.numel()) if p.grad is None else p.grad.numpy().ravel()
                for p in policy.parameters()
            ]
        )
        if ranks > 1:
            predicted, gradient = comm.allreduce(predicted), comm.allreduce(gradient)
        found.append((*values, predicted, gradient))
    for expected, result in zip(*found, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)
    assert np.count_nonzero(found[0][3]) > 8


def test_scalar_engine_is_refused_where_it_cannot_be_used(comm):
    class Own(MinimumVertexCover):
        pass

    rows = TrainingRows([HeldRows([row_block(GRAPHS[0], comm.rank, comm.size)])])
    two, three = (Structure2Vec(Structure2VecSettings(width=2, layers=n)) for n in (2, 3))
    for problem, policy in ((Own(), two), (MinimumVertexCover(), three)):
        assert make_engine("auto", comm, rows, problem, policy, "allgather").name == "reference"
        with pytest.raises(SettingsError, match=r"use learning\.engine = auto"):
            make_engine("scalar", comm, rows, problem, policy, "allgather")
