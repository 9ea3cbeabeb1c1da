"""What scores without torch chooses as the network does."""

import subprocess
import sys

import numpy as np
import pytest

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi, with_random_signs
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.policies.structure2vec_scorer import Structure2VecScorer
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.problems.problem import PartialSolution
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.policy_search import select


def batch_of(graphs, copies):
    return GraphBatch(Communicator(), [row_block(graph, 0, 1) for graph in graphs], copies)


@pytest.mark.parametrize("degree_unit", ["one", "mean"])
@pytest.mark.parametrize("graph_term", ["mean", "sum"])
@pytest.mark.parametrize("width", [1, 8, 32])
@pytest.mark.parametrize("layers", [1, 2, 4])
@pytest.mark.parametrize("signed", [False, True])
def test_scores_and_choices_are_those_of_torch(layers, width, graph_term, degree_unit, signed):
    graphs = [erdos_renyi(30, 0.3, seed=1), barabasi_albert(40, 4, seed=2)]
    if signed:
        graphs = [with_random_signs(graph, seed=3) for graph in graphs]
    batch = batch_of(graphs, copies=2)
    settings = Structure2VecSettings(width, layers, graph_term, degree_unit)
    policy = Structure2Vec(settings, seed=4)
    scorer = Structure2VecScorer(settings, {k: v.numpy() for k, v in policy.state_dict().items()})
    generator = np.random.default_rng(5)
    for taken in (0.0, 0.3, 0.7):
        selected = generator.random((batch.nodes, 2)) < taken
        solution = PartialSolution(selected, ~selected)
        degrees, scores = scorer(batch, solution)
        wanted_degrees, wanted = PolicyScorer(policy)(batch, solution)
        np.testing.assert_array_equal(degrees, wanted_degrees)
        np.testing.assert_allclose(scores, wanted, rtol=0, atol=1e-5)
        # The whole of equation (2) differs by a term that the nodes of a graph share.
        whole = policy(batch, solution).detach().numpy() - scores
        for graph in range(2):
            np.testing.assert_allclose(np.ptp(whole[batch.graph_of == graph], axis=0), 0, atol=1e-5)
        candidates = ~selected & (degrees > 0)
        np.testing.assert_array_equal(
            select(batch, scores, candidates).actions, select(batch, wanted, candidates).actions
        )


def test_scoring_imports_no_torch():
    program = (
        "import sys; import ogg_hpc.policies.structure2vec_scorer; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
