"""The way to hosts on ranks of the same job, from both of its ends."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ogg_hpc.actors.message import Message, encode
from ogg_hpc.actors.transports.inside import NearHost
from ogg_hpc.runtime.mailbox import Mailbox

_END = b""  # no message is empty
# Seconds that a host waits for its environments before it looks for letters: the fewest and the
# most, in between a part of how long nothing has happened.
_SHORTEST, _LONGEST, _PART = 2e-4, 5e-3, 0.05


class MPITransport:
    """The way of a learner to the ranks that act for it; see `Transport`.

    Parameters
    ----------
    mailbox
        That of this rank.
    ranks
        The ranks in the communicator of the mailbox, which are the numbers of the hosts.
    """

    def __init__(self, mailbox: Mailbox, ranks: Sequence[int]) -> None:
        self._mailbox, self._ranks = mailbox, ranks
        self.members: int | None = len(ranks)

    def send(self, host: int, data: bytes) -> None:
        """See `Transport.send`."""
        self._mailbox.post(host, data)

    def poll(self, seconds: float) -> list[tuple[int, bytes | None]]:
        """See `Transport.poll`."""
        return [(rank, data) for rank, data in self._mailbox.arrived(seconds)]

    def drop(self, host: int, reason: str) -> None:
        """See `Transport.drop`."""
        self._mailbox.post(host, encode(Message("refuse", {"reason": reason})))

    def close(self, finished: bool = True) -> None:
        """See `Transport.close`."""
        for rank in self._ranks:
            self._mailbox.post(rank, _END)


def act(mailbox: Mailbox, learner: int, host: NearHost) -> None:
    """Be the host of a rank until its learner closes the way; the whole life of an actor rank.

    Parameters
    ----------
    mailbox
        That of this rank.
    learner
        The learner's rank in the communicator of the mailbox.
    host
        The host, which is closed at the end.
    """
    try:
        with mailbox.watched():
            mailbox.post(learner, host.hello())
            _relay(mailbox, learner, host)
    finally:
        host.close()


def _relay(mailbox: Mailbox, learner: int, host: NearHost) -> None:
    since = time.monotonic()
    while True:
        letters = mailbox.arrived()
        for _, data in letters:
            if data == _END:
                return
            host.handle(data)
        idle = time.monotonic() - since
        answers = host.poll(0.0 if letters else min(max(_SHORTEST, _PART * idle), _LONGEST))
        for data in answers:
            mailbox.post(learner, data)
        if letters or answers:
            since = time.monotonic()
