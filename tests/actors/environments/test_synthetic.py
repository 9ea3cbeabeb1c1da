import time

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from ogg_hpc.actors.environments.registry import make_environment
from ogg_hpc.actors.environments.synthetic import Synthetic
from ogg_hpc.errors import SettingsError


def test_it_is_an_environment_of_gymnasium():
    check_env(Synthetic(seconds=0), skip_render_check=True)


@pytest.mark.parametrize("work", ["sleep", "busy"])
def test_a_step_takes_as_long_as_it_is_told_to(work):
    env = Synthetic(seconds=0.05, work=work)
    env.reset(seed=1)
    start = time.perf_counter()
    env.step(0)
    assert time.perf_counter() - start >= 0.05


@pytest.mark.parametrize(("tail", "spread"), [("none", 1.5), ("lognormal", 0.5), ("pareto", 4.0)])
def test_the_average_is_kept_whatever_the_tail(tail, spread):
    env = Synthetic(seconds=2.0, tail=tail, spread=spread)
    env.reset(seed=1)
    costs = np.array([env.cost() for _ in range(20_000)])
    assert costs.mean() == pytest.approx(2.0, rel=0.03)
    assert (costs.std() > 0.5) == (tail != "none")
    env.reset(seed=1)
    assert env.cost() == costs[0]


def test_certain_slots_are_slower():
    costs = [
        make_environment("synthetic", {"seconds": 0.5, "slow": {"2": 10}}, slot).cost()
        for slot in range(3)
    ]
    assert costs == [0.5, 0.5, 5.0]


def test_episodes_end_and_the_second_action_earns_what_was_shown():
    env = Synthetic(seconds=0, length=2)
    shown, _ = env.reset(seed=3)
    shown, reward, *ended, _ = env.step(0)
    assert (reward, ended) == (0.0, [False, False])
    _, reward, *ended, _ = env.step(1)
    assert reward == shown[0]
    assert ended == [True, False]


@pytest.mark.parametrize(
    "options",
    [{"work": "play"}, {"tail": "fat"}, {"tail": "pareto", "spread": 1.0}, {"seconds": -1}],
)
def test_options_that_do_not_fit_are_refused(options):
    with pytest.raises(SettingsError, match="synthetic"):
        Synthetic(**options)
