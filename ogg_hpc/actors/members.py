"""The hosts of a learner, and the slots that they hold."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Address(NamedTuple):
    """Where a host is reached: the number of its transport, and its own on that."""

    transport: int
    host: int


class Grant(NamedTuple):
    """What was asked of a slot."""

    round: int
    steps: int


@dataclass(eq=False)
class Member:
    """A host that is there.

    Attributes
    ----------
    address
        Where it is reached.
    name
        For people.
    slots
        The slots that it holds.
    version
        Of the weights that it was sent last; -1 for none.
    silence
        Seconds for which this learner has listened in vain, while the host had a grant.
    """

    address: Address
    name: str
    slots: list[Slot] = field(default_factory=list)
    version: int = -1
    silence: float = 0.0

    @property
    def ready(self) -> bool:
        """Whether all its slots can be stepped."""
        return all(slot.ready for slot in self.slots)


@dataclass(eq=False)
class Slot:
    """An environment of a host.

    Attributes
    ----------
    number
        Its number in its learner.
    host
        Who holds it.
    incarnation
        How often it was started anew.
    ready
        Whether it can be stepped.
    weight
        The part of a full share that it can manage in time.
    grant
        What it has not yet answered.
    void
        Whether that answer is waited for no longer.
    round
        When this incarnation was granted something last; -1 before the first time.
    sequence
        Number of its last fragment; -1 before the first of an incarnation.
    """

    number: int
    host: Member
    incarnation: int
    ready: bool = False
    weight: float = 1.0
    grant: Grant | None = None
    void: bool = False
    round: int = -1
    sequence: int = -1

    @property
    def live(self) -> bool:
        """Whether something may be asked of it, now or when it has answered."""
        return self.ready and not self.void

    @property
    def working(self) -> bool:
        """Whether its answer is waited for."""
        return self.grant is not None and not self.void

    def restart(self, incarnation: int) -> None:
        """Forget all of what was before: it is started anew."""
        self.incarnation = incarnation
        self.ready, self.weight, self.round, self.sequence = False, 1.0, -1, -1
        self.answered()

    def answered(self) -> None:
        """Take it that nothing more comes under its grant."""
        self.grant, self.void = None, False


class Members:
    """The hosts that are there, and their slots.

    A host gets the lowest free slots, so that slots are 0, 1, 2, … without gaps as long as none
    leaves. A slot that is held again is in its next incarnation.

    Attributes
    ----------
    hosts : dict of Address to Member
    slots : dict of int to Slot
    """

    def __init__(self) -> None:
        self.hosts: dict[Address, Member] = {}
        self.slots: dict[int, Slot] = {}
        self._incarnations: dict[int, int] = {}  # of slots that nobody holds, the next one

    def join(self, address: Address, name: str, capacity: int) -> Member:
        """Take in a host of so many slots."""
        host = self.hosts[address] = Member(address, name)
        free = (number for number in itertools.count() if number not in self.slots)
        for number in list(itertools.islice(free, capacity)):
            slot = Slot(number, host, self._incarnations.pop(number, 0))
            self.slots[number] = slot
            host.slots.append(slot)
        return host

    def leave(self, address: Address) -> Member | None:
        """Let a host go; return it, or None if it was not there."""
        host = self.hosts.pop(address, None)
        for slot in host.slots if host else ():
            del self.slots[slot.number]
            self._incarnations[slot.number] = slot.incarnation + 1
        return host

    def live(self) -> Iterator[Slot]:
        """Yield the slots of which something may be asked, in order."""
        return (slot for _, slot in sorted(self.slots.items()) if slot.live)
