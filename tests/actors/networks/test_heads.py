"""Distributions of actions: drawn as they say, and the same in NumPy and in torch."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ogg_hpc.actors.networks.heads import ActionHead
from ogg_hpc.actors.networks.registry import make_network
from ogg_hpc.actors.schema import Schema
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.random import hash64

SEEN = Box(-1, 1, (3,))
REALS = Box(-2, 2, (2, 2))
STATES = {
    "plain": SEEN,
    "mixed": Dict(
        {
            "real": Box(-np.inf, np.inf, (2, 2), np.float64),
            "whole": Box(0, 255, (2,), np.uint8),
            "discrete": Discrete(4, start=3),
            "several": MultiDiscrete([[2, 3]]),
            "bits": MultiBinary(5),
        }
    ),
}
ACTIONS = {
    "discrete": Discrete(5, start=-1),
    "several": MultiDiscrete([3, 2, 4]),
    "bits": MultiBinary(3),
    "real": REALS,
    "mixed": Dict({"a": Discrete(3), "b": REALS, "c": Dict({"d": MultiDiscrete([2, 2])})}),
}


def schema(seen, acts, masked=False):
    if masked:
        inner = seen if isinstance(seen, Dict) else Dict({"seen": seen})
        outcomes = sum(sum(leaf.n) or 2 * leaf.size for leaf in schema(seen, acts).actions
                       if leaf.kind != "box")  # fmt: skip
        seen = Dict({**inner.spaces, "action_mask": MultiBinary(outcomes)})
    return Schema.of(SimpleNamespace(observation_space=seen, action_space=acts))


def observations(of, count, seed=0):
    """Random observations, whose masks leave something of each choice."""
    rng = np.random.default_rng(seed)
    arrays = {}
    for leaf in of.observations:
        shape = (count, *leaf.shape)
        if leaf.kind == "box":
            arrays[leaf.name] = rng.uniform(0, 3, shape).astype(leaf.dtype)
        else:
            n = np.array(leaf.n).reshape(leaf.shape) if leaf.n else 2
            arrays[leaf.name] = rng.integers(n, size=shape).astype(leaf.dtype)
    if "action_mask" in arrays:
        head = ActionHead(of)
        pairs = zip(head.columns, head.possible, strict=True)
        keep = [rng.choice(columns[there]) for columns, there in pairs]
        arrays["action_mask"][:, keep] = 1
    return arrays


def network(of, seed=0, **model):
    """A network that is far from uniform."""
    made = make_network("mlp", of, {"hidden": [16, 8], **model})
    rng = np.random.default_rng(seed)
    made.load(
        {
            name: (array + rng.normal(0, 0.7, array.shape)).astype(np.float32)
            for name, array in made.initial(seed).items()
        }
    )
    return made


def trained(made, seed=0):
    """The torch form of `network`."""
    module = made.trainable()
    rng = np.random.default_rng(seed)
    module.load_state_dict(
        {
            name: torch.from_numpy((array + rng.normal(0, 0.7, array.shape)).astype(np.float32))
            for name, array in made.initial(seed).items()
        }
    )
    return module


def tensors(arrays):
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def test_without_hidden_layers_the_policy_is_linear():
    of = schema(SEEN, Discrete(4))
    seen, made = observations(of, 6), network(of, hidden=[])
    acted = made.act(seen, hash64(1, np.arange(6)))
    found = trained(made).evaluate(tensors(seen), tensors(acted.actions))
    np.testing.assert_allclose(acted.value, found.value.detach().numpy(), rtol=1e-5, atol=1e-5)
    rows = {"value": 2 * seen["value"]}
    twice = 2 * made.value(seen) - made.value({"value": 0 * seen["value"]})
    np.testing.assert_allclose(made.value(rows), twice, rtol=1e-4, atol=1e-5)


CASES = [
    (states, actions, masked)
    for states in STATES
    for actions in ACTIONS
    for masked in (False, True)
    if not (masked and actions == "real")
]


@pytest.mark.parametrize(("states", "actions", "masked"), CASES)
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_numpy_and_torch_agree(states, actions, masked, activation):
    of = schema(STATES[states], ACTIONS[actions], masked)
    seen, keys = observations(of, 50), hash64(1, np.arange(50))
    made = network(of, activation=activation)
    acted = made.act(seen, keys)
    module = trained(made)
    found = module.evaluate(tensors(seen), tensors(acted.actions))
    logs, value = found.log_probability.detach().numpy(), found.value.detach().numpy()
    np.testing.assert_allclose(acted.log_probability, logs, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(acted.value, value, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(made.value(seen), acted.value, rtol=1e-6)
    for leaf in of.actions:
        leaf.check(acted.actions[leaf.name], 50)
        leaf.check(made.greedy(seen)[leaf.name], 50)


@pytest.mark.parametrize(("states", "actions", "masked"), CASES)
def test_an_action_does_not_depend_on_what_is_acted_beside_it(states, actions, masked):
    of = schema(STATES[states], ACTIONS[actions], masked)
    seen, keys, made = observations(of, 9), hash64(1, np.arange(9)), network(of)
    together = made.act(seen, keys)
    for i in range(9):
        alone = made.act({name: each[i : i + 1] for name, each in seen.items()}, keys[i : i + 1])
        assert alone.log_probability[0] == together.log_probability[i]
        assert alone.value[0] == together.value[i]
        for name, action in alone.actions.items():
            assert (action[0] == together.actions[name][i]).all()


@pytest.mark.parametrize("masked", [False, True])
def test_a_choice_is_drawn_exactly_as_probable_as_it_is(masked):
    of = schema(SEEN, Discrete(5), masked)
    head, count = ActionHead(of), 1 << 12
    numbers = np.array([[0.3, -1.0, 2.0, 0.0, -3.0]], np.float32)
    mask = np.array([[0, 1, 1, 0, 1]] if masked else [[1] * 5], np.int8)
    seen = {"action_mask": np.repeat(mask, count, 0)}
    keys = np.arange(count, dtype=np.uint64) << np.uint64(52)  # evenly over [0, 1)
    actions, logs = head.sample(np.repeat(numbers, count, 0), np.zeros(0), seen, keys)
    weights = np.exp(numbers[0].astype(float)) * mask[0]
    probabilities = weights / weights.sum()
    drawn = np.bincount(actions["value"], minlength=5)
    assert (np.abs(drawn - count * probabilities) <= 1).all()
    assert not drawn[mask[0] == 0].any()
    np.testing.assert_allclose(np.exp(logs), probabilities[actions["value"]], rtol=1e-5)


def test_the_ends_of_the_random_numbers_draw_what_may_be_drawn():
    of = schema(SEEN, Discrete(4), masked=True)
    keys = np.array([0, 2**64 - 1], np.uint64)
    seen = {"action_mask": np.array([[0, 1, 1, 0]] * 2, np.int8)}
    actions, _ = ActionHead(of).sample(np.zeros((2, 4), np.float32), np.zeros(0), seen, keys)
    assert actions["value"].tolist() == [1, 2]


def test_several_choices_are_drawn_independently():
    of, count = schema(SEEN, MultiDiscrete([3, 2])), 20_000
    numbers = np.array([[0.5, -0.5, 0.0, 1.0, -0.5]], np.float32)
    actions, _ = ActionHead(of).sample(
        np.repeat(numbers, count, 0), np.zeros(0), {}, hash64(3, np.arange(count))
    )
    pairs = np.bincount(actions["value"] @ [2, 1], minlength=6)
    weights = np.exp(numbers[0].astype(float))
    first, second = weights[:3] / weights[:3].sum(), weights[3:] / weights[3:].sum()
    assert stats.chisquare(pairs, count * np.outer(first, second).ravel()).pvalue > 1e-3


def test_real_numbers_are_normal_and_their_log_probability_is_the_density():
    of, count = schema(SEEN, Box(-1, 1, (2,))), 20_000
    mean = np.array([0.5, -3.0], np.float32)
    log_deviation = np.log(np.array([0.5, 2.0], np.float32))
    actions, logs = ActionHead(of).sample(
        np.tile(mean, (count, 1)), log_deviation, {}, hash64(4, np.arange(count))
    )
    normal = stats.norm(mean.astype(float), [0.5, 2.0])
    drawn = actions["value"].astype(float)
    np.testing.assert_allclose(logs, normal.logpdf(drawn).sum(1), rtol=1e-4, atol=1e-4)
    standard = (drawn - mean) / [0.5, 2.0]
    assert stats.kstest(standard.ravel(), "norm").pvalue > 1e-3
    assert abs(np.corrcoef(standard.T)[0, 1]) < 0.03


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("actions", ["discrete", "several", "bits"])
def test_the_entropy_is_that_of_the_probabilities(actions, masked):
    of = schema(SEEN, ACTIONS[actions], masked)
    seen, made = observations(of, 6), network(of)
    numbers = made._forward("policy", made._features(seen))
    logs = made.head.log_probabilities(numbers, seen).astype(float)
    probabilities = np.exp(logs)
    np.testing.assert_allclose(probabilities.sum(-1), 1, rtol=1e-6)
    expected = stats.entropy(probabilities, axis=-1).sum(-1)
    acted = made.act(seen, hash64(1, np.arange(6)))
    found = trained(made).evaluate(tensors(seen), tensors(acted.actions)).entropy
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-4, atol=1e-5)


def test_the_entropy_of_real_numbers_is_that_of_normal_distributions():
    of = schema(SEEN, REALS)
    made = network(of, deviation=0.3)
    seen = observations(of, 4)
    acted = made.act(seen, hash64(1, np.arange(4)))
    found = trained(made).evaluate(tensors(seen), tensors(acted.actions)).entropy
    expected = stats.norm(0, np.exp(made._log_deviation.astype(float))).entropy().sum()
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-5)


def test_where_nothing_may_be_chosen_everything_is_equally_probable():
    of = schema(SEEN, Discrete(5), masked=True)
    seen = observations(of, 3)
    seen["action_mask"][:] = 0
    made = network(of)
    acted = made.act(seen, hash64(1, np.arange(3)))
    np.testing.assert_allclose(acted.log_probability, -np.log(5), rtol=1e-6)
    found = trained(made).evaluate(tensors(seen), tensors(acted.actions))
    np.testing.assert_allclose(found.log_probability.detach().numpy(), -np.log(5), rtol=1e-6)


@settings(max_examples=30, deadline=None)
@given(masks=st.lists(st.lists(st.booleans(), min_size=9, max_size=9), min_size=1, max_size=4))
def test_under_any_mask_an_outcome_is_chosen_that_there_is(masks):
    of = schema(SEEN, MultiDiscrete([3, 2, 4]), masked=True)
    made, seen = network(of), observations(of, len(masks))
    seen["action_mask"][:] = masks
    acted = made.act(seen, hash64(1, np.arange(len(masks))))
    assert (acted.actions["value"] < [3, 2, 4]).all()
    assert (made.greedy(seen)["value"] < [3, 2, 4]).all()
    found = trained(made).evaluate(tensors(seen), tensors(acted.actions)).log_probability
    np.testing.assert_allclose(found.detach().numpy(), acted.log_probability, rtol=1e-5)


def test_gradients_are_finite_under_a_mask():
    of = schema(SEEN, MultiDiscrete([3, 2, 4]), masked=True)
    made = network(of)
    module, seen = trained(made), observations(of, 8)
    acted = made.act(seen, hash64(1, np.arange(8)))
    found = module.evaluate(tensors(seen), tensors(acted.actions))
    (found.log_probability.sum() + found.entropy.sum() + found.value.sum()).backward()
    assert all(torch.isfinite(each.grad).all() for each in module.parameters())


def test_greedy_takes_the_most_probable():
    of = schema(SEEN, MultiDiscrete([3, 2]), masked=True)
    head = ActionHead(of)
    numbers = np.array([[0, 2, 1, 0, 0], [0, 2, 1, 0, 1]], np.float32)
    seen = {"action_mask": np.array([[1, 1, 1, 1, 1], [1, 0, 1, 1, 1]], np.int8)}
    assert head.greedy(numbers, seen)["value"].tolist() == [[1, 0], [2, 1]]


@pytest.mark.parametrize(
    ("seen", "acts", "message"),
    [
        (SEEN, Box(0, 9, (2,), np.int32), "the action value is a Box of int32"),
        (Dict({"action_mask": MultiBinary(3), "a": SEEN}), Discrete(4), "has to have as many"),
        (Dict({"action_mask": MultiBinary(4), "b": SEEN}), REALS, "have 0 outcomes"),
        (Dict({"action_mask": MultiBinary(4)}), Discrete(4), "an observation beside the action"),
    ],
)
def test_spaces_that_cannot_be_served_are_named(seen, acts, message):
    with pytest.raises(SettingsError, match=message):
        make_network("mlp", schema(seen, acts), {})


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"hidden": [0]}, "a width of at least 1"),
        ({"activation": "gelu"}, "tanh or relu, not 'gelu'"),
        ({"deviation": 0.0}, "positive and finite"),
        ({"width": 3}, "unknown key network.model.width"),
    ],
)
def test_model_settings_that_cannot_work_are_named(model, message):
    with pytest.raises(SettingsError, match=message):
        make_network("mlp", schema(SEEN, Discrete(2)), model)


def test_an_unknown_network_is_named():
    with pytest.raises(SettingsError, match=r"network 'perceptron' is unknown; use .*mlp"):
        make_network("perceptron", schema(SEEN, Discrete(2)), {})


def test_a_fresh_network_is_about_uniform_and_a_function_of_its_seed():
    of = schema(SEEN, Discrete(4))
    made = make_network("mlp", of, {})
    first, again, other = made.initial(3), made.initial(3), made.initial(4)
    assert all((first[name] == again[name]).all() for name in first)
    assert any((first[name] != other[name]).any() for name in first)
    weight = first["policy.1.weight"].astype(float)
    np.testing.assert_allclose(weight @ weight.T, 2 * np.eye(64), atol=1e-5)
    made.load(first)
    acted = made.act(observations(of, 20), hash64(0, np.arange(20)))
    np.testing.assert_allclose(acted.log_probability, -np.log(4), atol=0.05)
