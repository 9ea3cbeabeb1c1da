"""The ring of prefixes against episodes kept as plain lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.errors import SettingsError
from ogg_hpc.training.replay import ReplayBuffer


class PlainReplay:
    """Episodes as lists of (action, reward, value)."""

    def __init__(self, capacity, n_step, gamma):
        self.capacity, self.n_step, self.gamma = capacity, n_step, gamma
        self.episodes = []  # (graph, number of its first step, its steps)
        self.end = 0

    def start_episode(self, graph):
        self.episodes.append((graph, self.end, []))

    def append(self, *step):
        self.episodes[-1][2].append(step)
        self.end += 1

    def tuples(self):
        """Return step number -> tuple, of all steps that may be sampled."""
        result = {}
        for number, (graph, start, steps) in enumerate(self.episodes):
            running = number == len(self.episodes) - 1
            if start < self.end - self.capacity:
                continue
            for t in range(len(steps)):
                until = min(t + self.n_step, len(steps))
                if running and t + self.n_step > len(steps):
                    continue
                rewards = [reward for _, reward, _ in steps[t:until]]
                actions = [action for action, _, _ in steps]
                result[start + t] = {
                    "graph": graph,
                    "action": actions[t],
                    "return": sum(self.gamma**k * r for k, r in enumerate(rewards)),
                    "discount": 0.0
                    if until == len(steps) and not running
                    else self.gamma ** (until - t),
                    "value": steps[until - 1][2],
                    "prefix": actions[:t],
                    "next": actions[:until],
                }
        return result


def unpack(transitions):
    """Return the tuples one by one, as `PlainReplay.tuples` has them."""

    def split(prefix):
        nodes, lengths = prefix
        return [part.tolist() for part in np.split(nodes, np.cumsum(lengths))[:-1]]

    return [
        {
            "graph": graph,
            "action": action,
            "return": pytest.approx(returned),
            "discount": discount,
            "value": value,
            "prefix": prefix,
            "next": following,
        }
        for graph, action, returned, discount, value, prefix, following in zip(
            transitions.graphs.tolist(),
            transitions.actions.tolist(),
            transitions.returns.tolist(),
            transitions.discounts.tolist(),
            transitions.values.tolist(),
            split(transitions.prefix),
            split(transitions.next_prefix),
            strict=True,
        )
    ]


STEP = st.tuples(st.integers(0, 99), st.integers(-4, 4), st.integers(-4, 4))
EPISODES = st.lists(
    st.tuples(st.integers(0, 5), st.lists(STEP, max_size=7)), min_size=1, max_size=12
)


def fill(buffer, episodes):
    for graph, steps in episodes:
        buffer.start_episode(graph)
        for step in steps:
            buffer.append(*step)
    return buffer


@given(
    episodes=EPISODES,
    capacity=st.integers(7, 25),
    n_step=st.integers(1, 4),
    gamma=st.sampled_from([1.0, 0.5]),
)
def test_tuples_are_those_of_plain_lists(episodes, capacity, n_step, gamma):
    plain = fill(PlainReplay(capacity, n_step, gamma), episodes)
    buffer = fill(ReplayBuffer(capacity, n_step, gamma, stores_values=True), episodes)
    expected = plain.tuples()
    first, last = buffer.usable()
    assert list(range(first, last)) == sorted(expected)
    assert unpack(buffer.transitions(np.arange(first, last))) == [
        expected[number] for number in sorted(expected)
    ]
    graph, steps = episodes[-1]
    assert buffer.graph == graph
    assert buffer.running.tolist() == [action for action, _, _ in steps]
    assert buffer.running_return == sum(reward for _, reward, _ in steps)


@given(episodes=EPISODES, more=EPISODES, capacity=st.integers(7, 25))
def test_restored_buffer_goes_on_as_the_stored_one(episodes, more, capacity):
    buffer = fill(ReplayBuffer(capacity, 2, 0.5, stores_values=True), episodes)
    restored = ReplayBuffer(capacity, 2, 0.5, stores_values=True)
    restored.restore({name: value.copy() for name, value in buffer.state().items()})
    for step in range(5):
        for either in (buffer, restored):
            if len(either.running) < capacity:
                either.append(step, 1.0, 2.0)
    fill(buffer, more)
    fill(restored, more)
    assert restored.usable() == buffer.usable()
    steps = np.arange(*buffer.usable())
    assert unpack(restored.transitions(steps)) == unpack(buffer.transitions(steps))
    for name, value in buffer.state().items():
        np.testing.assert_array_equal(restored.state()[name], value)


def test_restoring_copies():
    buffer = fill(ReplayBuffer(9, 1, 1.0), [(0, [(1, 1, 1), (2, 1, 1)])])
    restored = ReplayBuffer(9, 1, 1.0)
    restored.restore(buffer.state())
    buffer.append(3, 1.0)
    restored.append(4, 1.0)
    assert (buffer.running.tolist(), restored.running.tolist()) == ([1, 2, 3], [1, 2, 4])


def test_samples_are_uniform_over_usable_steps_and_keyed():
    buffer = fill(ReplayBuffer(50, 1, 1.0), [(0, [(i, i, 0) for i in range(10)])])
    drawn = buffer.sample(4000, 7, 1, 2).actions
    counts = np.bincount(drawn, minlength=10)
    assert len(counts) == 10
    assert counts.min() > 300
    np.testing.assert_array_equal(buffer.sample(4000, 7, 1, 2).actions, drawn)
    assert (buffer.sample(4000, 7, 1, 3).actions != drawn).any()
    assert (buffer.sample(4000, 8, 1, 2).actions != drawn).any()


def test_nothing_to_sample_before_an_n_step_target_exists():
    buffer = ReplayBuffer(10, 3, 1.0)
    buffer.start_episode(0)
    assert buffer.sample(4, 0) is None
    buffer.append(1, 1.0)
    buffer.append(2, 1.0)
    assert buffer.sample(4, 0) is None
    buffer.append(3, 1.0)
    assert buffer.sample(4, 0).actions.tolist() == [1, 1, 1, 1]


def test_targets_are_clipped_at_the_end_of_an_episode():
    buffer = fill(ReplayBuffer(10, 3, 0.5), [(0, [(7, 1, 0), (8, 2, 0), (9, 4, 0)]), (1, [])])
    transitions = buffer.transitions(np.arange(3))
    assert transitions.returns.tolist() == [1 + 1 + 1, 2 + 2, 4]
    assert transitions.discounts.tolist() == [0, 0, 0]
    assert transitions.next_prefix[1].tolist() == [3, 3, 3]


def test_episode_longer_than_the_ring_is_refused():
    buffer = fill(ReplayBuffer(3, 1, 1.0), [(0, [(1, 0, 0)]), (0, [(i, 0, 0) for i in range(3)])])
    assert buffer.running.tolist() == [0, 1, 2]
    with pytest.raises(SettingsError, match=r"longer than the replay buffer \(3 steps\)"):
        buffer.append(4, 0.0)


def test_a_tuple_takes_twelve_bytes_or_twenty_with_a_stored_value():
    assert ReplayBuffer(100, 1, 1.0).bytes_per_tuple == 12
    assert ReplayBuffer(100, 1, 1.0, stores_values=True).bytes_per_tuple == 20


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(1, 3), st.integers(0, 3))
def test_graphs_of_later_samples_are_known_while_the_episode_lasts(lengths, n_step, ahead):
    buffer = ReplayBuffer(20, n_step, 0.9)
    for graph, length in enumerate(lengths):
        buffer.start_episode(graph)
        for _ in range(length):
            buffer.append(0, 1.0)
    expected = buffer.graphs_ahead(ahead, 6, 3, 4)
    for _ in range(ahead):
        buffer.append(0, 1.0)
    drawn = buffer.sample(6, 3, 4)
    if drawn is not None:
        assert expected == drawn.graphs.tolist()
