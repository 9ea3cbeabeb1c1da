"""Proximal policy optimisation on one learner."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from one_process_cell import OneProcessCell

from ogg_hpc.actors.ppo import PPO, SUMS
from ogg_hpc.actors.ppo_batch import joined
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.settings import build

SMALL = {"round_steps": 64, "minibatch": 16, "epochs": 2}


def learner(environment="gymnasium:CartPole-v1", seed=0, steps=1000, slots=4, **ppo):
    """A learner that has published its first version, and its cell."""
    document = {
        "seed": seed,
        "steps": steps,
        "environment": {"name": environment},
        "network": {"model": {"hidden": [16, 16]}},
        "ppo": {**SMALL, **ppo},
    }
    settings = build(ActorsSettings, document)
    cell = OneProcessCell(settings, slots)
    made = PPO(Communicator(), settings, cell.schema)
    cell.publish(made.arrays())
    return made, cell


def noted_sums(made):
    """The sums of each minibatch that a learner goes through from now on, by name."""
    noted, original = [], made._sums

    def sums(*arguments):
        gradient, found = original(*arguments)
        noted.append(dict(zip(SUMS, found, strict=True)))
        return gradient, found

    made._sums = sums
    return noted


def batch_of(made, cell):
    fragments = cell.collect(64)
    return made._batch(fragments, joined(fragments, made._layout))[0]


@pytest.mark.parametrize("environment", ["gymnasium:CartPole-v1", "gymnasium:Pendulum-v1"])
@pytest.mark.parametrize("normalised", [False, True])
def test_the_ratio_is_one_at_first_and_the_clip_acts_later(environment, normalised):
    made, cell = learner(
        environment, learning_rate=0.02, epochs=10, clip=0.1, clip_end=0.1,
        normalise_observations=normalised, normalise_returns=normalised,
    )  # fmt: skip
    for _ in range(3):  # each round under another version and other statistics
        noted = noted_sums(made)
        made.advance(cell)
        first, *later = noted
        assert abs(first["kl"]) < 1e-5 * first["steps"]
        assert first["clipped"] == 0
        assert any(sums["clipped"] for sums in later)
        assert any(sums["kl"] > 1e-3 * sums["steps"] for sums in later)


@pytest.mark.parametrize(("ratio", "advantage"), [(np.e, 1.0), (1 / np.e, -1.0)])
def test_beyond_the_clip_nothing_pulls_farther(ratio, advantage):
    made, cell = learner(value_weight=0.0)
    batch = batch_of(made, cell)
    logs = batch.log_probability - float(np.log(ratio))
    outside = replace(
        batch, log_probability=logs, advantage=torch.full_like(batch.advantage, advantage)
    )
    gradient, sums = made._sums(outside, 0.2, 0.0)
    assert not gradient.any()
    assert sums[SUMS.index("clipped")] == 64
    back, _ = made._sums(replace(outside, advantage=-outside.advantage), 0.2, 0.0)
    assert back.any()


def test_a_value_beyond_its_clip_is_not_pulled_farther():
    made, cell = learner(value_clip=0.1)
    batch = batch_of(made, cell)
    still = replace(batch, advantage=torch.zeros_like(batch.advantage))
    away = replace(still, value=batch.value - 1, target=batch.value + 5)
    assert not made._sums(away, 0.2, 0.0)[0].any()
    assert made._sums(replace(away, target=batch.value - 5), 0.2, 0.0)[0].any()


def test_the_gradient_is_that_of_the_loss_step_by_step():
    made, cell = learner(value_weight=0.7)
    batch = batch_of(made, cell)
    batch = replace(batch, log_probability=batch.log_probability + 0.3 * torch.randn(64))
    gradient, sums = made._sums(batch, 0.2, 0.05)
    gradient, sums = gradient.clone(), dict(zip(SUMS, sums, strict=True))

    module, losses = made._module, []
    for i in range(64):
        one = batch.take(torch.tensor([i]))
        found = module.evaluate(one.observations, one.actions)
        ratio = torch.exp(found.log_probability - one.log_probability)[0]
        advantage = one.advantage[0]
        bound = 1.2 if advantage > 0 else 0.8
        beyond = ratio > bound if advantage > 0 else ratio < bound
        gain = bound * advantage if beyond else ratio * advantage
        error = (found.value[0] - one.target[0]) ** 2
        losses.append(0.7 * error - gain - 0.05 * found.entropy[0])
    parts = torch.autograd.grad(torch.stack(losses).sum(), list(module.parameters()))
    expected = torch.cat([part.reshape(-1) for part in parts])
    torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-4)
    assert sums["steps"] == 64
    assert sums["clipped"] > 0


def test_advantages_are_of_mean_0_and_deviation_1():
    batch = batch_of(*learner())
    assert abs(float(batch.advantage.mean())) < 1e-6
    assert abs(float(batch.advantage.std(correction=0)) - 1) < 1e-5


def test_each_step_is_gone_through_once_an_epoch_in_a_new_order():
    made, cell = learner(minibatch=20)
    batch = batch_of(made, cell)
    parts = [part.target for part in made._minibatches(batch)]
    assert [len(part) for part in parts] == [16] * 8
    first, second = torch.cat(parts[:4]), torch.cat(parts[4:])
    for epoch in (first, second):
        assert torch.equal(epoch.sort().values, batch.target.sort().values)
    assert not torch.equal(first, second)


def trained(rounds=3, **options):
    made, cell = learner(**options)
    for _ in range(rounds):
        made.advance(cell)
    return made.arrays()


def equal(one, other):
    return set(one) == set(other) and all((one[name] == other[name]).all() for name in one)


def test_a_seed_repeats_exactly_and_another_does_not():
    options = {"normalise_observations": True, "normalise_returns": True}
    assert equal(trained(**options), trained(**options))
    assert not equal(trained(**options), trained(**options, seed=1))


@pytest.mark.parametrize("rounds", [0, 2])
def test_a_restored_learner_goes_on_as_the_one_before(rounds):
    options = {"normalise_observations": True, "normalise_returns": True}
    made, cell = learner(**options)
    for _ in range(rounds):
        made.advance(cell)
    other, _ = learner(seed=5, **options)
    state = made.state()
    other._run = made._run
    fragments = cell.collect(64)
    made._scale._running.clear()  # episodes start anew in a run that goes on
    made.learn(fragments)
    other.restore(state)
    other.learn(fragments)
    assert equal(made.arrays(), other.arrays())
    assert equal(made.state(), other.state())


def test_a_round_with_nothing_collected_changes_nothing():
    made, _ = learner(normalise_observations=True, normalise_returns=True)
    before = made.state()
    assert made.learn([]).steps == 0
    assert equal(before, made.state())


def test_a_round_that_was_cut_short_is_learned_from():
    made, cell = learner()
    fragments = cell.collect(3)
    advance = made.learn([each for each in fragments if each.steps])
    assert advance.steps == 3
    assert np.isfinite(advance.values["value_loss"])


def test_a_divergence_above_its_target_ends_the_round():
    made, cell = learner(learning_rate=0.05, target_kl=0.01, epochs=20)
    noted = noted_sums(made)
    made.advance(cell)
    assert 1 < len(noted) < 20
    assert noted[-1]["kl"] > 0.01 * noted[-1]["steps"]


def test_gradients_are_cut_to_their_norm():
    made, _ = learner(gradient_norm=0.5)
    gradient = torch.full_like(made._flat.parameter, 3.0)
    made._descend(gradient)
    assert abs(float(gradient.norm()) - 0.5) < 1e-5
    gradient = torch.zeros_like(gradient)
    gradient[0] = 0.4
    made._descend(gradient)
    assert float(gradient[0]) == pytest.approx(0.4)


def test_what_is_told_of_a_round():
    made, cell = learner(steps=200)
    advance = made.advance(cell)
    values = advance.values
    lengths = values["length"] * values["episodes"]
    assert 0 < lengths <= 64
    assert values["return"] == values["length"]  # of CartPole
    assert advance.text == f"return {values['return']:.2f}"
    assert 0.6 < values["entropy"] <= np.log(2) + 1e-6
    assert values["explained_variance"] < 1


def test_numbers_that_are_no_longer_finite_are_an_error():
    made, cell = learner(learning_rate=1e30, gradient_norm=0.0)
    with pytest.raises(SettingsError, match=r"no longer finite; lower ppo\.learning_rate"):
        made.advance(cell)


OWN_NETWORK = """
from ogg_hpc.actors.networks.mlp import MLP

class Own(MLP):
    def initial(self, seed):
        return {f"own.{name}": array for name, array in super().initial(seed).items()}
"""


def test_a_network_whose_two_forms_differ_is_named(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(OWN_NETWORK)
    settings = build(ActorsSettings, {"network": {"name": f"{file}:Own"}})
    schema = OneProcessCell(build(ActorsSettings, {}), 1).schema
    with pytest.raises(SettingsError, match=r"own\.policy\.0\.weight.* both forms need the same"):
        PPO(Communicator(), settings, schema)


def test_schedules_go_from_the_first_value_to_the_last():
    settings = build(
        ActorsSettings,
        {"ppo": {"learning_rate": 1.0, "learning_rate_end": 0.5, "clip": 0.2, "clip_end": 0.0}},
    ).ppo
    assert [settings.learning_rate_at(done) for done in (0, 0.5, 1, 2)] == [1, 0.75, 0.5, 0.5]
    assert settings.clip_at(0.5) == pytest.approx(0.1)
    assert settings.entropy_at(0.3) == 0


@pytest.mark.parametrize(
    ("ppo", "message"),
    [
        ({"round_steps": 0}, r"ppo\.round_steps must be at least 1"),
        ({"minibatch": 0}, r"ppo\.minibatch must be at least 1"),
        ({"minibatch": 512, "round_steps": 256}, r"minibatch must be at most ppo\.round_steps"),
        ({"epochs": 0}, r"ppo\.epochs must be at least 1"),
        ({"gamma": 1.1}, r"ppo\.gamma must be in \[0, 1\]"),
        ({"gae_lambda": -0.1}, r"ppo\.gae_lambda must be in \[0, 1\]"),
        ({"learning_rate": 0.0}, r"ppo\.learning_rate must be positive and finite"),
        ({"clip": -0.2}, r"ppo\.clip must be positive and finite"),
        ({"clip": float("nan")}, r"ppo\.clip must be positive and finite"),
        ({"entropy": -1.0}, r"ppo\.entropy must be finite and not negative"),
        ({"target_kl": float("inf")}, r"ppo\.target_kl must be finite and not negative"),
        ({"epoch": 3}, r"unknown key ppo\.epoch; did you mean epochs"),
    ],
)
def test_settings_that_cannot_work_are_named(ppo, message):
    with pytest.raises(SettingsError, match=message):
        build(ActorsSettings, {"ppo": ppo})


def test_it_learns_to_balance_a_pole():
    made, cell = learner(
        steps=20_000, slots=8, round_steps=256, minibatch=256, epochs=20, gamma=0.98,
        gae_lambda=0.8, learning_rate=1e-3,
    )  # fmt: skip
    returns = [made.advance(cell).values["return"] for _ in range(24)]
    assert np.mean(returns[:3]) < 40
    assert np.mean([each for each in returns[-4:] if each is not None]) > 60
