"""The differentiable two-message policy: the fixed-point form's choices, a gradient, a Q head."""

import numpy as np
import pytest
import torch

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.degree_messages import TWO_MESSAGES, MessageScorer, message_form, two_messages
from ogg_hpc.policies.file import load_policy, save_policy
from ogg_hpc.policies.registry import make_policy
from ogg_hpc.policies.scalar_form import inverse_degree_form
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.policy_search import start_solution

GRAPHS = [erdos_renyi(40, 0.15, 1), barabasi_albert(60, 3, 2), erdos_renyi(30, 0.05, 3)]
LEARNED = np.concatenate(list(TWO_MESSAGES.values())).tolist()


@pytest.fixture
def learned():
    """A network of nine learned numbers whose head says something, too."""
    policy = make_policy("degree-messages", {"start": LEARNED}, seed=0)
    policy.needed.data = torch.tensor([0.1, -0.05, 0.2, -0.1, 0.03, 0.15], dtype=torch.float64)
    policy.advantage.data = torch.tensor([-0.4, 0.7], dtype=torch.float64)
    return policy


def partly_solved(seed):
    """A batch of the graphs without some random nodes: masks, degrees and who has an edge."""
    batch = GraphBatch(Communicator(), [row_block(graph, 0, 1) for graph in GRAPHS], copies=2)
    solution = start_solution(batch)
    gone = np.random.default_rng(seed).random(solution.active.shape) < 0.4
    solution.active[gone], solution.selected[gone] = False, True
    degrees = batch.degrees(solution.active)
    return batch, solution, degrees, solution.active & (degrees > 0)


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_those_of_the_fixed_point_form(learned, seed):
    batch, solution, degrees, inside = partly_solved(seed)
    form = two_messages(60, 0.0, **TWO_MESSAGES)
    _, fixed = MessageScorer(form)(batch, solution)
    with torch.no_grad():
        logs = learned.preferences(batch, solution, degrees).numpy()
    # A power table is off by 1e-4 at most.
    np.testing.assert_allclose(logs[inside], np.log(fixed[inside]), rtol=0, atol=5e-4)
    for group in range(batch.groups):
        mine = inside & (batch.group_of == group)
        chosen = fixed[mine].argmax()
        assert logs[mine][chosen] > logs[mine].max() - 1e-3


def test_the_default_start_is_inverse_degree_greedy():
    policy = make_policy("degree-messages", {}, seed=0)
    batch, solution, degrees, inside = partly_solved(0)
    _, sums = MessageScorer(inverse_degree_form(60, 1.25))(batch, solution)
    with torch.no_grad():
        logs = policy.preferences(batch, solution, degrees).numpy()
    np.testing.assert_allclose(np.exp(logs[inside]), sums[inside], rtol=1e-8)


def test_q_values_rise_with_scores_and_ignore_them_where_half_of_the_actions_are_random(learned):
    batch, solution, degrees, inside = partly_solved(1)
    with torch.no_grad():
        learned.needed[5] = 0.0  # of the logarithm of a node's score to the best
        values = learned(batch, solution).numpy()
        scores = learned.preferences(batch, solution, degrees).numpy()
        learned.score += 1.0
        others = learned(batch, solution).numpy()
    for group in range(batch.groups):
        mine = inside & (batch.group_of == group)
        order = np.argsort(scores[mine], kind="stable")
        assert (np.diff(values[mine][order]) > -1e-12).all()
        met, still_met = ((v[mine].mean() + v[mine].max()) / 2 for v in (values, others))
        assert met == pytest.approx(still_met, rel=1e-12)
        assert -mine.sum() < met < 0  # minus a number of nodes still needed
        assert np.ptp(values[mine]) < np.exp(-0.4)  # one choice loses no more than c
        assert np.abs(values[mine] - others[mine]).max() > 1e-3


@pytest.mark.parametrize("part", ["scores", "head"])
def test_gradient_is_that_of_finite_differences(learned, part):
    batch, solution, _, inside = partly_solved(2)
    if part == "scores":  # the estimate of what is needed takes scores as given
        learned.needed.data.zero_()
    parameters = {
        name: value
        for name, value in learned.named_parameters()
        if (name == "needed") == (part == "head")
    }
    at = np.nonzero(inside)
    weights = torch.from_numpy(np.random.default_rng(0).normal(size=len(at[0])))

    def loss():
        return (learned(batch, solution, at=at) * weights).sum()

    loss().backward()
    for name, parameter in parameters.items():
        for i in range(len(parameter)):
            sides = []
            for step in (1e-6, -1e-6):
                with torch.no_grad():
                    parameter[i] += step
                    sides.append(loss().item())
                    parameter[i] -= step
            numeric = (sides[0] - sides[1]) / 2e-6
            assert parameter.grad[i].item() == pytest.approx(numeric, rel=1e-5, abs=1e-6), name
        assert parameter.grad.abs().max() > 1e-3


def test_the_fast_form_needs_the_nine_numbers_of_a_file_alone(learned, tmp_path):
    save_policy(tmp_path / "q.npz", learned, learned.name, "mvc", {})
    stored = load_policy(str(tmp_path / "q.npz"), "mvc")
    assert set(stored.arrays) == {*TWO_MESSAGES, "needed", "advantage"}
    form, wanted = message_form(stored, 50, 0.05), two_messages(50, 0.05, **TWO_MESSAGES)
    np.testing.assert_array_equal(form.messages, wanted.messages)
    np.testing.assert_array_equal(form.answer_by_degree, wanted.answer_by_degree)
    np.testing.assert_array_equal(form.score_by_sum, wanted.score_by_sum)
    again = stored.policy()
    assert torch.equal(again.advantage, learned.advantage)


@pytest.mark.parametrize("start", [[0.0] * 8, [float("nan")] * 9])
def test_a_start_that_is_no_policy_is_refused(start):
    with pytest.raises(SettingsError, match=r"model\.start is 9 finite numbers"):
        make_policy("degree-messages", {"start": start}, seed=0)
