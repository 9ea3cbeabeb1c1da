"""What a learner asks of a way to its hosts, and what the two tell one another.

A host speaks first: ``hello``, once more after each time that it had gone. The learner answers
with ``welcome``, which names the slots that the host is to hold, or with ``refuse``. Then

=========================  ==========================================================
host → learner             when
=========================  ==========================================================
``ready`` {slots}          the environments of these slots can be stepped: {slot: incarnation}
``fragment``               the one answer to a grant of a slot
``progress`` {slots}       once a second at most, from the step loop: {slot: steps made}
``lost`` {slots, reason}   an environment process has ended or is frozen, and is started anew:
                           {slot: new incarnation}. Its grants are void. ``ready`` follows
``failed`` {reason}        the host gives up
``goodbye``                the host leaves
=========================  ==========================================================

=============================  ======================================================
learner → host                 what it asks for
=============================  ======================================================
``weights``                    to act by these from the next grant on
``grant`` {round, version,     to make so many steps in each slot: {slot: steps}. A slot has one
steps, incarnations, …}        grant at a time; void where that incarnation is gone by then
``cut`` {round, slots}         that these slots answer with what they have after their next step
``finish``                     to end
=============================  ======================================================
"""

from __future__ import annotations

from typing import Protocol


class Transport(Protocol):
    """A learner's way to some of its hosts, each of which has a number on it.

    What is sent to one host arrives whole and in order. Nothing here waits for a host.

    Attributes
    ----------
    members : int or None
        How many hosts say ``hello`` without being asked, and never again when they have gone;
        None where any number of hosts comes and goes.
    """

    members: int | None

    def send(self, host: int, data: bytes) -> None:
        """Send a message; of one to a host that has gone nothing is heard again."""
        ...

    def poll(self, seconds: float) -> list[tuple[int, bytes | None]]:
        """Return what has come, with the number of its host; None: that host has gone.

        Parameters
        ----------
        seconds
            The most that it waits for a first message.
        """
        ...

    def drop(self, host: int, reason: str) -> None:
        """Refuse a host, which is told the reason; nothing more is heard of it."""
        ...

    def close(self, finished: bool = True) -> None:
        """End the way, and the hosts with it.

        Parameters
        ----------
        finished
            Whether the run is; if not, hosts from outside the job may look for it again.
        """
        ...
