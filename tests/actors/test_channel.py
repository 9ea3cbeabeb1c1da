import socket
import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.actors.channel import Channel
from ogg_hpc.actors.message import MESSAGE_LIMIT, MalformedMessageError


@pytest.fixture
def pair():
    mine, theirs = socket.socketpair()
    channel, other = Channel(mine), Channel(theirs)
    yield channel, other
    channel.close()
    other.close()


def test_messages_of_all_sizes_come_whole_and_in_order(pair):
    here, there = pair
    sent = [b"", b"a", bytes(3_000_000), b"b" * 8, bytes(range(256)) * 5000, b""]
    for data in sent:
        here.send(data)  # does not wait although nobody reads
    assert here.sending
    come = []
    while len(come) < len(sent):
        come += there.receive()
        here.flush()
    assert come == sent
    assert not here.sending
    assert there.receive() == []


@given(pieces=st.lists(st.binary(max_size=30), max_size=5), cuts=st.lists(st.integers(0, 200)))
def test_it_does_not_matter_where_the_stream_is_cut(pieces, cuts):
    stream = b"".join(struct.pack("<Q", len(piece)) + piece for piece in pieces)
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    raw, theirs = socket.socketpair()
    channel = Channel(theirs)
    come = []
    for a, b in pairwise(edges):
        raw.sendall(stream[a:b])
        come += channel.receive()
    assert come == pieces
    raw.close()
    channel.close()


def test_what_was_sent_before_an_end_still_comes(pair):
    here, there = pair
    here.send(b"last words")
    here.close()
    assert there.receive() == [b"last words"]
    assert there.ended
    there.send(b"in vain")
    assert not there.sending


def test_last_words_come_to_those_who_were_speaking_themselves(pair):
    here, there = pair
    there.send(bytes(10_000_000))
    here.send(b"last words")
    here.close()
    there.flush()
    assert not there.sending
    assert there.receive() == [b"last words"]
    assert there.ended


def test_an_end_in_the_middle_of_a_message_leaves_none(pair):
    here, there = pair
    here.send(bytes(10_000_000))
    here.close()
    assert there.receive() == []
    assert there.ended


def test_a_message_above_the_limit_is_refused_before_it_comes():
    raw, theirs = socket.socketpair()
    raw.sendall(struct.pack("<Q", MESSAGE_LIMIT + 1))
    channel = Channel(theirs)
    with pytest.raises(MalformedMessageError, match="announced"):
        channel.receive()
    raw.close()
    channel.close()
