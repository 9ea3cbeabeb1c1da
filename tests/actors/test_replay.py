import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.actors.replay import EpisodeReplay
from ogg_hpc.errors import SettingsError
from ogg_hpc.training.replay import ReplayBuffer

# Of one slot: the lengths of its episodes, one after another.
LENGTHS = st.lists(st.integers(1, 5), min_size=1, max_size=5)


def steps_of(lengths, seed):
    """The arrays of a slot's steps; no two of its rewards are equal."""
    generator = np.random.default_rng(seed)
    total = sum(lengths)
    first = np.zeros(total, bool)
    first[np.cumsum([0, *lengths[:-1]])] = True
    graphs = np.arange(len(lengths)).repeat(lengths) + 100 * seed
    return graphs, first, generator.integers(0, 50, total), generator.random(total)


def as_sets(transitions):
    """Tuples as plain values that can be compared in any order."""
    prefixes = [
        [tuple(part.tolist()) for part in np.split(nodes, np.cumsum(lengths)[:-1])]
        for nodes, lengths in (transitions.prefix, transitions.next_prefix)
    ]
    columns = (
        transitions.graphs.tolist(),
        transitions.actions.tolist(),
        np.round(transitions.returns, 12).tolist(),
        np.round(transitions.discounts, 12).tolist(),
        *prefixes,
    )
    return set(zip(*columns, strict=True))


def ring(lengths, seed, n_step, gamma):
    """All tuples of one slot, by the buffer of the trainer of ranks."""
    buffer = ReplayBuffer(1000, n_step, gamma)
    for graph, first, action, reward in zip(*steps_of(lengths, seed), strict=True):
        if first:
            buffer.start_episode(int(graph))
        buffer.append(int(action), float(reward))
    start, stop = buffer.usable()
    return as_sets(buffer.transitions(np.arange(start, stop))) if stop > start else set()


@settings(max_examples=25, deadline=None)
@given(
    slots=st.lists(LENGTHS, min_size=1, max_size=2),
    n_step=st.integers(1, 4),
    seed=st.integers(0, 2**32),
)
def test_tuples_are_those_of_the_trainer_of_ranks(slots, n_step, seed):
    generator = np.random.default_rng(seed)
    replay = EpisodeReplay(1000, n_step, gamma=0.9)
    waiting = {slot: steps_of(lengths, slot) for slot, lengths in enumerate(slots)}
    while waiting:  # pieces come in any order of the slots
        slot = int(generator.choice(sorted(waiting)))
        length = int(generator.integers(len(waiting[slot][0]) + 1))
        replay.extend(slot, *(array[:length] for array in waiting[slot]))
        waiting[slot] = tuple(array[length:] for array in waiting[slot])
        if not len(waiting[slot][0]):
            del waiting[slot]
    expected = set().union(*(ring(lengths, k, n_step, 0.9) for k, lengths in enumerate(slots)))
    sampled = replay.sample(1500, 1)
    assert (set() if sampled is None else as_sets(sampled)) == expected
    assert replay.steps == sum(map(sum, slots))


def test_sampling_is_uniform_and_keyed():
    replay = EpisodeReplay(100, 1, gamma=1.0)
    replay.extend(0, *steps_of([5, 3, 2], 0))
    sampled = replay.sample(10_000, 3, 7)
    counts = np.unique(sampled.returns, return_counts=True)[1]
    assert len(counts) == 10
    assert counts.min() > 800
    np.testing.assert_array_equal(replay.sample(10_000, 3, 7).actions, sampled.actions)
    assert (replay.sample(10_000, 3, 8).actions != sampled.actions).any()


def test_the_oldest_episodes_go_and_running_ones_stay():
    replay = EpisodeReplay(10, 1, gamma=1.0)
    replay.extend(0, *steps_of([3], 0))  # runs all the time
    for _ in range(5):
        replay.extend(1, *steps_of([4], 1))
        assert replay.steps <= 10
    assert replay.steps == 7
    assert {graph for graph, *_ in as_sets(replay.sample(500, 1))} == {0, 100}
    with pytest.raises(SettingsError, match=r"replay buffer \(10 steps\); raise dqn.replay"):
        replay.extend(0, *(np.zeros(9, dtype) for dtype in (int, bool, int, float)))


def test_an_episode_that_is_left_off_has_targets_as_far_as_it_reaches():
    replay = EpisodeReplay(100, 2, gamma=0.5)
    graphs, first, actions, rewards = steps_of([3], 0)
    replay.extend(0, graphs, first, actions, rewards)
    assert len(as_sets(replay.sample(200, 1))) == 2  # the last step waits
    replay.leave_off(0)
    tuples = replay.sample(200, 1)
    last = tuples.prefix[1] == 2
    np.testing.assert_array_equal(tuples.discounts[last], 0.5)  # the state after it has a value
    np.testing.assert_allclose(tuples.returns[last], rewards[2])
    # What follows without its beginning is passed over, up to the next episode.
    rest = np.array([0, 0, 9]), np.array([False, False, True]), np.zeros(3, int), np.ones(3)
    replay.extend(0, *rest)
    assert replay.steps == 4


def test_what_is_restored_is_what_was_held():
    replay = EpisodeReplay(100, 2, gamma=0.5)
    for slot, lengths in enumerate(([3, 4], [5], [2, 2, 6])):
        replay.extend(slot, *steps_of(lengths, slot))
    other = EpisodeReplay(100, 2, gamma=0.5)
    other.restore([replay.state()])
    for slot in range(3):
        replay.leave_off(slot)  # running episodes are not gone on with
    assert as_sets(other.sample(2000, 1)) == as_sets(replay.sample(2000, 1))
    both = EpisodeReplay(100, 2, gamma=0.5)
    both.restore([replay.state(), other.state()])
    assert both.steps == 2 * replay.steps
    empty = EpisodeReplay(100, 2, gamma=0.5)
    empty.restore([EpisodeReplay(100, 2, gamma=0.5).state()])
    assert empty.sample(5, 1) is None
