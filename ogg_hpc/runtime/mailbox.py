"""Messages of bytes between ranks that do not wait for one another.

A message may come at any time, from any rank, and be of any size. Whoever has nothing else to do
looks now and then and sleeps in between, so that an idle rank leaves its core to others.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

# Seconds between two looks: the fewest and the most. In between, a part of how long nothing has
# moved, so that waiting takes hardly longer for the sleep.
_SHORTEST, _LONGEST, _PART = 5e-5, 5e-3, 0.05
_TAG = 1


class Mailbox:
    """The mailbox of a rank that is alone: nothing ever comes."""

    @property
    def pending(self) -> int:
        """How many messages were sent that have not been received, as far as this rank knows."""
        return 0

    def post(self, rank: int, data: bytes) -> None:
        """Send a message to another rank; not collective, and does not wait.

        Messages to the same rank arrive in the order in which they were sent.
        """
        raise AssertionError("a rank that is alone has nobody to write to")

    def arrived(self, seconds: float = 0.0) -> list[tuple[int, bytes]]:
        """Return the messages that have come, each with its sender; not collective.

        Sending goes on, and its memory is given back, within these calls alone.

        Parameters
        ----------
        seconds
            The most that it waits for a first message.
        """
        time.sleep(seconds)
        return []

    def watched(self) -> AbstractContextManager[None]:
        """Return a context in which the watchdog ends the job if other ranks are stopped or gone.

        For a rank that has nothing else to do than to wait for messages. Within it no collective
        may be called.
        """
        return nullcontext()

    def close(self) -> None:
        """Wait for all that was sent, and throw away what nobody has fetched (collective)."""


class _Transfer(NamedTuple):
    """A message on its way; its buffer has to stay as long."""

    request: Any
    buffer: Any


class _Queues:
    """Transfers by the other rank, in order."""

    def __init__(self) -> None:
        self._queues: dict[int, deque[_Transfer]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def add(self, rank: int, request: Any, buffer: Any) -> None:
        self._queues.setdefault(rank, deque()).append(_Transfer(request, buffer))

    def finished(self) -> Iterator[tuple[int, Any]]:
        """Yield, and forget, what has gone through: rank and buffer, none before an earlier one."""
        for rank, queue in self._queues.items():
            while queue and queue[0].request.Test():
                yield rank, queue.popleft().buffer


class MPIMailbox(Mailbox):
    """The mailbox of a rank among many (creation is collective).

    Parameters
    ----------
    mpi
        An ``mpi4py.MPI.Intracomm``.
    waiting
        Returns the context in which the watchdog counts the time, by the name of a collective.
    """

    def __init__(self, mpi: Any, waiting: Callable[[str], AbstractContextManager[None]]) -> None:
        from mpi4py import MPI

        self._MPI, self._waiting = MPI, waiting
        self._mpi = mpi.Dup()  # messages of its own, whatever else is sent
        self._leaving, self._coming = _Queues(), _Queues()
        self._moved = time.monotonic()  # when a message was sent or came last

    @property
    def pending(self) -> int:
        """See `Mailbox.pending`."""
        return len(self._leaving)

    def post(self, rank: int, data: bytes) -> None:
        """See `Mailbox.post`."""
        # Synchronous, so that one that is done has been received: see `close`.
        self._leaving.add(rank, self._mpi.Issend([data, self._MPI.BYTE], rank, _TAG), data)
        self._moved = time.monotonic()

    def arrived(self, seconds: float = 0.0) -> list[tuple[int, bytes]]:
        """See `Mailbox.arrived`."""
        end = time.monotonic() + seconds
        while True:
            messages, now = self._look(), time.monotonic()
            if messages:
                self._moved = now
            if messages or now >= end:
                return messages
            pause = min(max(_SHORTEST, _PART * (now - self._moved)), _LONGEST)
            time.sleep(min(pause, end - now))

    def watched(self) -> AbstractContextManager[None]:
        """See `Mailbox.watched`."""
        return self._waiting("mailbox")

    def close(self) -> None:
        """See `Mailbox.close`.

        Ends as the nonblocking consensus of Hoefler, Siebert and Lumsdaine (PPoPP 2010): when all
        ranks know that theirs has been received, nothing is on its way any more.
        """
        with self._waiting("mailbox"):
            while self._leaving:
                self.arrived(_LONGEST)
            everyone = self._mpi.Ibarrier()
            while not everyone.Test():
                self.arrived(_LONGEST)
            while self._coming:
                self.arrived(_LONGEST)
            self._mpi.Barrier()
        self._mpi.Free()

    def _look(self) -> list[tuple[int, bytes]]:
        for _ in self._leaving.finished():
            pass
        status = self._MPI.Status()
        while (message := self._mpi.Improbe(tag=_TAG, status=status)) is not None:
            buffer = np.empty(status.Get_count(self._MPI.BYTE), np.uint8)
            # A large one is still on its way, and its sender may be at other work.
            request = message.Irecv([buffer, self._MPI.BYTE])
            self._coming.add(status.Get_source(), request, buffer)
        return [(rank, buffer.tobytes()) for rank, buffer in self._coming.finished()]
