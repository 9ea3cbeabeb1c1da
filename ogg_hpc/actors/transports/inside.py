"""The way to the host in the learner's own process."""

from __future__ import annotations

from typing import Protocol

from ogg_hpc.actors.message import Message, encode


class NearHost(Protocol):
    """What is asked of a host that is an object of this process; see `ogg_hpc.actors.host`."""

    def hello(self) -> bytes:
        """Return the message with which it begins."""
        ...

    def handle(self, message: bytes) -> None:
        """Take a message from the learner."""
        ...

    def poll(self, seconds: float) -> list[bytes]:
        """Return messages for the learner, after at most so many seconds for the first."""
        ...

    def close(self) -> None:
        """End its environment processes."""
        ...


class InsideTransport:
    """The way to the host in the learner's own process; see `Transport`.

    Parameters
    ----------
    host
        The host, which is closed with the way.
    """

    members: int | None = 1

    def __init__(self, host: NearHost) -> None:
        self._host = host
        self._first: list[bytes] = [host.hello()]

    def send(self, host: int, data: bytes) -> None:
        """See `Transport.send`."""
        self._host.handle(data)

    def poll(self, seconds: float) -> list[tuple[int, bytes | None]]:
        """See `Transport.poll`."""
        first, self._first = self._first, []
        return [(0, data) for data in first or self._host.poll(seconds)]

    def drop(self, host: int, reason: str) -> None:
        """See `Transport.drop`."""
        self._host.handle(encode(Message("refuse", {"reason": reason})))

    def close(self, finished: bool = True) -> None:
        """See `Transport.close`."""
        self._host.close()
