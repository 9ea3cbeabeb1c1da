"""Rewards that shrink when the same is made again."""

import numpy as np
import pytest

from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.actors.novelty import Novelty, NoveltySettings
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.communicator import Communicator


class Learner(Communicator):
    """One of several learners that all make the same."""

    def __init__(self, rank, size):
        super().__init__()
        self.rank, self.size = rank, size

    def gather_objects(self, value):
        return [value] * self.size


def test_each_repetition_earns_less():
    novelty = Novelty(NoveltySettings(window=10, exponent=0.5))
    factors = novelty.factors(["C", "CC", "C", "C", "CC", "CO"], Communicator())
    np.testing.assert_allclose(factors, [1, 1, 2**-0.5, 3**-0.5, 2**-0.5, 1], rtol=1e-6)
    assert novelty.repeated == 0.5
    assert novelty.factors(["C"], Communicator()) == pytest.approx(4**-0.5)
    assert novelty.repeated == 1
    assert novelty.factors([], Communicator()).shape == (0,)
    assert novelty.repeated is None


def test_what_left_the_window_is_new_again():
    novelty = Novelty(NoveltySettings(window=3, exponent=1.0))
    factors = novelty.factors(["C", "C", "CC", "CO", "C", "C", "C"], Communicator())
    # The window before each: -, C, C C, C C CC, C CC CO, CC CO C, CO C C
    np.testing.assert_allclose(factors, [1, 1 / 2, 1, 1, 1 / 2, 1 / 2, 1 / 3])


def test_a_policy_that_makes_one_thing_earns_almost_nothing():
    novelty = Novelty(NoveltySettings(window=399, exponent=0.5))
    factors = novelty.factors(["C"] * 1000, Communicator())
    assert factors[-1] == pytest.approx(1 / 20)
    assert (np.diff(factors) <= 0).all()


def test_state_restores_the_counts():
    settings = NoveltySettings(window=5, exponent=0.7)
    through, stopped, resumed = Novelty(settings), Novelty(settings), Novelty(settings)
    before, after = list("abacabad"), list("abcabdda")
    through.factors(before, Communicator())
    stopped.factors(before, Communicator())
    state = stopped.state()
    assert state.dtype == np.uint64
    assert state.shape == (5,)
    resumed.restore(state)
    ours, theirs = (each.factors(after, Communicator()) for each in (through, resumed))
    np.testing.assert_array_equal(ours, theirs)


def test_products_of_all_learners_count_in_their_order():
    made = ["C", "CC"]
    learners = [Novelty(NoveltySettings()) for _ in range(3)]
    factors = [each.factors(made, Learner(rank, 3)) for rank, each in enumerate(learners)]
    for earlier, own in enumerate(factors):
        np.testing.assert_allclose(own, [(1 + earlier) ** -0.5] * 2, rtol=1e-6)
    alone = Novelty(NoveltySettings())
    alone.factors(made * 3, Communicator())
    for each in learners:
        np.testing.assert_array_equal(each.state(), alone.state())


def fragment(steps, **episodes):
    """A fragment in which episodes end: at which step, how, and what was made."""
    ended = {how: np.zeros(steps, bool) for how in ("terminated", "truncated")}
    for how, step in episodes.values():
        ended[how][step] = True
    told = [{"return": 0.0, "length": 1, "smiles": smiles} for smiles in episodes]
    return Fragment("r", 0, 0, 0, 0, 0, steps, True, told, ended)


def test_only_positive_rewards_at_ends_of_episodes_shrink():
    novelty = Novelty(NoveltySettings(product="smiles", exponent=1.0))
    novelty.factors(["C", "C", "CC", "CO"], Communicator())
    fragments = [
        fragment(4, C=("terminated", 1), CC=("truncated", 3)),
        fragment(2),
        fragment(3, CO=("terminated", 0), N=("terminated", 2)),
    ]
    rewards = np.array([1, 3, 1, 2, 5, 5, -2, 1, 4], np.float32)
    weighed = novelty.weighed(rewards, fragments, Communicator())
    np.testing.assert_allclose(weighed, [1, 1, 1, 1, 5, 5, -2, 1, 4])
    assert rewards[1] == 3
    assert novelty.weighed(np.empty(0), [], Communicator()).shape == (0,)


def test_nothing_shrinks_where_no_product_is_named():
    novelty = Novelty(NoveltySettings())
    rewards = np.array([1.0, 2.0])
    for _ in range(2):
        weighed = novelty.weighed(rewards, [fragment(2, C=("terminated", 1))], Communicator())
        np.testing.assert_array_equal(weighed, rewards)
    assert not novelty.state().size


def test_a_product_that_the_environment_does_not_name_is_a_mistake():
    novelty = Novelty(NoveltySettings(product="molecule"))
    with pytest.raises(SettingsError, match=r"ppo\.novelty\.product is 'molecule'"):
        novelty.weighed(np.ones(1), [fragment(1, C=("terminated", 0))], Communicator())


@pytest.mark.parametrize("wrong", [{"window": 0}, {"exponent": -1.0}, {"exponent": float("nan")}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(SettingsError, match=f"novelty.{next(iter(wrong))}"):
        NoveltySettings(**wrong)
