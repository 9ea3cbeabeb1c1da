"""A rank that acts for a learner, without MPI: letters are put into boxes."""

import pytest

from ogg_hpc.actors.message import Message, decode, encode
from ogg_hpc.actors.transports.mpi import MPITransport, act
from ogg_hpc.runtime.mailbox import Mailbox

GRANT = encode(Message("grant", {"round": 1}))


class Box(Mailbox):
    """Posts to a list; what arrives is what a test has put there."""

    def __init__(self, *batches):
        self.posted, self.batches = [], list(batches)

    def post(self, rank, data):
        self.posted.append((rank, data))

    def arrived(self, seconds=0.0):
        return self.batches.pop(0) if self.batches else []


class EchoHost:
    """A host that sends back what it hears, at its next poll."""

    def __init__(self, fails=False):
        self.heard, self.waited, self.closed, self._fails = [], [], False, fails
        self._answers = []

    def hello(self):
        return b"hello"

    def handle(self, message):
        if self._fails:
            raise RuntimeError("out of luck")
        self.heard.append(message)
        self._answers.append(message)

    def poll(self, seconds):
        self.waited.append(seconds)
        answers, self._answers = self._answers, []
        return answers

    def close(self):
        self.closed = True


def end_of(transport_box):
    MPITransport(transport_box, [1]).close()
    [(rank, data)] = transport_box.posted
    assert rank == 1
    return data


def test_a_rank_passes_on_what_learner_and_host_say_until_the_way_is_closed():
    box = Box([(0, b"one"), (0, b"two")], [], [(0, b"three")], [], [(0, end_of(Box()))])
    host = EchoHost()
    act(box, 0, host)
    assert host.heard == [b"one", b"two", b"three"]
    assert box.posted == [(0, b"hello"), (0, b"one"), (0, b"two"), (0, b"three")]
    assert host.closed


def test_letters_that_came_before_the_end_are_read():
    box = Box([(0, b"one"), (0, end_of(Box())), (0, b"never")])
    host = EchoHost()
    act(box, 0, host)
    assert host.heard == [b"one"]


def test_a_rank_waits_the_longer_for_environments_the_longer_nothing_happens():
    box = Box(*[[]] * 1000, [(0, end_of(Box()))])
    host = EchoHost()
    act(box, 0, host)
    assert host.waited == sorted(host.waited)
    assert 0 < host.waited[0] <= max(host.waited) <= 0.005


def test_an_error_of_a_host_closes_it():
    host = EchoHost(fails=True)
    with pytest.raises(RuntimeError, match="out of luck"):
        act(Box([(0, b"one")]), 0, host)
    assert host.closed


def test_a_learner_hears_its_hosts_by_their_ranks():
    box = Box([(2, b"hello"), (1, b"hello")])
    transport = MPITransport(box, [1, 2])
    assert transport.members == 2
    assert transport.poll(0.0) == [(2, b"hello"), (1, b"hello")]
    transport.send(2, GRANT)
    transport.drop(1, "no good")
    [(_, granted), (rank, refused)] = box.posted
    assert (granted, rank) == (GRANT, 1)
    assert decode(refused).kind == "refuse"
    assert decode(refused).text("reason") == "no good"
