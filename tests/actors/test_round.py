"""Rounds against slots of given speeds, in simulated time."""

import heapq
import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.actors.round import Round, shares

WEIGHTS = st.dictionaries(
    st.integers(0, 40), st.floats(1 / 64, 1, allow_nan=False), min_size=1, max_size=12
)


class Simulation:
    """A round whose slots take `seconds` for a step; a slot without an entry never answers.

    Attributes
    ----------
    made : list of (int, int)
        Slot and steps of each answer, in the order of the answers.
    """

    def __init__(self, round_, seconds):
        self.round, self.seconds = round_, dict(seconds)
        self.now = 0.0
        self.made, self.grants, self.cuts, self.silent = [], [], [], []
        self._events = []
        self._order = itertools.count()
        self._granted = {}  # slot -> (since, steps, token)

    def at(self, time, function):
        heapq.heappush(self._events, (time, next(self._order), function))

    def leave(self, slot):
        self._granted.pop(slot, None)
        self.round.leave(slot)

    def run(self, limit=1e6):
        """Run to the end of the round; return how long it took."""
        self._order_about()
        while not self.round.done:
            tick = self.now + 0.01
            if self._events and self._events[0][0] <= tick:
                self.now, _, function = heapq.heappop(self._events)
                function()
            else:
                self.now = tick
            assert self.now < limit, "the round does not end"
            self._order_about()
        return self.now

    def _order_about(self):
        if self.round.done:
            return
        orders = self.round.orders(self.now)
        self.silent += orders.silent
        self.cuts += orders.cuts
        for slot in orders.silent:
            self._granted.pop(slot, None)
        for slot in orders.cuts:
            since, steps, _ = self._granted[slot]
            if slot in self.seconds:
                each = self.seconds[slot]
                made = min(steps, math.floor((self.now - since) / each) + 1)
                self._answer_at(slot, since + made * each, made)
        for slot, steps in orders.grants.items():
            assert steps > 0
            assert slot not in self._granted, "one grant at a time"
            self.grants.append((slot, steps))
            self._granted[slot] = self.now, steps, None
            if slot in self.seconds:
                self._answer_at(slot, self.now + steps * self.seconds[slot], steps)

    def _answer_at(self, slot, time, steps):
        since, granted, _ = self._granted[slot]
        token = object()
        self._granted[slot] = since, granted, token

        def answer():
            if self._granted.get(slot, (0, 0, None))[2] is token:
                del self._granted[slot]
                self.made.append((slot, steps))
                self.round.deliver(slot, steps, self.now)

        self.at(max(time, self.now), answer)


def simulate(steps, seconds, weights=None, cutoff=0.6, patience=1.5):
    weights = weights or dict.fromkeys(seconds, 1.0)
    return Simulation(Round(steps, weights, cutoff, patience), seconds)


@given(st.integers(0, 10_000), WEIGHTS)
def test_shares_add_up_and_nobody_goes_without_where_there_is_enough(steps, weights):
    split = shares(steps, weights)
    assert sum(split.values()) == steps
    assert list(split) == sorted(weights)
    assert min(split.values()) >= (1 if steps >= len(weights) else 0)


@given(st.integers(0, 10_000), WEIGHTS)
def test_shares_are_in_proportion_to_the_weights(steps, weights):
    split, total = shares(steps, weights), sum(weights.values())
    for slot, share in split.items():
        assert abs(share - steps * weights[slot] / total) <= 1 + len(weights)


@given(st.integers(0, 10_000), st.sets(st.integers(0, 99), min_size=1))
def test_equal_weights_give_equal_shares_and_the_lowest_slots_the_remainder(steps, slots):
    split = shares(steps, dict.fromkeys(slots, 1.0))
    each, rest = divmod(steps, len(slots))
    assert [split[slot] for slot in sorted(slots)] == [
        each + (place < rest) for place in range(len(slots))
    ]


def test_slots_that_keep_up_get_one_grant_each():
    simulation = simulate(100, {0: 0.01, 1: 0.011, 2: 0.012, 3: 0.0105})
    assert simulation.run() == pytest.approx(25 * 0.012, abs=0.02)
    assert simulation.grants == [(0, 25), (1, 25), (2, 25), (3, 25)]
    assert simulation.round.weights() == {}


def test_a_slot_ten_times_slower_is_cut_once_and_costs_nothing_from_then_on():
    seconds = dict.fromkeys(range(16), 0.02) | {5: 0.2}
    weights = dict.fromkeys(seconds, 1.0)
    first = simulate(2048, seconds, weights)
    undisturbed = 2048 / 16 * 0.02
    assert first.run() <= 1.75 * undisturbed
    assert first.cuts == [5]
    assert first.round.slowness(5) == pytest.approx(10, rel=0.05)
    for _ in range(5):
        weights |= first.round.weights()
        assert weights[5] == pytest.approx(0.1, rel=0.15)
        first = simulate(2048, seconds, weights)
        assert first.run() <= 1.1 * undisturbed
        assert first.cuts == []


def test_a_slot_that_is_quick_again_recovers():
    weights = dict.fromkeys(range(16), 1.0) | {5: 0.1}
    seen = []
    while weights[5] < 1:
        simulation = simulate(2048, dict.fromkeys(range(16), 0.02), weights)
        simulation.run()
        weights |= simulation.round.weights()
        seen.append(weights[5])
        assert len(seen) < 8
    assert seen == sorted(seen)


def test_a_round_that_is_stopped_early_says_nothing_about_who_is_slow():
    round_ = Round(40, {0: 1.0, 1: 1.0, 2: 0.5, 3: 1.0}, 0.6, 1.5)
    grants = round_.orders(0.0).grants
    round_.deliver(2, grants[2], 1.0)
    assert round_.weights() == {}


def test_what_a_cut_slot_has_made_counts():
    simulation = simulate(400, {0: 0.01, 1: 0.01, 2: 0.01, 3: 0.04})
    simulation.run()
    assert simulation.cuts == [3]
    assert sum(steps for slot, steps in simulation.made if slot == 3) >= 25
    assert sum(steps for _, steps in simulation.made) == 400


def test_a_slot_that_does_not_answer_its_cut_is_left_behind():
    simulation = simulate(400, {0: 0.01, 1: 0.01, 2: 0.01}, weights=dict.fromkeys(range(4), 1.0))
    assert simulation.run() < 2.5
    assert simulation.silent == [3]
    assert simulation.round.weights()[3] == pytest.approx(1 / 64)
    assert simulation.round.slowness(3) == math.inf


def test_without_patience_nobody_is_cut():
    simulation = simulate(40, {0: 0.01, 1: 0.01, 2: 0.01, 3: 1.0}, patience=0)
    assert simulation.run() == pytest.approx(10, abs=0.1)
    assert simulation.cuts == []


def test_short_rounds_bear_that_a_computer_does_other_work():
    simulation = simulate(40, {0: 0.001, 1: 0.001, 2: 0.001, 3: 0.01})
    simulation.run()
    assert simulation.cuts == []


def test_nobody_is_cut_before_most_are_done():
    seconds = {0: 0.01, 1: 0.01, 2: 1.0, 3: 1.0}  # half of them, and 0.6 is asked for
    simulation = simulate(40, seconds)
    assert simulation.run() == pytest.approx(10, abs=0.1)
    assert simulation.cuts == []


def test_the_share_of_a_slot_that_leaves_goes_to_the_others_at_once():
    simulation = simulate(90, {0: 0.1, 1: 0.1, 2: 0.1})
    simulation.at(1.0, lambda: simulation.leave(1))
    assert simulation.run() == pytest.approx(4.5, abs=0.1)
    assert sorted(simulation.made) == [(0, 15), (0, 30), (2, 15), (2, 30)]


def test_a_slot_that_comes_back_leaves_its_share_to_the_others():
    simulation = simulate(90, {0: 0.1, 1: 0.1, 2: 0.1})

    def lose():
        simulation.leave(1)
        simulation.round.join(1, 1.0)

    simulation.at(1.0, lose)
    simulation.run()
    assert {slot for slot, _ in simulation.made} == {0, 2}


def test_a_slot_that_comes_back_does_all_where_no_other_is_left():
    simulation = simulate(90, {0: 0.1, 1: 0.1})

    def lose():
        simulation.leave(0)
        simulation.leave(1)
        simulation.round.join(1, 1.0)

    simulation.at(1.0, lose)
    simulation.run()
    assert simulation.made == [(1, 90)]


def test_a_round_without_slots_waits_for_one():
    simulation = simulate(10, {7: 0.1}, weights={8: 1.0})
    simulation.leave(8)
    simulation.at(50.0, lambda: simulation.round.join(7, 1.0))
    assert simulation.run() == pytest.approx(51, abs=0.1)
    assert simulation.made == [(7, 10)]


def test_a_slot_that_joins_shares_what_others_leave():
    simulation = simulate(100, {0: 0.1, 1: 0.1, 2: 0.1})
    simulation.round.leave(2)
    simulation.at(0.5, lambda: simulation.round.join(2, 1.0))
    simulation.at(0.6, lambda: simulation.round.join(3, 1.0))
    simulation.seconds[3] = 0.1
    simulation.at(1.0, lambda: simulation.leave(1))
    simulation.run()
    assert 3 in {slot for slot, _ in simulation.made}
    assert sum(steps for _, steps in simulation.made) == 100


@given(
    steps=st.integers(1, 300),
    seconds=st.dictionaries(st.integers(0, 7), st.floats(0.001, 2.0, allow_nan=False), min_size=1),
    weights=st.data(),
    moments=st.lists(
        st.tuples(st.floats(0, 20, allow_nan=False), st.sampled_from("jlr"), st.integers(0, 7))
    ),
    cutoff=st.floats(0.05, 1.0),
    patience=st.sampled_from([0.0, 1.0, 1.5, 3.0]),
)
def test_a_round_ends_with_the_exact_steps_whatever_happens_while_one_slot_answers(
    steps, seconds, weights, moments, cutoff, patience
):
    live = {slot: weights.draw(st.floats(1 / 64, 1), label=f"weight of {slot}") for slot in seconds}
    simulation = Simulation(Round(steps, live, cutoff, patience), dict.fromkeys(range(8), 0.1))
    simulation.seconds |= seconds
    present = set(live)
    survivor = min(live)

    def happens(kind, slot):
        def act():
            there = slot in present and slot not in simulation.silent
            if kind == "j" and not there and slot not in simulation.silent:
                present.add(slot)
                simulation.round.join(slot, 1.0)
            elif there and slot != survivor and kind in "lr":
                simulation.leave(slot)
                present.discard(slot)
                if kind == "r":
                    present.add(slot)
                    simulation.round.join(slot, 1.0)

        return act

    for moment, kind, slot in moments:
        simulation.at(moment, happens(kind, slot))
    if patience:  # a slot that is silent may be the last one
        simulation.seconds[survivor] = min(simulation.seconds[survivor], 0.05)
    simulation.run()
    assert sum(made for _, made in simulation.made) == steps == simulation.round.collected
    assert all(0 < weight <= 1 for weight in simulation.round.weights().values())
