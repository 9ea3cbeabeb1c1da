"""Messages cut into frames small enough to share a connection, and joined again.

A frame is one byte that says what it is, and at most `MOST_BYTES` − 1 bytes of a message:

====  =======================================
byte  meaning
====  =======================================
0     a part of a message, of which more comes
1     the last part of a message, or all of it
2     no message: the sender is alive
3     from a controller, its last: why it ends
====  =======================================
"""

from __future__ import annotations

from collections.abc import Iterator

from ogg_hpc.actors.message import MESSAGE_LIMIT

PART, LAST, ALIVE, END = 0, 1, 2, 3
HEARTBEAT = bytes([ALIVE])
MOST_BYTES = 1 << 20
# A frame has to pass within a lease, along slow lines too.
_CUT_BYTES = 1 << 18


class MalformedFrameError(Exception):
    """Bytes that are no frame, or one that does not fit where it comes; the text says why."""


def cut(message: bytes) -> Iterator[bytes]:
    """Yield the frames of a message, in order."""
    end = max(len(message), 1)
    whole = memoryview(message)
    for start in range(0, end, _CUT_BYTES):
        last = start + _CUT_BYTES >= end
        yield b"".join((bytes([LAST if last else PART]), whole[start : start + _CUT_BYTES]))


def end_frame(code: str, reason: str) -> bytes:
    """Return the last frame of a controller.

    The status of gRPC says the same, but is lost where the host sends something meanwhile.

    Parameters
    ----------
    code
        Name of the status.
    reason
        For people.
    """
    return bytes([END]) + f"{code} {reason}".encode()


def read_end(frame: bytes) -> tuple[str, str]:
    """Return the code and the reason of a controller's last frame."""
    code, _, reason = frame[1:].decode(errors="replace").partition(" ")
    return code, reason


class Assembly:
    """Joins the frames of one sender into messages.

    Parameters
    ----------
    most_bytes
        Of a message; a longer one is refused before it has come as a whole.
    """

    def __init__(self, most_bytes: int = MESSAGE_LIMIT) -> None:
        self._most = most_bytes
        self._parts: list[memoryview] = []
        self._bytes = 0

    def add(self, frame: bytes) -> bytes | None:
        """Take the next frame; return the message that it completes, or None.

        Raises
        ------
        MalformedFrameError
            It is no frame, or makes the message longer than it may be.
        """
        self._bytes = check(frame, self._bytes, self._most)
        if frame[0] == ALIVE:
            return None
        self._parts.append(memoryview(frame)[1:])
        if frame[0] == PART:
            return None
        message = b"".join(self._parts)
        self._parts.clear()
        self._bytes = 0
        return message


def check(frame: bytes, before: int = 0, most: int = MESSAGE_LIMIT) -> int:
    """Return how many bytes of its message have come with a frame.

    Parameters
    ----------
    frame
        What has come.
    before
        Bytes of the same message that came before.
    most
        Bytes that a message may have.

    Raises
    ------
    MalformedFrameError
        It is no frame, or makes the message longer than it may be.
    """
    if not frame:
        raise MalformedFrameError("an empty frame")
    if len(frame) > MOST_BYTES:
        raise MalformedFrameError(f"a frame of {len(frame)} bytes; at most {MOST_BYTES} are taken")
    if frame[0] == ALIVE:
        if len(frame) > 1:
            raise MalformedFrameError(f"a heartbeat of {len(frame)} bytes")
        return before
    if frame[0] not in (PART, LAST):
        raise MalformedFrameError(f"a frame of the unknown kind {frame[0]}")
    if before + len(frame) - 1 > most:
        raise MalformedFrameError(f"a message of more than {most} bytes")
    return before + len(frame) - 1
