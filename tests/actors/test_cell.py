"""A learner's side of collecting, against hosts of simulated time."""

import numpy as np
import pytest
from fake_hosts import SCHEMA, FakeTransport, Time, make_cell
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.actors.message import Message, decode, encode
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.actors.waiting import NoActorsError
from ogg_hpc.actors.weights import Weights
from ogg_hpc.errors import SettingsError

WEIGHTS = {"layer": np.arange(3, dtype=np.float32)}


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def transport(time):
    return FakeTransport(time)


@pytest.fixture
def said():
    return []


@pytest.fixture
def cell(time, transport, said):
    cell = make_cell(time, transport, said=said)
    cell.publish(WEIGHTS)
    return cell


def split(fragments):
    return [(fragment.slot, fragment.steps) for fragment in fragments]


def steps_of(fragments):
    return sum(fragment.steps for fragment in fragments)


def settle(cell, fragments=8):
    """Make a round, so that all have said hello."""
    assert steps_of(cell.collect(fragments)) == fragments


# Rounds.


def test_fragments_are_equal_shares_in_slot_order(cell, transport):
    transport.host(2, {0: 0.02, 1: 0.021})
    transport.host(2, {2: 0.01, 3: 0.019})
    for _ in range(3):
        assert split(cell.collect(42)) == [(0, 11), (1, 11), (2, 10), (3, 10)]
    assert cell.measurement.rounds == 3
    assert cell.measurement.steps == 126
    assert cell.measurement.cut == 0


def test_a_slow_slot_costs_nothing_after_the_first_round_and_people_hear_of_it(
    cell, transport, time, said
):
    host = transport.host(16, dict.fromkeys(range(16), 0.02) | {3: 0.2})
    durations = []
    for _ in range(5):
        start = time.now
        assert steps_of(cell.collect(2048)) == 2048
        durations.append(time.now - start)
    undisturbed = 2048 / 16 * 0.02
    assert durations[0] <= 1.8 * undisturbed
    assert max(durations[1:]) <= 1.1 * undisturbed
    assert cell.measurement.cut == 1
    [text] = [text for text in said if "cut" in text]
    assert "slot 3 (h0:0)" in text
    assert "10.0 times slower" in text
    host.seconds[3] = 0.02
    while not said[-1].endswith("keeps up again"):
        cell.collect(2048)
        assert len(durations) < 12
        durations.append(0)
    assert split(cell.collect(2048)) == [(slot, 128) for slot in range(16)]


def test_a_cut_names_the_slow_slots_alone(cell, transport):
    host = transport.host(4, dict.fromkeys(range(4), 0.02) | {2: 0.2})
    cell.collect(400)
    [cut] = [message for message in host.heard if message.kind == "cut"]
    assert cut.fields["slots"] == [2]


def test_a_lost_slot_is_made_up_for_by_the_others(cell, transport, time, said):
    host = transport.host(3, 0.1)
    time.at(1.0, lambda: host.lose(1))
    assert split(cell.collect(90)) == [(0, 30), (0, 15), (2, 30), (2, 15)]
    assert cell.measurement.lost == 1
    assert "slots 1 are started anew" in said[-1]
    fragments = cell.collect(90)
    assert split(fragments) == [(0, 30), (1, 30), (2, 30)]
    assert [fragment.incarnation for fragment in fragments] == [0, 1, 0]


def test_a_slot_that_was_slow_because_its_process_froze_is_asked_for_its_full_share_again(
    cell, transport, time
):
    host = transport.host(6, dict.fromkeys(range(6), 0.05) | {1: 1000.0})
    time.at(2.8, lambda: host.lose(1, restart=0.1))  # after the cut, at 2.5
    assert steps_of(cell.collect(198)) == 198
    assert (cell.measurement.cut, cell.measurement.lost) == (1, 1)
    host.seconds[1] = 0.05
    assert split(cell.collect(198)) == [(slot, 33) for slot in range(6)]


@pytest.mark.parametrize("how", ["goodbye", "failed", "gone"])
def test_the_part_of_a_host_that_leaves_is_done_by_the_others(cell, transport, time, how):
    transport.host(2, 0.1)
    leaving = transport.host(2, 0.1)
    time.at(1.0, lambda: leaving.leave(how))
    assert split(cell.collect(80)) == [(0, 20), (0, 20), (1, 20), (1, 20)]
    assert cell.slots == [0, 1]
    assert cell.measurement.left == 1


def test_a_frozen_host_is_not_waited_for_and_comes_back(cell, transport, time, said):
    transport.host(2, 0.1)
    frozen = transport.host(2, 0.1)
    settle(cell)
    frozen.frozen = True
    start = time.now
    assert steps_of(cell.collect(80)) == 80
    assert time.now - start < 15
    assert cell.slots == [0, 1]
    assert "no word for 10 s" in said[-1]
    assert split(cell.collect(80)) == [(0, 40), (1, 40)]
    frozen.thaw()
    cell.collect(200)
    assert cell.measurement.dropped == {"late": 2}
    assert split(cell.collect(80)) == [(0, 20), (1, 20), (2, 20), (3, 20)]


def test_a_host_may_join_in_mid_round_and_has_its_share_from_the_next_on(cell, transport, time):
    transport.host(2, 0.1)
    time.at(0.5, lambda: transport.host(2, 0.1))
    assert split(cell.collect(40)) == [(0, 20), (1, 20)]
    assert split(cell.collect(40)) == [(0, 10), (1, 10), (2, 10), (3, 10)]


def test_a_host_that_joins_takes_the_lowest_free_slots_in_their_next_incarnation(cell, transport):
    first = transport.host(2)
    transport.host(1)
    settle(cell)
    first.leave()
    settle(cell)
    again = transport.host(3)
    settle(cell)
    assert again.incarnations == {0: 1, 1: 1, 3: 0}


def test_a_host_that_says_hello_again_begins_anew(cell, transport):
    host = transport.host(2)
    settle(cell)
    host.grants = {}
    host.version = -1
    host.hello()
    assert split(cell.collect(8)) == [(0, 4), (1, 4)]
    assert host.incarnations == {0: 1, 1: 1}


def test_hosts_of_several_transports_are_one_cell(time):
    near, far = FakeTransport(time, members=1), FakeTransport(time)
    near.host(2)
    far.host(2)
    cell = make_cell(time, near, far, minimum_hosts=2)
    cell.publish(WEIGHTS)
    assert split(cell.collect(8)) == [(0, 2), (1, 2), (2, 2), (3, 2)]
    cell.close(finished=False)
    assert (near.closed, far.closed) == (False, False)


# Weights.


def test_weights_are_sent_once_a_version_and_host(cell, transport):
    hosts = [transport.host(2), transport.host(1)]
    for _ in range(2):
        cell.collect(9)
    assert cell.publish(WEIGHTS) == 1
    cell.collect(9)
    for host in hosts:
        assert host.kinds() == ["welcome", "weights", "grant", "grant", "weights", "grant"]
        [old, new] = [message for message in host.heard if message.kind == "weights"]
        assert (Weights.of(old).version, Weights.of(new).version) == (0, 1)
        np.testing.assert_array_equal(Weights.of(new).arrays["layer"], WEIGHTS["layer"])
        assert Weights.of(new).run == cell.run


def test_versions_that_nobody_is_asked_to_act_by_are_not_sent(cell, transport):
    host = transport.host(1)
    cell.publish(WEIGHTS)
    cell.publish(WEIGHTS)
    cell.collect(4)
    assert host.kinds() == ["welcome", "weights", "grant"]
    assert host.version == 2


def test_each_cell_has_a_run_id_of_its_own(time, transport):
    assert make_cell(time, transport).run != make_cell(time, transport).run


# What is dropped.


def test_fragments_that_do_not_fit_are_dropped_and_counted(cell, transport):
    host, other = transport.host(2), transport.host(1)
    settle(cell)
    host.send(host.fragment(0, 1, 5, count=False))
    host.send(host.fragment(0, 1, 5, run="another"))
    host.send(host.fragment(0, 1, 5, incarnation=7))
    host.send(host.fragment(1, 99, 5))
    other.incarnations[1], other.sequence[1] = 0, 0
    other.send(other.fragment(1, 1, 5))
    assert split(cell.collect(9)) == [(0, 3), (1, 3), (2, 3)]
    assert cell.measurement.dropped == {
        "duplicate": 1,
        "another run": 1,
        "earlier incarnation": 1,
        "not granted": 1,
        "another host's slot": 1,
    }
    assert cell.measurement.steps == 17


def test_a_duplicate_of_an_answer_counts_once(cell, transport):
    host = transport.host(2, 0.1)
    send = host.send
    host.send = lambda data: [send(data), decode(data).kind == "fragment" and send(data)]
    for _ in range(3):
        assert split(cell.collect(8)) == [(0, 4), (1, 4)]
    assert cell.measurement.dropped["duplicate"] >= 4


def test_experience_by_older_weights_is_not_taken_into_a_round(cell, transport):
    host = transport.host(2, 0.1)
    settle(cell)
    cell.publish(WEIGHTS)
    make, versions = host.fragment, iter([0])  # of the first fragment of slot 1

    def fragment(slot, *arguments, **other):
        version = next(versions, host.version) if slot == 1 else host.version
        return make(slot, *arguments, **other, version=version)

    host.fragment = fragment
    assert split(cell.collect(8)) == [(0, 4), (0, 4)]
    assert cell.measurement.dropped == {"stale": 1}


def test_messages_of_hosts_that_have_not_said_hello_are_dropped(cell, transport):
    stranger = transport.host(1, hello=False)
    stranger.say("progress", slots={})
    transport.host(1)
    settle(cell)
    assert cell.measurement.dropped == {"unknown host": 1}


@pytest.mark.parametrize(
    "nonsense",
    [
        lambda host: b"no message",
        lambda host: encode(Message("weights")),
        lambda host: encode(Message("x" * 1000)),
        lambda host: encode(Message("ready", {"slots": {"0": 0}, "schema": {}})),
        lambda host: encode(Message("ready", {"slots": {"77": 0}, "schema": SCHEMA.to_json()})),
        lambda host: encode(Message("lost", {"slots": {"2": 0}, "reason": ""})),
        lambda host: encode(Message("fragment", {"run": 3})),
        lambda host: host.fragment(2, 2, 10_000),
    ],
)
def test_a_host_that_sends_nonsense_is_refused_and_its_part_is_done_by_others(
    cell, transport, time, said, nonsense
):
    transport.host(2, 0.1)
    bad = transport.host(2, 0.1)
    settle(cell)
    time.at(time.now + 0.5, lambda: bad.send(nonsense(bad)))
    assert split(cell.collect(80)) == [(0, 20), (0, 20), (1, 20), (1, 20)]
    assert list(transport.dropped) == [bad.number]
    assert cell.measurement.dropped["malformed"] == 1
    assert "is refused" in said[-1]
    assert len(said[-1]) < 300
    assert cell.measurement.received.keys() <= {"hello", "ready", "fragment", "lost", "progress"}


# Nobody there.


def test_a_run_begins_when_all_hosts_of_the_job_are_ready(time):
    transport = FakeTransport(time, members=2)
    cell = make_cell(time, transport)
    cell.publish(WEIGHTS)
    transport.host(1)
    time.at(30.0, lambda: transport.host(1))
    assert split(cell.collect(8)) == [(0, 4), (1, 4)]
    assert time.now > 30


def test_a_run_begins_without_a_host_that_has_given_up(time):
    transport = FakeTransport(time, members=2)
    cell = make_cell(time, transport)
    cell.publish(WEIGHTS)
    transport.host(1)
    transport.host(1).leave("failed")
    assert split(cell.collect(8)) == [(0, 8)]


def test_a_run_that_could_never_begin_is_refused(time):
    transport = FakeTransport(time, members=2)
    make_cell(time, transport, minimum_hosts=2).check()
    make_cell(time, transport, FakeTransport(time), minimum_hosts=3).check()
    with pytest.raises(SettingsError, match="minimum_hosts is 3, and a learner has 2 here at most"):
        make_cell(time, transport, minimum_hosts=3).check()


def test_hosts_of_a_resumed_run_draw_other_numbers_than_at_any_time_before(time):
    def seed(since):
        transport = FakeTransport(time)
        cell = make_cell(time, transport)
        cell.resume_at(since)
        cell.publish(WEIGHTS)
        host = transport.host(1)
        cell.collect(2)
        return host.heard[0].integer("seed")

    assert seed(0) == ActorsSettings().seed
    assert seed(64) == seed(64)
    assert len({seed(since) for since in (0, 64, 128)}) == 3


def test_without_any_host_it_says_so_every_ten_seconds_and_ends(time, transport, said):
    cell = make_cell(time, transport, said=said, wait_for_actors=35)
    cell.publish(WEIGHTS)
    with pytest.raises(NoActorsError, match=r"0 of 1 hosts are ready after 35 s .*wait_for_actors"):
        cell.collect(8)
    assert said == [
        f"0 of 1 hosts are ready: waiting for actors for {seconds} s" for seconds in (10, 20, 30)
    ]


def test_when_all_have_left_a_learner_waits_for_new_ones(cell, transport, time, said):
    host = transport.host(2, 0.1)
    time.at(1.0, lambda: host.leave("gone"))
    time.at(50.0, lambda: transport.host(1, 0.1))
    fragments = cell.collect(80)
    assert split(fragments) == [(0, 80)]
    assert [text for text in said if "waiting" in text]


def test_when_all_have_left_and_nobody_comes_it_ends(time, transport):
    cell = make_cell(time, transport, wait_for_actors=20)
    cell.publish(WEIGHTS)
    host = transport.host(2, 0.1)
    time.at(1.0, lambda: host.leave("gone"))
    with pytest.raises(NoActorsError, match="no environment that could be stepped after 20 s"):
        cell.collect(80)
    assert time.now == pytest.approx(21, abs=0.5)


def test_when_the_last_host_of_the_job_gives_up_the_error_has_its_reason_at_once(time):
    transport = FakeTransport(time, members=1)
    cell = make_cell(time, transport)
    cell.publish(WEIGHTS)
    host = transport.host(2, 0.1)
    time.at(1.0, lambda: host.leave("failed"))
    with pytest.raises(NoActorsError, match="the environment raises"):
        cell.collect(80)
    assert time.now < 1.2


@pytest.mark.parametrize("hosts", [0, 1])
def test_a_stop_ends_a_round_within_a_second(time, transport, hosts):
    cell = make_cell(time, transport, stop=lambda: time.now >= 2)
    cell.publish(WEIGHTS)
    for _ in range(hosts):
        transport.host(2, {0: 0.1, 1: 1.0})
    fragments = cell.collect(20)
    assert time.now < 3
    assert split(fragments) == [(0, 10)][:hosts]
    assert cell.collect(20) == []


# Off-policy.


def test_slots_are_kept_at_work_up_to_what_may_be_outstanding(cell, transport, time):
    transport.host(4, 0.1)
    cell.top_up(40, {"epsilon": 0.5})
    cell.top_up(40)
    assert transport.hosts[0].kinds() == ["welcome", "weights", "grant"]
    grant = transport.hosts[0].heard[-1]
    assert grant.slots("steps") == dict.fromkeys(range(4), 10)
    assert grant.fields["epsilon"] == 0.5
    taken = []
    while len(taken) < 8:
        taken += cell.arrived(5.0)
        cell.top_up(40)
        granted = sum(steps for *_, steps in transport.hosts[0].grants.values())
        assert granted <= 40
    assert steps_of(taken) == 80


def test_nothing_is_granted_beyond_what_may_be_outstanding(cell, transport):
    host = transport.host(4, 0.1)
    cell.top_up(3)
    assert sum(host.heard[-1].slots("steps").values()) == 3
    cell.top_up(0)
    assert host.kinds().count("grant") == 1


def test_experience_by_older_weights_is_taken_with_its_staleness(cell, transport):
    transport.host(2, {0: 0.1, 1: 0.5})
    cell.top_up(20)
    cell.publish(WEIGHTS)
    cell.publish(WEIGHTS)
    assert split(cell.arrived(5)) == [(0, 10)]
    cell.top_up(20)
    assert split(cell.arrived(5)) == [(0, 10)]
    assert cell.measurement.staleness == {2: 1, 0: 1}


def test_what_is_lost_is_granted_anew(cell, transport, time):
    host = transport.host(2, 0.1)
    cell.top_up(20)
    time.at(0.5, lambda: host.lose(1))
    taken = []
    while time.now < 20:
        taken += cell.arrived(0.5)
        cell.top_up(20)
    assert {fragment.slot for fragment in taken} == {0, 1}
    assert {fragment.incarnation for fragment in taken if fragment.slot == 1} == {1}


def test_waiting_for_fragments_ends_in_time(cell, transport, time):
    transport.host(1, 10.0)
    cell.top_up(1)
    start = time.now
    assert cell.arrived(0.5) == []
    assert time.now - start == pytest.approx(0.5, abs=0.05)


# Any order of events.

EVENTS = st.lists(
    st.tuples(
        st.floats(0, 60, allow_nan=False),
        st.sampled_from(["join", "goodbye", "gone", "failed", "lose", "freeze", "thaw", "twice"]),
        st.integers(0, 5),
        st.integers(0, 5),
    ),
    max_size=12,
)


@settings(max_examples=50)
@given(
    rounds=st.lists(st.integers(1, 200), min_size=1, max_size=4),
    speeds=st.lists(st.floats(0.001, 1.0, allow_nan=False), min_size=1, max_size=6),
    events=EVENTS,
    patience=st.sampled_from([0.0, 1.0, 1.5]),
)
def test_rounds_are_exact_and_end_whatever_happens_to_other_hosts(rounds, speeds, events, patience):
    time = Time()
    transport = FakeTransport(time)
    cell = make_cell(time, transport, patience=patience, wait_for_actors=0.0)
    cell.publish(WEIGHTS)
    transport.host(1, 0.05)  # to which nothing happens
    for seconds in speeds:
        transport.host(2, seconds)
    for moment, what, number, slot in events:
        time.at(moment, lambda args=(what, number, slot): happen(transport, *args))
    seen = set()
    for steps in rounds:
        start = time.now
        fragments = cell.collect(steps)
        assert steps_of(fragments) == steps
        assert time.now - start < 1500
        assert fragments == sorted(fragments, key=lambda each: each.slot)
        assert {each.version for each in fragments} == {cell.version}
        keys = {(each.slot, each.incarnation, each.sequence) for each in fragments}
        assert len(keys) == len(fragments)
        assert not keys & seen
        seen |= keys
        cell.publish(WEIGHTS)
    assert cell.measurement.steps == sum(rounds)


@settings(max_examples=50)
@given(
    outstanding=st.lists(st.integers(0, 60), min_size=1, max_size=30),
    speeds=st.lists(st.floats(0.001, 1.0, allow_nan=False), min_size=1, max_size=6),
    events=EVENTS,
)
def test_what_works_ahead_is_bounded_and_nothing_is_taken_twice(outstanding, speeds, events):
    time = Time()
    transport = FakeTransport(time)
    cell = make_cell(time, transport)
    cell.publish(WEIGHTS)
    transport.host(1, 0.05)
    for seconds in speeds:
        transport.host(2, seconds)
    for moment, what, number, slot in events:
        time.at(moment, lambda args=(what, number, slot): happen(transport, *args))
    seen = set()
    for most in outstanding:
        cell.top_up(most)
        granted = sum(
            steps
            for host in transport.hosts.values()
            for slot, (*_, steps) in host.grants.items()
            if slot in cell.slots and not (host.gone or host.frozen)
        )
        assert granted <= max(outstanding)
        fragments = cell.arrived(2.0)
        keys = {(each.slot, each.incarnation, each.sequence) for each in fragments}
        assert len(keys) == len(fragments)
        assert not keys & seen
        seen |= keys
        cell.publish(WEIGHTS)
    cell.top_up(1000)
    assert cell.arrived(600.0), "somebody is always at work"
    assert sum(cell.measurement.staleness.values()) == cell.measurement.fragments


def happen(transport, what, number, slot):
    if what == "join":
        transport.host(1 + slot % 3, 0.02)
        return
    host = transport.hosts.get(1 + number)
    if host is None or host.gone or not host.incarnations:
        return
    slots = sorted(host.incarnations)
    if what == "lose":
        if not host.frozen:
            host.lose(slots[slot % len(slots)])
    elif what == "freeze":
        host.frozen = True
    elif what == "thaw":
        host.thaw()
    elif what == "twice":
        host.send(host.fragment(slots[slot % len(slots)], 1, 3, count=False))
    elif not host.frozen:
        host.leave(what)
