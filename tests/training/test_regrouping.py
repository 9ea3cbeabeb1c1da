"""What groups of ranks have experienced, after their number has changed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.training.regrouping import regrouped
from ogg_hpc.training.replay import ReplayBuffer

GAMMA, N_STEP = 0.5, 2
STEPS = st.lists(st.tuples(st.integers(0, 9), st.integers(-4, 4), st.integers(-4, 4)), max_size=6)
EPISODES = st.lists(st.tuples(st.integers(0, 5), STEPS), min_size=1, max_size=4)
GROUPS = st.lists(EPISODES, min_size=1, max_size=4)


def buffer_of(capacity, state=None):
    buffer = ReplayBuffer(capacity, N_STEP, GAMMA, stores_values=True)
    if state is not None:
        buffer.restore(state)
    return buffer


def filled(capacity, episodes):
    buffer = buffer_of(capacity)
    for graph, steps in episodes:
        buffer.start_episode(graph)
        for step in steps:
            buffer.append(*step)
    return buffer


def states_of(buffers):
    return [{**buffer.state(), "episodes": np.array(7 + i)} for i, buffer in enumerate(buffers)]


def tuples(buffer):
    """Return the tuples that may be sampled, in an order of their own."""
    found = buffer.transitions(np.arange(*buffer.usable()))
    prefixes = [
        [part.tolist() for part in np.split(nodes, np.cumsum(lengths))[:-1]]
        for nodes, lengths in (found.prefix, found.next_prefix)
    ]
    columns = (found.graphs, found.actions, found.returns, found.discounts, found.values)
    return sorted(zip(*(column.tolist() for column in columns), *prefixes, strict=True))


@settings(max_examples=50)
@given(groups=GROUPS, capacity=st.integers(6, 40))
def test_as_many_groups_as_before_hold_the_same(groups, capacity):
    states = states_of([filled(capacity, episodes) for episodes in groups])
    assert regrouped(states, len(states)) is states


@settings(max_examples=50)
@given(groups=GROUPS, fewer=st.integers(1, 4))
def test_fewer_groups_hold_every_tuple(groups, fewer):
    buffers = [filled(200, episodes) for episodes in groups]
    if fewer >= len(groups):
        return
    new = regrouped(states_of(buffers), fewer)
    assert len(new) == fewer
    for group, state in enumerate(new):
        buffer = buffer_of(200, state)
        held, had = tuples(buffer), [t for old in buffers[group::fewer] for t in tuples(old)]
        for one in had:
            held.remove(one)
        # Beyond them there are only the last steps of episodes that were left off.
        assert len(held) <= (N_STEP - 1) * len(buffers[group + fewer :: fewer])
        # It goes on with the episode of the first.
        assert state["episodes"] == 7 + group
        assert buffer.graph == buffers[group].graph
        assert buffer.running.tolist() == buffers[group].running.tolist()
        assert buffer.running_return == buffers[group].running_return


@settings(max_examples=50)
@given(groups=GROUPS, capacity=st.integers(6, 20), more=EPISODES, number=st.integers(1, 7))
def test_new_buffers_are_sound_whatever_room_there_is(groups, capacity, more, number):
    states = states_of([filled(capacity, episodes) for episodes in groups])
    for state in regrouped(states, number):
        buffer = buffer_of(capacity, state)
        first, last = buffer.usable()
        assert 0 <= first <= last <= first + capacity
        for graph, steps in more:
            buffer.start_episode(graph)
            for step in steps:
                buffer.append(*step)
        assert buffer.running.tolist() == [action for action, *_ in more[-1][1]]
        tuples(buffer)


def test_oldest_episodes_of_all_give_way_where_there_is_no_room():
    def steps(first, count):
        return [(first + i, 0, 0) for i in range(count)]

    one = filled(10, [(0, steps(0, 4)), (1, steps(10, 4)), (2, steps(20, 2))])
    two = filled(10, [(3, steps(30, 3)), (4, steps(40, 3)), (5, steps(50, 1))])
    (state,) = regrouped(states_of([one, two]), 1)
    # By age: 30 to 32 (7 steps ago), 10 to 13 (6), 40 to 42 (4), 50 (1), and what is running.
    assert state["graphs"].tolist() == [1, 4, 5, 2]
    assert state["actions"].tolist() == [10, 11, 12, 13, 40, 41, 42, 50, 20, 21]
    assert state["cut"].tolist() == [False, False, True, False]


def test_episode_that_was_left_off_is_not_taken_for_its_end():
    one, two = filled(20, [(0, [(1, 1, 5)])]), filled(20, [(0, [(2, 4, 6), (3, 8, 7)])])
    (state,) = regrouped(states_of([one, two]), 1)
    buffer = buffer_of(20, state)
    buffer.append(9, 1, 8)
    found = buffer.transitions(np.arange(*buffer.usable()))
    assert found.actions.tolist() == [2, 3, 1]
    assert found.returns.tolist() == [4 + GAMMA * 8, 8, 1 + GAMMA * 1]
    assert found.discounts.tolist() == [GAMMA**2, GAMMA, GAMMA**2]
    assert found.values.tolist() == [7, 7, 8]


@pytest.mark.parametrize(("group", "source"), [(2, 0), (3, 1), (4, 0)])
def test_group_that_was_not_there_starts_with_a_copy_and_no_episode(group, source):
    buffers = [filled(20, [(i, [(i, 1, 1)] * 3), (i, [(i, 1, 1)] * 2)]) for i in range(2)]
    new = regrouped(states_of(buffers), 5)
    assert new[0] is not new[group]
    assert new[group]["episodes"] == 0
    buffer = buffer_of(20, new[group])
    buffer.start_episode(8)
    held = tuples(buffer)
    for one in tuples(buffers[source]):
        held.remove(one)
    assert len(held) == N_STEP - 1
    assert held[0][3] == GAMMA  # not terminal
