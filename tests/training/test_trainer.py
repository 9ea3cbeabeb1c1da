import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import relu

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.policies import dense_reference
from ogg_hpc.policies.registry import make_policy
from ogg_hpc.training.replay import Transitions

GRAPHS = [erdos_renyi(9, 0.4, seed=1), barabasi_albert(12, 2, seed=2), erdos_renyi(7, 0.5, seed=3)]


def transitions(graphs, prefixes, actions, followers, returns, discounts, values=None):
    def prefix(parts):
        nodes = np.array([node for part in parts for node in part], np.int64)
        return nodes, np.array([len(part) for part in parts])

    return Transitions(
        np.array(graphs),
        np.array(actions),
        np.array(returns, float),
        np.array(discounts, float),
        np.zeros(len(actions)) if values is None else np.array(values, float),
        prefix(prefixes),
        prefix(followers),
    )


MIXED = transitions(
    graphs=[0, 2, 1, 1],
    prefixes=[[], [3], [0, 5], [2]],
    actions=[4, 1, 7, 0],
    followers=[[4, 2], [3, 1], [0, 5, 7, 1], [2, 0]],
    returns=[-2.0, -1.0, -2.0, -1.5],
    discounts=[0.81, 0.0, 0.81, 0.9],
    values=[0.3, 5.0, -0.7, 0.2],
)
ONE_GRAPH = transitions(
    graphs=[1, 1, 1],
    prefixes=[[], [3], [0, 5]],
    actions=[4, 1, 7],
    followers=[[4, 2], [3, 1], [0, 5, 7]],
    returns=[-2.0, -1.0, -2.0],
    discounts=[0.81, 0.9, 0.0],
)


def masks(n, chosen):
    selected = np.zeros(n, bool)
    selected[chosen] = True
    return selected, ~selected


def torch_score(parameters, adjacency, chosen, node, layers, graph_term):
    """Equations (1) and (2) for one node, on dense matrices that torch differentiates."""
    selected, active = masks(len(adjacency), chosen)
    A = torch.from_numpy(adjacency * np.outer(active, active))
    x = torch.from_numpy(selected).double()
    fixed = torch.outer(x, parameters["theta1"])
    fixed = fixed + relu(A[:, :, None] * parameters["theta2"]).sum(1) @ parameters["theta3"].T
    embedding = torch.zeros_like(fixed)
    for _ in range(layers):
        embedding = relu(fixed + (A != 0).double() @ embedding @ parameters["theta4"].T)
    whole = embedding.mean(0) if graph_term == "mean" else embedding.sum(0)
    both = torch.cat([parameters["theta5"] @ whole, parameters["theta6"] @ embedding[node]])
    return relu(both) @ parameters["theta7"]


def split(prefix):
    nodes, lengths = prefix
    return [part.tolist() for part in np.split(nodes, np.cumsum(lengths))[:-1]]


def dense_values(tuples, target, settings):
    """The best score of a candidate in each following state, on dense matrices."""
    parameters = {name: value.numpy() for name, value in target.state_dict().items()}
    values = []
    for graph, chosen in zip(tuples.graphs, split(tuples.next_prefix), strict=True):
        adjacency = GRAPHS[graph].to_scipy().toarray()
        selected, active = masks(len(adjacency), chosen)
        scores = dense_reference.scores(
            parameters, adjacency, selected, active, settings.layers, settings.graph_term
        )
        candidates = active & (adjacency[:, active].sum(axis=1) > 0)
        values.append(np.float32(scores[candidates].max()) if candidates.any() else 0.0)
    return np.array(values, float)


def dense_step(tuples, policy, targets, learning_rate):
    """Return the loss and the parameters after one step of Adam."""
    parameters = {
        name: value.detach().clone().requires_grad_() for name, value in policy.named_parameters()
    }
    settings = policy.settings
    loss = 0.0
    for graph, chosen, action, target in zip(
        tuples.graphs, split(tuples.prefix), tuples.actions, targets, strict=True
    ):
        adjacency = GRAPHS[graph].to_scipy().toarray()
        score = torch_score(
            parameters, adjacency, chosen, action, settings.layers, settings.graph_term
        )
        loss = loss + (score - target) ** 2 / len(targets)
    loss.backward()
    torch.optim.Adam(parameters.values(), lr=learning_rate).step()
    return loss.item(), parameters


@pytest.mark.parametrize("tuples", [MIXED, ONE_GRAPH], ids=["mixed", "one graph"])
@pytest.mark.parametrize("targets", ["sampled", "stored"])
@pytest.mark.parametrize("graph_term", ["mean", "sum"])
@pytest.mark.parametrize(("layers", "engine"), [(3, "auto"), (2, "scalar"), (1, "scalar")])
def test_gradient_step_is_that_of_dense_matrices(
    make_trainer, tuples, targets, graph_term, layers, engine
):
    model = {"width": 5, "layers": layers, "graph_term": graph_term}
    policy = make_policy("s2v", model, seed=3)
    before = copy.deepcopy(policy)
    trainer = make_trainer(GRAPHS, policy, targets=targets, learning_rate=0.01, engine=engine)
    trainer.q.target = make_policy("s2v", model, seed=8)  # as after many steps
    values = tuples.values
    if targets == "sampled":
        tuples = replace(tuples, values=None)
        values = dense_values(tuples, trainer.q.target, policy.settings)
        assert np.count_nonzero(values) >= 2
    loss = trainer.q.update(tuples)

    wanted = tuples.returns + tuples.discounts * values
    expected_loss, expected = dense_step(tuples, before, wanted, 0.01)
    assert loss == pytest.approx(expected_loss, rel=1e-6)
    moved = 0
    for name, value in policy.named_parameters():
        np.testing.assert_allclose(
            value.detach().numpy(), expected[name].detach().numpy(), rtol=0, atol=1e-6
        )
        moved += int((value != dict(before.named_parameters())[name]).sum())
    assert moved > 20


@pytest.mark.parametrize("engine", ["reference", "scalar"])
def test_state_without_candidates_is_worth_nothing(make_trainer, engine):
    trainer = make_trainer(GRAPHS, engine=engine)
    everything = np.arange(7), np.array([7])
    states = trainer.engine.states(np.array([2]), everything)
    assert states.values(trainer.q.target).tolist() == [0.0]


@pytest.mark.parametrize("engine", ["reference", "scalar"])
def test_values_are_rounded_as_in_a_search(make_trainer, engine):
    trainer = make_trainer(GRAPHS, engine=engine)
    values = trainer.engine.states(MIXED.graphs, MIXED.prefix).values(trainer.q.target)
    assert values.dtype == np.float64
    assert np.count_nonzero(values) > 0
    np.testing.assert_array_equal(values, values.astype(np.float32))


def test_target_network_is_refreshed_when_due(make_trainer):
    trainer = make_trainer(GRAPHS, target_refresh=3)
    start = copy.deepcopy(trainer.q.target.state_dict())
    trainer.q.update(MIXED)
    for step, equal in ((1, False), (2, False), (3, True)):
        trainer.q.refresh_target(step - 1, step)
        theta = trainer.q.policy.theta7
        assert torch.equal(trainer.q.target.theta7, theta) is equal
        assert torch.equal(trainer.q.target.theta7, start["theta7"]) is not equal
    assert trainer.q.target.theta7 is not theta


@pytest.mark.parametrize("engine", ["reference", "scalar"])
@pytest.mark.parametrize(("double", "loss"), [(False, 4.0), (True, 1.0)])
def test_double_dqn_values_the_node_that_the_policy_prefers(
    make_trainer, degree_policy, engine, double, loss
):
    # Once node 0 is chosen, the path 1 - 2 - 3 - 4 is left: the policy prefers the smallest degree,
    # node 1 of degree 1, and the target network's score is the degree, at most 2.
    path = Graph.from_edges(5, [0, 1, 2, 3], [1, 2, 3, 4])
    trainer = make_trainer([path], degree_policy(-1), engine=engine, double=double)
    trainer.q.target = degree_policy(1)
    step = transitions([0], [[]], [0], [[0]], returns=[-1.0], discounts=[1.0])
    # The policy's own value of node 0 is -1, its target -1 + 2 or -1 + 1.
    assert trainer.q.update(replace(step, values=None)) == pytest.approx(loss, abs=1e-6)


@pytest.mark.parametrize("engine", ["reference", "scalar"])
def test_double_dqn_values_a_state_without_candidates_as_nothing(make_trainer, engine):
    trainer = make_trainer(GRAPHS, engine=engine, double=True)
    step = transitions([2], [[]], [0], [list(range(7))], returns=[-1.0], discounts=[1.0])
    [predicted] = trainer.engine.states(step.graphs, step.prefix).predicted(
        trainer.q.policy, step.actions
    )[0]
    loss = trainer.q.update(replace(step, values=None))
    assert loss == pytest.approx((predicted.item() + 1.0) ** 2, rel=1e-6)


def test_without_a_target_network_the_policy_values_states(make_trainer):
    trainer = make_trainer(GRAPHS, target_refresh=0)
    assert trainer.q.target is trainer.q.policy


def test_averaged_parameters_are_an_exponential_moving_average(make_trainer):
    trainer = make_trainer(GRAPHS, averaging=0.75)
    theta = [trainer.q.policy.theta7.detach().clone()]
    for _ in range(3):
        trainer.q.update(MIXED)
        theta.append(trainer.q.policy.theta7.detach().clone())
    # 0.75^3 of the start, then 1/4 0.75^2, 1/4 0.75 and 1/4.
    mean = (27 * theta[0] + 9 * theta[1] + 12 * theta[2] + 16 * theta[3]) / 64
    np.testing.assert_allclose(trainer.q.averaged.theta7.detach(), mean, rtol=0, atol=1e-12)
    assert not torch.equal(theta[3], theta[0])


def test_without_averaging_the_policy_itself_is_kept(make_trainer):
    trainer = make_trainer(GRAPHS)
    assert trainer.q.averaged is trainer.q.policy


def test_greedy_acting_follows_the_policy(make_trainer, degree_policy, star):
    trainer = make_trainer([star(4)], degree_policy(), epsilon_start=0.0, epsilon_end=0.0)
    assert [trainer.act(step) for step in range(3)] == [None, -1 / 5, -1 / 5]
    assert trainer.replay.state()["actions"][:3].tolist() == [4, 4, 4]
    worst = make_trainer(
        [star(4)], degree_policy(-1), epsilon_start=0.0, epsilon_end=0.0, reward="count"
    )
    assert [worst.act(step) for step in range(5)] == [None, None, None, None, -4.0]
    assert worst.replay.state()["actions"][:5].tolist() == [0, 1, 2, 3, 0]


def test_exploring_is_uniform_and_keyed_by_seed(make_trainer, degree_policy, star):
    def first_actions(seed):
        trainer = make_trainer([star(4)], degree_policy(), seed, epsilon_start=1.0, epsilon_end=1.0)
        for step in range(300):
            trainer.act(step)
        state = trainer.replay.state()
        return state["actions"][state["starts"][state["starts"] < 300]]

    actions = first_actions(1)
    counts = np.bincount(actions, minlength=5)
    assert counts.min() > 0.5 * len(actions) / 5
    np.testing.assert_array_equal(first_actions(1), actions)
    other = first_actions(2)
    assert len(other) != len(actions) or (other != actions).any()


def test_stored_values_are_those_of_the_state_reached(make_trainer, degree_policy):
    path = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    trainer = make_trainer(
        [path], degree_policy(), targets="stored", n_step=1, gamma=0.5,
        epsilon_start=0.0, epsilon_end=0.0, target_refresh=0,
    )  # fmt: skip
    trainer.act(0)  # node 1; the edge 2 - 3 is left, so that the best degree is 1
    trainer.act(1)  # node 2; nothing is left
    trainer.act(2)
    tuples = trainer.replay.transitions(np.arange(2))
    assert tuples.actions.tolist() == [1, 2]
    assert tuples.values.tolist() == [1.0, 0.0]
    assert tuples.discounts.tolist() == [0.5, 0.0]


def test_graphs_without_edges_are_passed_over(make_trainer, star):
    edgeless = Graph.from_edges(3, [], [])
    trainer = make_trainer([edgeless, edgeless, edgeless, star(2)], reward="count")
    returns = [trainer.act(step) for step in range(200)]
    assert set(returns) <= {None, -1.0, -2.0}
    assert set(trainer.replay.state()["graphs"].tolist()) == {3}
    with pytest.raises(SettingsError, match="no training graph has a candidate node"):
        make_trainer([edgeless, edgeless]).act(0)


def test_ranks_that_disagree_are_named(make_trainer):
    trainer = make_trainer(GRAPHS)
    trainer.q.check_ranks_agree()
    trainer.q.world.gather_objects = lambda digest: [digest, digest, "other"]
    with pytest.raises(RuntimeError, match=r"ranks \[2\] hold other parameters than rank 0"):
        trainer.q.check_ranks_agree()


def test_a_run_that_diverges_is_told_so(make_trainer):
    trainer = make_trainer(GRAPHS, learning_rate=1e300)
    trainer.q.update(MIXED)
    with pytest.raises(SettingsError, match=r"lower learning\.learning_rate") as caught:
        trainer.q.update(MIXED)
    assert caught.value.collective
