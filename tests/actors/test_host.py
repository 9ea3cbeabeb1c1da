"""A host keeps its environment processes at work, whatever happens to them."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stand_in_learner import LIMIT, SCRIPTED, StandInLearner

from ogg_hpc.actors.collectors.registry import COLLECTORS
from ogg_hpc.actors.environments.registry import ENVIRONMENTS
from ogg_hpc.actors.host import Host
from ogg_hpc.actors.message import MalformedMessageError, Message, decode, encode
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.watchdog import process_state


@pytest.fixture
def host():
    with Host(2, 2) as host:
        yield host


@pytest.fixture
def start(host, tmp_path):
    """Start a learner whose environments obey the files of a folder, by slot."""

    def start(slots=2, lease=20.0, **options):
        options = {"folder": str(tmp_path), **options}
        learner = StandInLearner(host, slots, SCRIPTED, options, lease)
        learner.publish(1)
        return learner

    return start


@pytest.fixture
def order(tmp_path):
    """Say what a slot has to do at its next step."""

    def order(slot, text):
        part = tmp_path / "part"
        part.write_text(text)
        part.rename(tmp_path / str(slot))

    return order


def test_a_host_says_who_it_is(host):
    hello = decode(host.hello())
    assert (hello.kind, hello.integer("capacity"), hello.integer("pid")) == (
        "hello",
        4,
        os.getpid(),
    )
    assert hello.text("schema") == ""
    schema = StandInLearner(host, 1).until_ready()
    assert decode(host.hello()).text("schema") == schema.digest()


@pytest.mark.parametrize("slots", [1, 3, 4])
def test_each_slot_answers_each_grant(host, slots):
    learner = StandInLearner(host, slots)
    learner.until_ready()
    learner.publish(1, size=1_000_000)
    for sequence, steps in enumerate((3, {0: 4}, 1)):
        fragments = learner.collect(steps)
        assert set(fragments) == ({0} if steps == {0: 4} else set(range(slots)))
        for slot, fragment in fragments.items():
            assert fragment.steps == (4 if steps == {0: 4} else steps)
            assert fragment.complete
            assert (fragment.run, fragment.round, fragment.incarnation) == ("r", sequence + 1, 0)
            assert fragment.sequence == (sequence if slot == 0 else min(sequence, 1))


def test_each_grant_is_done_by_the_weights_that_it_names(host):
    learner = StandInLearner(host, 3)
    for version in (1, 2, 5):
        learner.publish(version)
        for fragment in learner.collect(2, version=version).values():
            assert fragment.version == version
            np.testing.assert_array_equal(fragment.arrays["version"], version)
    with pytest.raises(MalformedMessageError, match="weights"):
        learner.grant(2, version=6)


def test_experience_does_not_depend_on_the_process_that_a_slot_lives_in():
    found = []
    for processes, environments in ((1, 3), (3, 1)):
        with Host(processes, environments) as host:
            learner = StandInLearner(host, 3, "synthetic", {"seconds": 0, "length": 4})
            learner.publish(1)
            fragments = [learner.collect(steps) for steps in (10, 3)]
            found.append(
                [[f[slot].arrays["seen"].tolist() for slot in range(3)] for f in fragments]
            )
    assert found[0] == found[1]
    assert len(np.unique(np.concatenate(found[0], axis=1))) == 3 * 13  # all are different


def test_a_cut_ends_what_was_granted_before_it(start):
    learner = start(seconds=0.01)
    learner.grant(1_000_000)
    learner.until(lambda come: any(m.kind == "progress" for m in come))
    learner.send("cut", {"round": 1, "slots": [0, 1]})
    learner.grant(3)
    fragments = learner.fragments(4)
    assert all(f.complete and f.steps == 3 for f in fragments.values())
    cut = [m for m in learner.messages if m.kind == "fragment" and m.integer("round") == 1]
    assert sorted(m.integer("slot") for m in cut) == [0, 1]
    for message in cut:
        assert not message.flag("complete")
        assert 0 < message.integer("steps") == len(message.arrays["reward"])


def test_a_cut_of_another_round_or_slot_changes_nothing(start):
    learner = start(seconds=0.01)
    learner.grant(20)
    learner.send("cut", {"round": 2, "slots": [0, 1]})
    learner.send("cut", {"round": 1, "slots": [7]})
    assert all(fragment.complete for fragment in learner.fragments(2).values())


def test_a_host_that_leaves_lets_its_slots_answer_and_says_goodbye(start, host):
    learner = start(slots=4, seconds=0.05)
    learner.until_ready()
    learner.grant({0: 1000})
    learner.grant({1: 1000, 2: 1000})
    learner.until(lambda come: any(m.kind == "progress" for m in come))
    messages = [decode(data) for data in host.leave(LIMIT)]
    assert [m.kind for m in messages].count("goodbye") == 1
    assert messages[-1].kind == "goodbye"
    fragments = [m for m in messages if m.kind == "fragment"]
    assert {m.integer("slot") for m in fragments} == {0, 1, 2}
    assert not any(m.flag("complete") for m in fragments)
    assert host.finished


def test_progress_comes_from_the_step_loop(start):
    learner = start(seconds=0.15, lease=2.4)
    learner.grant(20)
    messages = learner.until(lambda come: sum(m.kind == "fragment" for m in come) == 2)
    assert not [m for m in messages if m.kind == "lost"]  # long steps are no fault
    for slot in (0, 1):
        done = [m.slots("slots")[slot] for m in messages if _tells(m, "progress", slot)]
        assert len(done) >= 3
        assert done == sorted(set(done))
        assert done[-1] <= 20


def test_a_host_that_looks_late_blames_nobody(start, monkeypatch):
    learner = start(seconds=0.01, lease=10.0)
    learner.grant(1_000_000)
    learner.until(lambda come: any(m.kind == "progress" for m in come))
    monkeypatch.setattr("ogg_hpc.actors.host.time", LateClock)
    for LateClock.late in (60.0, 120.0):  # as in long updates of a learner that is its own host
        messages = learner.until(lambda come: sum(m.kind == "progress" for m in come) == 2)
        assert {m.kind for m in messages} == {"progress"}


class LateClock:
    late = 0.0

    @classmethod
    def monotonic(cls):
        return time.monotonic() + cls.late


def _tells(message, kind, slot):
    return message.kind == kind and slot in message.slots("slots")


STOP = f"signal {int(signal.SIGSTOP)}"
# What an environment does, and how that is told.
FAULTS = {
    "raise once upon a time": "RuntimeError: once upon a time",
    "exit please": "SystemExit: please",
    "end 3": "ended with exit code 3",
    f"signal {int(signal.SIGKILL)}": "was killed by SIGKILL",
    f"signal {int(signal.SIGSEGV)}": "was killed by SIGSEGV",
    STOP: "has made no step for 2 s",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_process_that_fails_is_started_anew(start, order, fault):
    learner = start(slots=4, lease=2.0 if fault == STOP else 20.0)
    assert set(learner.collect(2)) == {0, 1, 2, 3}
    order(1, f"once {fault}")
    learner.grant(5)
    begun = time.monotonic()
    messages = learner.until(
        lambda come: (
            {m.kind for m in come} >= {"lost", "ready"}
            and sum(m.kind == "fragment" for m in come) == 2
        )
    )
    assert time.monotonic() - begun < LIMIT / 2
    (lost,) = (m for m in messages if m.kind == "lost")
    assert lost.slots("slots") == {0: 1, 1: 1}  # those of its process
    assert FAULTS[fault] in lost.text("reason")
    fragments = learner.collect(3)
    for slot, fragment in fragments.items():
        assert (fragment.steps, fragment.complete) == (3, True)
        assert fragment.incarnation == (1 if slot < 2 else 0)
        assert fragment.sequence == (0 if slot < 2 else 2)


def test_a_grant_for_an_incarnation_that_is_gone_is_void(start, order):
    learner = start(slots=1)
    learner.collect(1)
    order(0, "once end 1")
    learner.grant(5)
    learner.until(lambda come: any(m.kind == "lost" for m in come))
    learner.incarnations[0] = 0
    learner.grant(7)
    learner.incarnations[0] = 1
    assert learner.collect(2)[0].steps == 2


def test_what_was_sent_before_the_end_counts(start):
    learner = start(slots=1, lifetime=3)
    learner.grant(2)
    learner.grant(2)
    messages = learner.until(lambda come: any(m.kind == "lost" for m in come))
    assert [m.kind for m in messages][:3] == ["ready", "fragment", "lost"]


def test_three_losses_in_a_row_are_enough(start, order, host):
    learner = start(slots=4)
    learner.collect(1)
    order(2, "raise for ever")
    while host.failure is None:
        learner.grant(1)
        learner.until(lambda come: any(m.kind in ("lost", "failed") for m in come))
    failed = learner.messages[-1]
    assert failed.kind == "failed"
    assert "3 times in a row" in failed.text("reason")
    assert "RuntimeError: for ever" in failed.text("reason")
    assert "scripted_environment.py" in failed.text("reason")  # where it was raised
    assert host.poll(0) == []


@pytest.mark.parametrize(
    ("environment", "options", "reason"),
    [
        ("gymnasium:NoSuch-v0", {}, "NoSuch"),
        ("nowhere.py:Own", {}, "no such file"),
        (SCRIPTED, {"folder": "", "color": 1}, "color"),
    ],
)
def test_an_error_of_the_settings_is_told_at_once(host, environment, options, reason):
    learner = StandInLearner(host, 2, environment, options)
    (failed,) = learner.until(lambda come: come)
    assert failed.kind == "failed"
    assert reason in failed.text("reason")
    assert "Traceback" not in failed.text("reason")


def test_an_environment_that_cannot_be_made_fails_with_its_traceback(start, host):
    learner = start(slots=1, fault="raise no licence")
    messages = learner.until(lambda come: any(m.kind == "failed" for m in come))
    assert [m.kind for m in messages] == ["lost", "lost", "failed"]
    assert "RuntimeError: no licence" in host.failure


def test_a_process_that_never_gets_ready_is_told_of(start, monkeypatch):
    monkeypatch.setattr("ogg_hpc.actors.host._START_LIMIT", 0.5)
    learner = start(slots=1, fault=STOP, lease=0.6)
    messages = learner.until(lambda come: any(m.kind == "failed" for m in come))
    assert "has made no environment for 0.6 s" in messages[-1].text("reason")


def test_a_server_of_processes_that_is_killed_is_replaced(start):
    learner = start(slots=4)
    process = learner.collect(1)[0].arrays["reward"][0]
    server = parent_of(int(process))
    os.kill(server, signal.SIGKILL)
    learner.until(lambda come: sum(m.kind == "lost" for m in come) == 2)
    fragments = learner.collect(2)
    assert {fragment.incarnation for fragment in fragments.values()} == {1}
    assert process_state(int(process)) == "gone"


def test_another_welcome_begins_anew(start):
    learner = start(slots=4)
    learner.grant(1_000_000)
    learner.incarnations = {5: 3, 8: 0}
    learner.welcome()
    learner.publish(2)
    fragments = learner.collect(2, version=2)
    assert {slot: f.incarnation for slot, f in fragments.items()} == {5: 3, 8: 0}


def test_what_a_host_does_not_know_is_refused(host):
    learner = StandInLearner(host, 1)
    with pytest.raises(MalformedMessageError, match="dance"):
        learner.send("dance", {})
    with pytest.raises(SettingsError, match="another version"):
        learner.send("refuse", {"reason": "another version"})
    with pytest.raises(MalformedMessageError):
        host.handle(b"what?")


@given(
    kind=st.sampled_from(["welcome", "weights", "grant", "cut", "finish", "refuse", "other"]),
    fields=st.dictionaries(
        st.sampled_from(
            ["run", "slots", "steps", "incarnations", "version", "round", "reason", "lease"]
        ),
        st.none() | st.integers() | st.text() | st.just({"0": 1}) | st.just([0]),
    ),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_learner_says_is_obeyed_or_refused(host, kind, fields):
    with suppress(MalformedMessageError, SettingsError):
        host.handle(encode(Message(kind, fields)))


def test_a_wait_ends_when_the_way_to_the_learner_has_something(host):
    woken, wake = os.pipe()
    os.write(wake, b"!")
    begun = time.monotonic()
    assert host.poll(LIMIT, [woken]) == []
    assert time.monotonic() - begun < LIMIT
    os.close(woken)
    os.close(wake)


def test_processes_inherit_nothing_and_load_no_torch(start, order, tmp_path, monkeypatch):
    monkeypatch.setenv("PMI_FD", "7")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    kept = open(tmp_path / "open file", "w")  # noqa: SIM115
    os.set_inheritable(kept.fileno(), True)
    with kept, Host(1, 1) as host:
        learner = StandInLearner(host, 1, SCRIPTED, {"folder": str(tmp_path)})
        learner.publish(1)
        order(0, f"tell {tmp_path / 'told'}")
        learner.collect(1)
    told = json.loads((tmp_path / "told").read_text())
    assert not {"torch", "mpi4py", "scipy", "numba", "h5py"} & set(told["modules"])
    assert not [name for name in told["variables"] if name.startswith(("PMI", "OMPI"))]
    assert told["variables"]["OMP_NUM_THREADS"] == "1"
    sockets = [name for name in told["descriptors"] if name.startswith("socket")]
    assert len(sockets) == 1  # to its host
    assert str(tmp_path / "open file") not in told["descriptors"]


@pytest.mark.parametrize(
    "module",
    ["ogg_hpc.actors.host", *(spec.split(":")[0] for spec in (COLLECTORS | ENVIRONMENTS).values())],
)
def test_what_steps_environments_loads_no_torch(module):
    program = f"import sys, {module}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def parent_of(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
