"""Hosts outside the job: how they find a controller, come back to it, and leave."""

import json
import os
import re
import signal
import threading
import time

import pytest
from remote_learner import LIMIT

from ogg_hpc.actors.gateway.announcement import Announcement, node_name, write_announcement
from ogg_hpc.actors.gateway.finding import Controller
from ogg_hpc.actors.message import Message, decode, encode
from ogg_hpc.actors.remote_host import Patience, RemoteHost
from ogg_hpc.errors import InputError, OggError, SettingsError

QUICK = Patience(lease=4.0, least_pause=0.05, most_pause=0.3, give_up_after=2.0)


class FakeHost:
    """A host that answers each grant at once, or when it leaves."""

    def __init__(self):
        from plain_host import hello

        self.finished, self.failure = False, None
        self.slow = False
        self.kinds = []
        self._hello = hello(2)
        self._outgoing = []
        self._granted = 0

    def hello(self):
        self.kinds.append("hello")
        return self._hello

    def handle(self, data):
        kind = decode(data).kind
        self.kinds.append(kind)
        if kind == "finish":
            self.finished = True
        elif kind == "refuse":
            raise SettingsError("the learner refuses this host")
        elif kind == "fail":
            self.failure = "the environment failed"
            self._outgoing.append(encode(Message("failed", {"reason": self.failure})))
        elif kind == "grant":
            self._granted += 1
            if not self.slow:
                self._answer()

    def _answer(self):
        self._outgoing += [encode(Message("fragment"))] * self._granted
        self._granted = 0

    def poll(self, seconds, wake=()):
        import select

        if not self._outgoing and wake:
            select.select(wake, [], [], seconds)
        elif not self._outgoing:
            time.sleep(seconds)
        messages, self._outgoing = self._outgoing, []
        return messages

    def leave(self, seconds):
        self.finished = True
        self._answer()
        self._outgoing.append(encode(Message("goodbye")))
        return self.poll(0)


class Running:
    """A remote host that runs in a thread."""

    def __init__(self, controller, patience=QUICK):
        self.host = FakeHost()
        self.error = None
        self._asked = threading.Event()
        self._remote = RemoteHost(self.host, controller, self._asked.is_set, patience)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        try:
            self._remote.run()
        except OggError as error:
            self.error = error

    @property
    def ended(self):
        return not self._thread.is_alive()

    def stop(self):
        self._asked.set()

    def end(self):
        self.stop()
        self._thread.join()


@pytest.fixture
def run(at_end):
    def run(controller, patience=QUICK):
        running = Running(controller, patience)
        at_end.callback(running.end)
        return running

    return run


def announced(learner):
    return Controller(str(learner.announcement))


def named(learner):
    return Controller(learner.address, learner.token_file)


def joined(learner, count=1):
    """Wait until so many hosts have joined; return the last one's number."""
    learner.until(lambda: len(learner.hellos) >= count)
    return max(learner.hellos)


def say(learner, number, kind):
    learner.transport.send(number, encode(Message(kind)))


def kinds(learner, number):
    return [decode(data).kind for data in learner.said[number]]


@pytest.mark.parametrize("find", [announced, named])
def test_a_host_serves_until_the_learner_says_that_it_is_finished(start_learner, run, find):
    learner = start_learner()
    running = run(find(learner))
    number = joined(learner)
    say(learner, number, "grant")
    learner.until(lambda: kinds(learner, number) == ["fragment"])
    say(learner, number, "finish")
    learner.until(lambda: running.ended)
    assert running.error is None
    learner.until(lambda: learner.gone == [number])
    assert kinds(learner, number) == ["fragment", "goodbye"]


def test_a_host_comes_back_after_its_controller_was_killed(start_learner, run):
    learner = start_learner()
    running = run(named(learner), Patience(4.0, 0.05, 0.3, 0))
    first = joined(learner)
    say(learner, first, "grant")
    learner.until(lambda: kinds(learner, first) == ["fragment"])
    os.kill(learner.controller_pid, signal.SIGKILL)
    second = joined(learner, 2)
    assert learner.gone == [first]
    say(learner, second, "grant")
    learner.until(lambda: kinds(learner, second) == ["fragment"])
    assert running.host.kinds.count("hello") >= 2


def test_pauses_grow_between_connections_that_do_not_last(start_learner, run):
    learner = start_learner()
    running = run(named(learner), Patience(4.0, 0.05, 60.0, 0))
    pauses = running._remote._backoff
    for count in (1, 2, 3):
        number = joined(learner, count)
        say(learner, number, "welcome")
        learner.until(lambda count=count: running.host.kinds.count("welcome") == count)
        os.kill(learner.controller_pid, signal.SIGKILL)
        learner.until(lambda number=number: number in learner.gone)
    learner.until(lambda: pauses._limit >= 0.05 * 2**3)


@pytest.mark.parametrize(
    ("name", "certificate", "encrypted"),
    [
        ("127.0.0.1:1", False, False),
        ("localhost:1", True, True),
        ("node7:1", False, True),
        ("node7:1", True, True),
    ],
)
@pytest.mark.parametrize("by", ["name", "file"])
def test_a_token_leaves_the_machine_encrypted_alone(tmp_path, name, certificate, encrypted, by):
    token, pem, file = tmp_path / "token", tmp_path / "node.crt", tmp_path / "node.json"
    token.write_text("x" * 40)
    token.chmod(0o600)
    pem.write_text("-----BEGIN CERTIFICATE-----")
    write_announcement(file, Announcement(node_name(), name, str(token), "", "", 1, "1"))
    given = str(file) if by == "file" else name
    target = Controller(given, token, pem if certificate else None).find()
    assert (target.address, target.encrypted) == (name, encrypted)


def test_what_a_host_has_made_for_one_connection_does_not_go_to_the_next(start_learner, run):
    learner = start_learner()
    running = run(named(learner), Patience(4.0, 0.05, 0.3, 0))
    running.host.slow = True
    first = joined(learner)
    say(learner, first, "grant")
    learner.until(lambda: "grant" in running.host.kinds)
    os.kill(learner.controller_pid, signal.SIGKILL)
    learner.until(lambda: learner.gone == [first])
    running.host._answer()
    second = joined(learner, 2)
    say(learner, second, "welcome")
    learner.until(lambda: "welcome" in running.host.kinds)
    running.stop()
    learner.until(lambda: "goodbye" in kinds(learner, second))
    assert kinds(learner, second) == ["goodbye"]


def test_a_host_may_be_there_before_the_run(start_learner, run, tmp_path):
    folder = tmp_path / "run"
    file = folder / "controllers" / f"{node_name()}.json"
    running = run(Controller(str(file)), Patience(4.0, 0.05, 0.3, 60.0))
    time.sleep(0.3)
    assert not running.ended
    joined(start_learner(folder))


def test_a_host_that_is_asked_to_stop_answers_says_goodbye_and_leaves(start_learner, run):
    learner = start_learner()
    running = run(named(learner))
    running.host.slow = True
    number = joined(learner)
    say(learner, number, "grant")
    learner.until(lambda: "grant" in running.host.kinds)
    running.stop()
    learner.until(lambda: running.ended and learner.gone)
    assert kinds(learner, number) == ["fragment", "goodbye"]
    assert running.error is None


def test_a_host_that_is_asked_to_stop_while_it_waits_leaves_at_once(run, tmp_path):
    running = run(Controller(str(tmp_path / "n.json")), Patience(4.0, 60.0, 60.0, 0))
    start = time.monotonic()
    running.end()
    assert time.monotonic() - start < 10
    assert running.error is None


def test_a_host_that_gives_up_tells_the_learner_why_and_ends(start_learner, run):
    learner = start_learner()
    running = run(named(learner))
    number = joined(learner)
    say(learner, number, "fail")
    learner.until(lambda: running.ended and learner.gone)
    assert kinds(learner, number) == ["failed", "goodbye"]
    assert str(running.error) == "the environment failed"


@pytest.mark.parametrize("by", ["message", "end of stream"])
def test_a_host_that_a_learner_refuses_does_not_come_again(start_learner, run, by):
    learner = start_learner()
    running = run(named(learner))
    number = joined(learner)
    if by == "message":
        say(learner, number, "refuse")
    else:
        learner.transport.drop(number, "no such slot")
    learner.until(lambda: running.ended)
    assert "refuses this host" in str(running.error)
    assert len(learner.hellos) == 1


def test_a_host_without_a_controller_gives_up_after_the_time_it_was_given(run, tmp_path):
    token = tmp_path / "token"
    token.write_text("x" * 40)
    token.chmod(0o600)
    running = run(Controller("127.0.0.1:9", token), Patience(4.0, 0.05, 0.3, 0.5))
    running._thread.join(LIMIT)
    assert re.match(r"no controller at 127.0.0.1:9 for \d+ s: .*refused", str(running.error))


def test_a_run_that_is_finished_needs_no_host(start_learner, run):
    learner = start_learner()
    running = run(announced(learner), Patience(4.0, 20.0, 20.0, 0))
    joined(learner)
    learner.transport.close()
    running._thread.join(LIMIT)
    late = run(announced(learner))
    late._thread.join(LIMIT)
    assert running.error is late.error is None
    assert late.host.kinds == []


def test_a_file_of_another_node_that_none_but_that_node_can_reach_is_told(start_learner):
    learner = start_learner()
    content = json.loads(learner.announcement.read_text())
    learner.announcement.write_text(json.dumps({**content, "node": "elsewhere"}))
    with pytest.raises(SettingsError, match=r"elsewhere listens to .* set remote.listen"):
        announced(learner).find()


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "not JSON"), ("{}", "of this version"), ('{"format": "ogg-hpc-controller/1"}', "keys")],
)
def test_a_file_that_is_no_announcement_is_refused(tmp_path, content, message):
    path = tmp_path / "node.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        Controller(str(path)).find()


def test_an_address_needs_a_token():
    with pytest.raises(SettingsError, match="--token-file"):
        Controller("node7:50051").find()
