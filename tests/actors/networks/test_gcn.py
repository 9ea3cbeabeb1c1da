"""The graph convolutional policy of molecules: NumPy against torch, and against its definition."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.sparse.csgraph import shortest_path

from ogg_hpc.actors.environments.molecules.spaces import (
    action_space,
    largest_orders,
    observation_space,
    pack_orders,
)
from ogg_hpc.actors.networks import gcn_forward
from ogg_hpc.actors.networks.gcn import GCN, GCNSettings
from ogg_hpc.actors.schema import Leaf, Schema
from ogg_hpc.errors import SettingsError

VALENCES = np.array([4, 3, 2, 1])
RINGS = 3


def schema(most):
    kinds = len(VALENCES)
    return Schema.of(
        SimpleNamespace(
            observation_space=observation_space(most, kinds, most - 1 + RINGS),
            action_space=action_space(most, kinds),
        )
    )


def network(most, seed=0, **settings):
    """A network whose choices are far from equally probable, which hides nothing."""
    made = GCN(schema(most), GCNSettings(**settings))
    arrays = made.initial(seed)
    arrays |= {name: 10 * arrays[name] for name in arrays if name.endswith(".output")}
    arrays |= {
        name: arrays[name] + np.random.default_rng(seed).normal(0, 0.2, arrays[name].shape)
        for name in arrays
        if name.endswith((".bias", ".shift"))
    }
    made.load({name: array.astype(np.float32) for name, array in arrays.items()})
    return made


def learner(made):
    module = made.trainable()
    module.load_state_dict({k: torch.from_numpy(v) for k, v in made._parameters.items()})
    return module


def molecule(rng, most, atoms, stop=True):
    """A random molecule as the environment shows it."""
    kinds = np.zeros(most, np.int8)
    bonds = np.zeros((most - 1 + RINGS, 3), np.int8)
    free = np.zeros(most, np.int8)
    linked = np.eye(most, dtype=bool)
    row = 0

    def bind(i, j):
        nonlocal row
        order = rng.integers(1, min(free[i], free[j], 3) + 1)
        bonds[row], row = (i, j, order), row + 1
        linked[i, j] = linked[j, i] = True
        free[[i, j]] -= order

    for atom in range(atoms):
        able = np.flatnonzero(free)
        if atom and not len(able):
            break
        kinds[atom] = rng.integers(1, len(VALENCES) + 1)
        free[atom] = VALENCES[kinds[atom] - 1]
        if atom:
            bind(rng.choice(able), atom)
    for _ in range(RINGS):
        pairs = np.argwhere((free[:, None] > 0) & (free > 0) & ~linked)
        if len(pairs) and rng.random() < 0.5:
            bind(*rng.choice(pairs))
    room = (kinds == 0).any()
    orders = np.zeros((most, most + len(VALENCES)), np.uint8)
    orders[:, :most] = np.where(linked, 0, np.minimum(np.minimum(free[:, None], free), 3))
    orders[:, most:] = np.minimum(np.minimum(free[:, None], VALENCES), 3) * room
    goes_on = orders.any()
    return {
        "atoms": kinds,
        "bonds": bonds,
        "free_valence": free,
        "action_mask": pack_orders(orders),
        "stop_mask": np.array([goes_on, stop or not goes_on], np.int8),
    }


def stacked(molecules):
    return {name: np.stack([each[name] for each in molecules]) for name in molecules[0]}


def several(rng, most, count, **options):
    return stacked(
        [molecule(rng, most, rng.integers(1, most + 1), **options) for _ in range(count)]
    )


def keys(rng, count):
    return rng.integers(0, 2**63, count).astype(np.uint64)


def tensors(arrays):
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def evaluated(module, observations, actions):
    with torch.no_grad():
        found = module.evaluate(tensors(observations), {"value": torch.as_tensor(actions)})
    return [part.numpy() for part in found]


def allowed(observation):
    """All actions that the environment's rules permit, written once for each meaning."""
    most = len(observation["atoms"])
    orders = largest_orders(observation["action_mask"], most + len(VALENCES))
    found = [(0, 0, 0, 1)] if observation["stop_mask"][1] else []
    if observation["stop_mask"][0]:
        found += [
            (first, second, order, 0)
            for first, second in itertools.product(*map(range, orders.shape))
            for order in range(orders[first, second])
        ]
    return np.array(found)


def test_numpy_and_torch_agree():
    rng = np.random.default_rng(0)
    made = network(20)
    observations = several(rng, 20, 200)
    acted = made.act(observations, keys(rng, 200))
    logs, _, value = evaluated(learner(made), observations, acted.actions["value"])
    assert acted.log_probability.dtype == acted.value.dtype == np.float32
    np.testing.assert_allclose(logs, acted.log_probability, atol=1e-5)
    np.testing.assert_allclose(value, acted.value, atol=1e-5)
    np.testing.assert_array_equal(made.value(observations), acted.value)


def test_all_choices_of_each_stage_agree():
    rng = np.random.default_rng(1)
    made = network(12)
    observations = several(rng, 12, 50)
    found = {}
    for name, xp, parameters, shown in (
        ("numpy", np, made._parameters, observations),
        ("torch", torch, tensors(made._parameters), tensors(observations)),
    ):
        logs = found[name] = []

        def choose(head, each, logs=logs):
            logs.append(np.asarray(each))
            return each.argmax(-1)

        gcn_forward.decide(xp, parameters, gcn_forward.encode(xp, parameters, shown), choose)
    for ours, theirs in zip(found["numpy"], found["torch"], strict=True):
        probable = ours > -20  # float32 has no more digits of less probable ones
        np.testing.assert_allclose(ours[probable], theirs[probable], atol=1e-5)
        np.testing.assert_allclose(
            (np.exp(ours) * ours).sum(-1), (np.exp(theirs) * theirs).sum(-1), atol=1e-5
        )


@pytest.mark.parametrize("stop", [True, False])
def test_probabilities_of_all_actions_sum_to_one(stop):
    rng = np.random.default_rng(2)
    made = network(5)
    module = learner(made)
    for atoms in (1, 2, 3, 4, 5, 5):
        shown = molecule(rng, 5, atoms, stop)
        actions = allowed(shown)
        logs, entropy, _ = evaluated(module, stacked([shown] * len(actions)), actions)
        probabilities = np.exp(logs.astype(float))
        assert probabilities.sum() == pytest.approx(1, abs=1e-5)
        # The entropies of the stages, each given those before, add up to that of the action.
        assert (probabilities * entropy).sum() == pytest.approx(
            -(probabilities * logs).sum(), abs=1e-4
        )


def test_what_is_forbidden_has_probability_zero_and_is_never_drawn():
    rng = np.random.default_rng(3)
    made = network(6)
    module = learner(made)
    for atoms in (1, 3, 6):
        shown = molecule(rng, 6, atoms, stop=False)
        permitted = set(map(tuple, allowed(shown)))
        orders = range(1 + VALENCES.max())
        every = itertools.product(range(6), range(6 + len(VALENCES)), orders[:3], (0, 1))
        # Atoms that are not there have no place in the network.
        count = (shown["atoms"] > 0).sum()
        others = [
            a for a in every
            if a not in permitted and a[0] < count and not count <= a[1] < 6
            and not (a[3] and shown["stop_mask"][1])
        ]  # fmt: skip
        logs, _, _ = evaluated(module, stacked([shown] * len(others)), np.array(others))
        assert (np.exp(logs) == 0).all()
        drawn = made.act(stacked([shown] * 500), keys(rng, 500)).actions["value"]
        assert set(map(tuple, drawn)) <= permitted
        assert tuple(made.greedy(stacked([shown]))["value"][0]) in permitted


def test_actions_are_drawn_as_often_as_their_probability_says():
    rng = np.random.default_rng(4)
    made = network(4)
    shown = molecule(rng, 4, 3)
    actions = allowed(shown)
    logs, _, _ = evaluated(learner(made), stacked([shown] * len(actions)), actions)
    count = 5_000
    drawn = made.act(stacked([shown] * count), keys(rng, count)).actions["value"]
    seen = (drawn[:, None] == actions).all(-1).mean(0)
    expected = np.exp(logs)
    assert np.abs(seen - expected).max() < 5 * np.sqrt(0.25 / count)


def test_renumbered_atoms_have_the_same_probabilities():
    rng = np.random.default_rng(5)
    most = 8
    made = network(most)
    module = learner(made)
    shown = molecule(rng, most, 7)
    count = int((shown["atoms"] > 0).sum())
    order = np.concatenate([rng.permutation(count), np.arange(count, most)])  # new → old
    place = np.argsort(order)  # old → new
    ends = np.concatenate([order, np.arange(most, most + len(VALENCES))])
    orders = largest_orders(shown["action_mask"], len(ends))
    bonds = shown["bonds"].copy()
    bonds[:, :2] = np.where(bonds[:, 2:], place[bonds[:, :2]], 0)
    moved = {
        "atoms": shown["atoms"][order],
        "bonds": bonds[rng.permutation(len(bonds))],
        "free_valence": shown["free_valence"][order],
        "action_mask": pack_orders(orders[order][:, ends]),
        "stop_mask": shown["stop_mask"],
    }
    actions = allowed(shown)
    renamed = actions.copy()
    bound = actions[:, 3] == 0
    renamed[bound, 0] = place[actions[bound, 0]]
    renamed[bound, 1] = np.argsort(ends)[actions[bound, 1]]
    before = evaluated(module, stacked([shown] * len(actions)), actions)
    after = evaluated(module, stacked([moved] * len(actions)), renamed)
    for ours, theirs in zip(before, after, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-5)


def test_what_is_acted_beside_an_environment_does_not_matter():
    rng = np.random.default_rng(6)
    made = network(16)
    observations = several(rng, 16, 20)
    drawn = keys(rng, 20)
    together = made.act(observations, drawn)
    for i in range(20):
        alone = made.act({k: v[i : i + 1] for k, v in observations.items()}, drawn[i : i + 1])
        np.testing.assert_array_equal(alone.actions["value"][0], together.actions["value"][i])
        np.testing.assert_allclose(alone.log_probability, together.log_probability[i], atol=1e-5)


def test_distances_are_those_of_shortest_paths():
    rng = np.random.default_rng(7)
    linked = np.zeros((30, 25, 25), np.float32)
    for each in linked:
        for i in range(1, 20):
            j = rng.integers(0, i) if rng.random() < 0.3 else i - 1
            each[i, j] = each[j, i] = 1
    start = rng.integers(0, 25, 30)
    expected = np.array(
        [shortest_path(each, unweighted=True)[s] for each, s in zip(linked, start, strict=True)]
    )
    expected[expected >= gcn_forward.DISTANCES] = 0
    np.testing.assert_array_equal(gcn_forward.distances(np, linked, start), expected)


def test_all_parameters_learn():
    rng = np.random.default_rng(8)
    made = network(12)
    module = learner(made)
    observations = several(rng, 12, 100)
    acted = made.act(observations, keys(rng, 100))
    found = module.evaluate(tensors(observations), tensors(acted.actions))
    (found.log_probability.sum() + found.value.sum()).backward()
    for name, parameter in module.named_parameters():
        largest = parameter.grad.abs().max()
        assert 0 < largest < np.inf, name


def test_parameters_are_those_of_the_torch_form_and_a_function_of_the_seed():
    made = GCN(schema(5), GCNSettings(width=8, layers=2))
    arrays = made.initial(3)
    state = made.trainable().state_dict()
    assert {k: v.shape for k, v in arrays.items()} == {k: tuple(v.shape) for k, v in state.items()}
    again, other = made.initial(3), made.initial(4)
    assert all((arrays[name] == again[name]).all() for name in arrays)
    assert any((arrays[name] != other[name]).any() for name in arrays)


def test_other_environments_are_refused():
    cart = Schema(
        (Leaf("value", "float32", (4,)),), (Leaf("value", "int64", kind="discrete", n=(2,)),)
    )
    with pytest.raises(SettingsError, match="molecules"):
        GCN(cart, GCNSettings())
    with pytest.raises(SettingsError, match="width"):
        GCNSettings(width=0)
