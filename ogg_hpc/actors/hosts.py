"""The hosts of a learner: who is there, what they are told, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.actors.measurement import Measurement
from ogg_hpc.actors.members import Address, Grant, Member, Members, Slot
from ogg_hpc.actors.message import MalformedMessageError, Message, decode, encode
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.setup import Setup
from ogg_hpc.actors.transport import Transport

_SHARED_WAIT = 0.002  # seconds that one of several transports is waited for
_MOST_LISTENED = 0.04  # seconds of a call of `listen` that count as listening
_KINDS = frozenset({"hello", "ready", "fragment", "progress", "lost", "failed", "goodbye"})
_LEASES = 2  # of its processes, after which a host that says nothing is taken for frozen


class SlotEvents(Protocol):
    """Who is told what becomes of slots."""

    def idle(self, slot: Slot) -> None:
        """Take it that a slot can be asked, which could not be before."""
        ...

    def left(self, slot: Slot) -> None:
        """Take it that nothing more comes of what a slot was granted, if it was."""
        ...

    def answered(self, slot: Slot, grant: Grant, fragment: Fragment) -> None:
        """Take the answer of a slot to its grant.

        Raises
        ------
        MalformedMessageError
            It is no answer to that grant.
        """
        ...


class Hosts:
    """The hosts of a learner, which may come and go at any time.

    Fragments that come late, twice, from an earlier incarnation, from another run, or that nobody
    has asked for are dropped and counted. A host that sends nonsense is refused.

    Parameters
    ----------
    transports
        The ways to the hosts.
    setup
        What hosts are told.
    run
        The id of the run.
    measurement
        What counts.
    events
        Who is told what becomes of slots.
    tell
        Says something to people.
    now
        The time, in seconds.

    Attributes
    ----------
    members : Members
        Who is there.
    last_words : str
        Why the host gave up that did so last; empty if none did.
    since : int
        Step at which the run was started or resumed, which hosts are told as they come.
    """

    def __init__(
        self,
        transports: Sequence[Transport],
        setup: Setup,
        run: str,
        measurement: Measurement,
        events: SlotEvents,
        tell: Callable[[str], None],
        now: Callable[[], float],
    ) -> None:
        self._transports, self._setup, self._run = transports, setup, run
        self._measurement, self._events, self._tell, self._now = measurement, events, tell, now
        self.members = Members()
        self.last_words = ""
        self.since = 0
        self._gone = 0  # hosts that come but once

    @property
    def expected(self) -> int:
        """How many hosts come by themselves."""
        return sum(transport.members or 0 for transport in self._transports)

    @property
    def most(self) -> int | None:
        """How many hosts there can be; None: any number."""
        fixed = all(transport.members is not None for transport in self._transports)
        return self.expected if fixed else None

    @property
    def settled(self) -> int:
        """How many hosts are ready, or will never be."""
        return self._gone + sum(host.ready for host in self.members.hosts.values())

    @property
    def nobody_can_come(self) -> bool:
        """Whether all hosts that there will ever be have gone."""
        return self.most is not None and self._gone >= self.most

    def grant(
        self,
        round_: int,
        steps: Mapping[int, int],
        version: int,
        weights: bytes,
        fields: Mapping[str, Any],
    ) -> None:
        """Ask idle slots for steps by a version of the weights, which is sent where it is not yet.

        Parameters
        ----------
        round_
            By which answers are known.
        steps
            Steps by slot.
        version, weights
            The weights and their message.
        fields
            What else the grant says.
        """
        for host, slots in self._by_host(steps):
            if host.version != version:
                self._send(host, "weights", weights)
                host.version = version
            host.silence = 0.0
            for slot in slots:
                slot.grant, slot.round = Grant(round_, steps[slot.number]), round_
            grant = {
                **fields,
                "round": round_,
                "version": version,
                "steps": {slot.number: steps[slot.number] for slot in slots},
                "incarnations": {slot.number: slot.incarnation for slot in slots},
            }
            self._say(host, "grant", grant)

    def cut(self, round_: int, numbers: Sequence[int]) -> None:
        """Ask slots to answer their grants after their next step."""
        self._measurement.cut += len(numbers)
        for host, slots in self._by_host(numbers):
            fields = {"round": round_, "slots": [slot.number for slot in slots]}
            self._say(host, "cut", fields)

    def give_up_on(self, slots: Iterable[Slot]) -> None:
        """Wait no longer for the answers of slots, which are idle again when they have come."""
        for slot in slots:
            if slot.working:
                self._measurement.silent += 1
                slot.void = True
                self._events.left(slot)

    def listen(self, seconds: float) -> None:
        """Take what has come, after so many seconds for the first message at most."""
        start = self._now()
        for address, data in self._poll(seconds):
            if data is None:
                self._leave(address, "has gone")
                continue
            try:
                self._take(address, data)
            except MalformedMessageError as error:
                self._drop("malformed")
                self._leave(address, f"is refused: {error}")
                self._transports[address.transport].drop(address.host, str(error))
        # Time in which nobody listened says nothing about who was silent.
        listened = min(self._now() - start, _MOST_LISTENED)
        for host in self.members.hosts.values():
            if any(slot.working for slot in host.slots):
                host.silence += listened
                if host.silence > _LEASES * self._setup.settings.collection.lease:
                    self._tell(f"{host.name}: no word for {host.silence:.0f} s; others do its part")
                    self.give_up_on(host.slots)

    def close(self, finished: bool) -> None:
        """End the ways to the hosts, and the hosts with them; see `Transport.close`."""
        for transport in self._transports:
            transport.close(finished)

    def _by_host(
        self, numbers: Sequence[int] | Mapping[int, int]
    ) -> list[tuple[Member, list[Slot]]]:
        found: dict[Address, tuple[Member, list[Slot]]] = {}
        for number in numbers:
            slot = self.members.slots[number]
            found.setdefault(slot.host.address, (slot.host, []))[1].append(slot)
        return list(found.values())

    def _say(self, host: Member, kind: str, fields: Mapping[str, Any]) -> None:
        self._send(host, kind, encode(Message(kind, fields)))

    def _send(self, host: Member, kind: str, data: bytes) -> None:
        self._measurement.sent[kind] += len(data)
        self._transports[host.address.transport].send(host.address.host, data)

    def _poll(self, seconds: float) -> list[tuple[Address, bytes | None]]:
        end = self._now() + seconds
        wait = seconds if len(self._transports) == 1 else min(seconds, _SHARED_WAIT)
        while True:
            came = [
                (Address(number, host), data)
                for number, transport in enumerate(self._transports)
                for host, data in transport.poll(wait)
            ]
            if came or self._now() >= end:
                return came

    def _take(self, address: Address, data: bytes) -> None:
        message = decode(data)
        if message.kind not in _KINDS:
            raise MalformedMessageError(f"{message.kind!r:.40}: a learner knows no such message")
        self._measurement.received[message.kind] += len(data)
        if message.kind == "hello":
            self._welcome(address, message)
            return
        host = self.members.hosts.get(address)
        if host is None:
            self._drop("unknown host")
            return
        host.silence = 0.0
        match message.kind:
            case "fragment":
                self._take_fragment(host, Fragment.of(message, self._setup.layout))
            case "ready":
                self._take_ready(host, message)
            case "lost":
                self._take_lost(host, message)
            case "failed":
                self.last_words = message.text("reason")
                self._leave(address, f"gives up: {self.last_words}")
            case "goodbye":
                self._leave(address, "leaves")

    def _welcome(self, address: Address, hello: Message) -> None:
        self._leave(address, "begins anew")
        name = f"{hello.text('host')}:{hello.integer('pid')}"
        host = self.members.join(address, name, hello.integer("capacity"))
        self._measurement.joined += 1
        slots = {slot.number: slot.incarnation for slot in host.slots}
        self._say(
            host, "welcome", {**self._setup.welcome(self.since), "run": self._run, "slots": slots}
        )

    def _take_ready(self, host: Member, message: Message) -> None:
        schema = Schema.from_json(message.fields.get("schema"))
        if schema != self._setup.schema:
            raise MalformedMessageError(
                "the environment of the host has other spaces than the learner's"
            )
        for slot, incarnation in self._named(host, message):
            if incarnation == slot.incarnation and not slot.ready:
                slot.ready = True
                self._events.idle(slot)

    def _take_lost(self, host: Member, message: Message) -> None:
        named = self._named(host, message)
        for slot, incarnation in named:
            if incarnation <= slot.incarnation:
                raise MalformedMessageError("lost: an incarnation that was there before")
            self._events.left(slot)
            slot.restart(incarnation)
        self._measurement.lost += len(named)
        numbers = ", ".join(str(slot.number) for slot, _ in named)
        self._tell(f"{host.name}: {message.text('reason')}; slots {numbers} are started anew")

    def _named(self, host: Member, message: Message) -> list[tuple[Slot, int]]:
        """Return the slots that a message of a host names, all its own."""
        named = message.slots("slots")
        own = {slot.number: slot for slot in host.slots}
        if not named.keys() <= own.keys():
            raise MalformedMessageError(f"{message.kind}: a slot that the host does not hold")
        return [(own[number], value) for number, value in named.items()]

    def _take_fragment(self, host: Member, fragment: Fragment) -> None:
        slot = self.members.slots.get(fragment.slot)
        if slot is None or slot.host is not host or fragment.run != self._run:
            self._drop("another run" if fragment.run != self._run else "another host's slot")
        elif fragment.incarnation != slot.incarnation:
            self._drop("earlier incarnation")
        elif fragment.sequence <= slot.sequence:
            self._drop("duplicate")
        elif slot.grant is None or fragment.round != slot.grant.round:
            self._drop("not granted")
        else:
            slot.sequence = fragment.sequence
            grant, late = slot.grant, slot.void
            slot.answered()
            if late:
                self._drop("late")
                self._events.idle(slot)
            else:
                self._events.answered(slot, grant, fragment)

    def _leave(self, address: Address, how: str) -> None:
        host = self.members.leave(address)
        if host is None:
            return
        self._measurement.left += 1
        if self._transports[address.transport].members is not None:
            self._gone += 1
        for slot in host.slots:
            self._events.left(slot)
        self._tell(f"{host.name} {how}; {len(self.members.hosts)} hosts are left")

    def _drop(self, reason: str) -> None:
        self._measurement.dropped[reason] += 1
