import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.actors.gateway.frames import (
    HEARTBEAT,
    LAST,
    MOST_BYTES,
    PART,
    Assembly,
    MalformedFrameError,
    cut,
)


@pytest.mark.parametrize("size", [0, 1, 1 << 18, (1 << 18) + 1, 3 << 20])
def test_a_message_of_any_size_comes_back_from_its_frames(size):
    message = bytes(range(256)) * (size // 256 + 1)
    message = message[:size]
    frames = list(cut(message))
    assert all(len(frame) <= MOST_BYTES for frame in frames)
    assembly = Assembly()
    joined = [assembly.add(frame) for frame in frames]
    assert joined == [None] * (len(frames) - 1) + [message]


@given(st.lists(st.binary(max_size=20), max_size=5))
def test_messages_follow_one_another_with_heartbeats_between(messages):
    assembly = Assembly()
    came = []
    for message in messages:
        for frame in (HEARTBEAT, *cut(message)):
            joined = assembly.add(frame)
            came += [] if joined is None else [joined]
    assert came == messages


def test_a_heartbeat_may_come_within_a_message():
    assembly = Assembly()
    assert assembly.add(bytes([PART]) + b"one ") is None
    assert assembly.add(HEARTBEAT) is None
    assert assembly.add(bytes([LAST]) + b"two") == b"one two"


@given(st.lists(st.binary(max_size=6), max_size=20))
def test_any_bytes_are_taken_or_refused_and_no_message_is_too_long(frames):
    assembly = Assembly(most_bytes=8)
    for frame in frames:
        try:
            message = assembly.add(frame)
        except MalformedFrameError:
            return
        assert frame[0] <= 2
        assert message is None or len(message) <= 8


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (b"", "empty"),
        (b"\x03data", "unknown kind 3"),
        (b"\x02data", "heartbeat of 5 bytes"),
        (bytes([LAST]) + bytes(MOST_BYTES), "at most 1048576"),
        (bytes([LAST]) + bytes(9), "more than 8 bytes"),
    ],
)
def test_what_is_no_frame_is_refused_with_a_reason(frame, reason):
    with pytest.raises(MalformedFrameError, match=reason):
        Assembly(most_bytes=8).add(frame)


def test_a_long_message_is_refused_before_it_has_come_as_a_whole():
    assembly = Assembly(most_bytes=8)
    assembly.add(bytes([PART]) + bytes(8))
    with pytest.raises(MalformedFrameError, match="more than 8 bytes"):
        assembly.add(bytes([PART]) + bytes(1))
