"""A learner and its hosts: what it asks of them, and what it takes from them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ogg_hpc.actors.fragment import Fragment, Layout
from ogg_hpc.actors.measurement import Measurement
from ogg_hpc.actors.members import Address, Grant, Host, Members, Slot
from ogg_hpc.actors.message import MalformedMessageError, Message, decode, encode
from ogg_hpc.actors.round import Round
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.actors.transport import Transport
from ogg_hpc.actors.weights import Weights
from ogg_hpc.errors import OggError
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.log import LOG
from ogg_hpc.runtime.stop import Stop, never

PHASES = ("broadcast", "collect", "wait")
"""What the clock of a cell tells apart: weights on their way; most slots at work; waiting for the
slowest, or for anybody at all."""

_TICK = 0.02  # seconds between looks at what is due
_SHARED_TICK = 0.002  # the same where several transports are to be looked at
_SAY_EVERY = 10.0  # seconds between words on what is waited for
_LEASES = 2  # of a host in leases of its processes: what it takes to see that one is frozen


class NoActorsError(OggError):
    """There is nobody who steps an environment."""


@dataclass(frozen=True)
class Setup:
    """What all hosts of a learner are told, and what they are to answer.

    Parameters
    ----------
    learner
        The number of the learner.
    settings
        The run.
    schema
        What is observed and done.
    layout
        Which arrays fragments have.
    """

    learner: int
    settings: ActorsSettings
    schema: Schema
    layout: Layout

    def welcome(self) -> dict[str, Any]:
        """Return the fields of a welcome that are the same for all hosts."""
        settings = self.settings
        return {
            "learner": self.learner,
            "environment": settings.environment.name,
            "options": settings.environment.options,
            "algorithm": settings.algorithm,
            "network": settings.network.name,
            "model": settings.network.model,
            "seed": settings.seed,
            "lease": settings.collection.lease,
        }


class Cell:
    """A learner's hosts, which may come and go at any time.

    Slots are numbered as hosts come. What comes late, twice, from an earlier incarnation or from
    another run is dropped and counted. A host that sends nonsense is refused.

    Parameters
    ----------
    transports
        The ways to the hosts; closed with the cell.
    setup
        What hosts are told.
    clock
        Has the `PHASES`.
    stop
        Tells whether this learner has been asked to come to an end.
    tell
        Says something to people.
    now
        The time, in seconds.

    Attributes
    ----------
    run : str
        A random id: versions of weights are those of this run alone.
    version : int
        Of the newest weights; -1 before the first.
    measurement : Measurement
        What collecting has cost.
    """

    def __init__(
        self,
        transports: Sequence[Transport],
        setup: Setup,
        clock: Clock,
        stop: Stop = never,
        *,
        tell: Callable[[str], None] = LOG.info,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transports, self._setup, self._clock = transports, setup, clock
        self._settings = setup.settings.collection
        self._stop, self._tell, self._now = stop, tell, now
        self.run = secrets.token_hex(8)
        self.version = -1
        self.measurement = Measurement()
        self._members = Members()
        self._weights = b""
        self._rounds = 0
        self._round: Round | None = None  # the one under way, if experience has to be of one
        self._fragments: list[Fragment] = []  # taken in and not yet handed out
        self._begun = False
        self._gone_members = 0
        self._last_words = ""
        self._waiting_since: float | None = None
        self._said = 0.0

    @property
    def slots(self) -> list[int]:
        """The slots of which something may be asked now."""
        return [slot.number for slot in self._members.live()]

    def publish(self, arrays: Mapping[str, NDArray[Any]]) -> int:
        """Make the next version of the weights; hosts get it with their next grant.

        Parameters
        ----------
        arrays
            Parameters by name, and statistics ``normaliser/…``.

        Returns
        -------
        int
            The version.
        """
        with self._clock("broadcast"):
            self.version += 1
            self._weights = encode(Weights(self.run, self.version, arrays).message())
        return self.version

    def collect(self, steps: int) -> list[Fragment]:
        """Collect so many steps by the newest weights: a round.

        Returns
        -------
        list of Fragment
            In order of the slots. Less than was asked for only if this learner was asked to stop.

        Raises
        ------
        NoActorsError
            There is nobody to ask, or not for as long as the settings allow.
        """
        for slot in self._members.slots.values():
            self._give_up_on(slot)  # what a round that was stopped has left behind
        self._fragments = []
        if not self._begin():
            return []
        with self._clock("collect"):
            self._listen(0.0)  # who has come or gone since the last round
            weights = {slot.number: slot.weight for slot in self._members.live()}
            settings = self._settings
            self._round = Round(steps, weights, settings.cutoff, settings.patience)
            self._rounds += 1
            self.measurement.rounds += 1
            self._turn(self._round, lambda state: state.done or state.most_are_done)
        with self._clock("wait"):
            self._turn(self._round, lambda state: state.done)
        self._learn_speeds(self._round)
        self._round = None
        return sorted(
            self._take_fragments(), key=lambda each: (each.slot, each.incarnation, each.sequence)
        )

    def top_up(self, outstanding: int, fields: Mapping[str, Any] | None = None) -> None:
        """Let the slots work ahead: grant steps to idle ones, by the newest weights.

        Parameters
        ----------
        outstanding
            How many steps may be granted and not yet answered, over all slots.
        fields
            What else grants say.

        Raises
        ------
        NoActorsError
            See `collect`.
        """
        if not self._begin():
            return
        live = list(self._members.live())
        left = outstanding - sum(slot.grant.steps for slot in live if slot.grant)
        idle = sorted((slot.round, slot.number) for slot in live if slot.grant is None)
        steps = {}
        for _, number in idle:
            share = min(left, max(1, outstanding // len(live)))
            if share > 0:
                steps[number] = share
                left -= share
        if steps:
            self._rounds += 1
            self._grant(dict(sorted(steps.items())), fields or {})

    def arrived(self, seconds: float) -> list[Fragment]:
        """Return what has come of what was granted by `top_up`, in the order in which it came.

        Parameters
        ----------
        seconds
            The most that it waits for a first fragment.

        Raises
        ------
        NoActorsError
            See `collect`.
        """
        with self._clock("wait"):
            end = self._now() + seconds
            while True:
                self._listen(min(_TICK, max(0.0, end - self._now())))
                self._check_presence()
                if self._fragments or self._now() >= end or self._stop():
                    return self._take_fragments()

    def close(self, finished: bool = True) -> None:
        """End the ways to the hosts, and the hosts with them.

        Parameters
        ----------
        finished
            Whether the run is finished.
        """
        for transport in self._transports:
            transport.close(finished)

    # What is asked for.

    def _turn(self, state: Round, until: Callable[[Round], bool]) -> None:
        """Ask for what a round wants and take what comes, until a condition holds."""
        while not until(state) and not self._stop():
            orders = state.orders(self._now())
            for number in orders.silent:
                self.measurement.silent += 1
                self._members.slots[number].void = True
            self._cut(orders.cuts)
            self._grant(orders.grants, {})
            self._listen(_TICK)
            self._check_presence()

    def _grant(self, steps: Mapping[int, int], fields: Mapping[str, Any]) -> None:
        for host, slots in self._by_host(steps):
            if host.version != self.version:
                with self._clock("broadcast"):
                    self._send(host, "weights", self._weights)
                host.version = self.version
            host.silence = 0.0
            for slot in slots:
                slot.grant, slot.round = Grant(self._rounds, steps[slot.number]), self._rounds
            grant = {
                **fields,
                "round": self._rounds,
                "version": self.version,
                "steps": {slot.number: steps[slot.number] for slot in slots},
                "incarnations": {slot.number: slot.incarnation for slot in slots},
            }
            self._say(host, "grant", grant)

    def _cut(self, numbers: Sequence[int]) -> None:
        self.measurement.cut += len(numbers)
        for host, slots in self._by_host(numbers):
            fields = {"round": self._rounds, "slots": [slot.number for slot in slots]}
            self._say(host, "cut", fields)

    def _by_host(self, numbers: Sequence[int] | Mapping[int, int]) -> list[tuple[Host, list[Slot]]]:
        found: dict[Address, tuple[Host, list[Slot]]] = {}
        for number in numbers:
            slot = self._members.slots[number]
            found.setdefault(slot.host.address, (slot.host, []))[1].append(slot)
        return list(found.values())

    def _say(self, host: Host, kind: str, fields: Mapping[str, Any]) -> None:
        self._send(host, kind, encode(Message(kind, fields)))

    def _send(self, host: Host, kind: str, data: bytes) -> None:
        self.measurement.sent[kind] += len(data)
        self._transports[host.address.transport].send(host.address.host, data)

    # What comes.

    def _listen(self, seconds: float) -> None:
        """Take what has come, after so many seconds for the first at most."""
        start = self._now()
        for address, data in self._poll(seconds):
            if data is None:
                self._leave(address, "has gone")
                continue
            try:
                self._take(address, data)
            except MalformedMessageError as error:
                self.measurement.dropped["malformed"] += 1
                self._refuse(address, str(error))
        # Time in which nobody listened says nothing about who was silent.
        listened = min(self._now() - start, 2 * _TICK)
        for host in self._members.hosts.values():
            if host.at_work:
                host.silence += listened
                if host.silence > _LEASES * self._settings.lease:
                    self._give_up_on_host(host)

    def _poll(self, seconds: float) -> list[tuple[Address, bytes | None]]:
        end = self._now() + seconds
        wait = seconds if len(self._transports) == 1 else min(seconds, _SHARED_TICK)
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
        self.measurement.received[message.kind] += len(data)
        if message.kind == "hello":
            self._welcome(address, message)
            return
        host = self._members.hosts.get(address)
        if host is None:
            self.measurement.dropped["unknown host"] += 1
            return
        host.silence = 0.0
        match message.kind:
            case "fragment":
                self._take_fragment(host, Fragment.of(message, self._setup.layout))
            case "progress":
                pass
            case "ready":
                self._take_ready(host, message)
            case "lost":
                self._take_lost(host, message)
            case "failed":
                self._last_words = message.text("reason")
                self._leave(address, f"gives up: {self._last_words}")
            case "goodbye":
                self._leave(address, "leaves")
            case kind:
                raise MalformedMessageError(f"{kind}: a learner knows no such message")

    def _welcome(self, address: Address, hello: Message) -> None:
        self._leave(address, "begins anew")
        name = f"{hello.text('host')}:{hello.integer('pid')}"
        host = self._members.join(address, name, hello.integer("capacity"))
        self.measurement.joined += 1
        slots = {slot.number: slot.incarnation for slot in host.slots}
        self._say(host, "welcome", {**self._setup.welcome(), "run": self.run, "slots": slots})

    def _take_ready(self, host: Host, message: Message) -> None:
        schema = Schema.from_json(message.fields.get("schema"))
        if schema != self._setup.schema:
            raise MalformedMessageError(
                "the environment of the host has other spaces than the learner's"
            )
        for slot, incarnation in self._named(host, message):
            if incarnation == slot.incarnation and not slot.ready:
                slot.ready = True
                self._rejoin(slot)

    def _take_lost(self, host: Host, message: Message) -> None:
        named = self._named(host, message)
        for slot, incarnation in named:
            if incarnation <= slot.incarnation:
                raise MalformedMessageError("lost: an incarnation that was there before")
            self._leave_round(slot)
            slot.restart(incarnation)
        self.measurement.lost += len(named)
        numbers = ", ".join(str(slot.number) for slot, _ in named)
        self._tell(f"{host.name}: {message.text('reason')}; slots {numbers} are started anew")

    def _named(self, host: Host, message: Message) -> list[tuple[Slot, int]]:
        """Return the slots that a message of a host names, all its own."""
        named = message.slots("slots")
        own = {slot.number: slot for slot in host.slots}
        if not named.keys() <= own.keys():
            raise MalformedMessageError(f"{message.kind}: a slot that the host does not hold")
        return [(own[number], value) for number, value in named.items()]

    def _take_fragment(self, host: Host, fragment: Fragment) -> None:
        slot = self._members.slots.get(fragment.slot)
        if slot is None or slot.host is not host or fragment.run != self.run:
            self._drop("another run" if fragment.run != self.run else "another host's slot")
        elif fragment.incarnation != slot.incarnation:
            self._drop("earlier incarnation")
        elif fragment.sequence <= slot.sequence:
            self._drop("duplicate")
        elif slot.grant is None or fragment.round != slot.grant.round:
            self._drop("not granted")
        else:
            self._take_answer(slot, slot.grant, fragment)

    def _take_answer(self, slot: Slot, grant: Grant, fragment: Fragment) -> None:
        """Take the answer to the grant of a slot."""
        slot.sequence = fragment.sequence
        staleness = self.version - fragment.version
        if slot.void or staleness < 0 or (self._round and staleness):
            self._drop("late" if slot.void else "stale")
            self._leave_round(slot)
            slot.answered()
            self._rejoin(slot)
            return
        if self._round:
            if fragment.steps > grant.steps:
                raise MalformedMessageError("fragment: more steps than were granted")
            self._round.deliver(slot.number, fragment.steps, self._now())
        slot.answered()
        if fragment.steps:
            self._fragments.append(fragment)
            self.measurement.take(fragment.steps, staleness)

    def _take_fragments(self) -> list[Fragment]:
        fragments, self._fragments = self._fragments, []
        return fragments

    def _drop(self, reason: str) -> None:
        self.measurement.dropped[reason] += 1

    # Who is there.

    def _rejoin(self, slot: Slot) -> None:
        """Let a slot that is idle take part in the round under way."""
        if self._round:
            self._round.join(slot.number, slot.weight)

    def _leave_round(self, slot: Slot) -> None:
        if self._round:
            self._round.leave(slot.number)

    def _give_up_on(self, slot: Slot) -> None:
        """Wait no longer for the answer of a slot, which is asked again when it has come."""
        if slot.grant and not slot.void:
            slot.void = True
            self._leave_round(slot)

    def _give_up_on_host(self, host: Host) -> None:
        self.measurement.silent += sum(bool(slot.grant and not slot.void) for slot in host.slots)
        for slot in host.slots:
            self._give_up_on(slot)
        self._tell(f"{host.name}: no word for {host.silence:.0f} s; others do its part")

    def _leave(self, address: Address, how: str) -> None:
        host = self._members.leave(address)
        if host is None:
            return
        self.measurement.left += 1
        if self._transports[address.transport].members is not None:
            self._gone_members += 1
        for slot in host.slots:
            self._leave_round(slot)
        self._tell(f"{host.name} {how}; {len(self._members.hosts)} hosts are left")

    def _refuse(self, address: Address, reason: str) -> None:
        self._leave(address, f"is refused: {reason}")
        self._transports[address.transport].drop(address.host, reason)

    def _learn_speeds(self, state: Round) -> None:
        """Let the next round ask of each slot what it can manage."""
        for number, weight in state.weights().items():
            slot = self._members.slots.get(number)
            if slot is None:
                continue
            if slot.weight == 1 and weight < 1:
                times = state.slowness(number)
                self._tell(
                    f"slot {number} ({slot.host.name}) was cut: "
                    + (f"{times:.1f} times slower than most" if times < 1e3 else "no step in time")
                    + "; it is asked for less from now on"
                )
            elif slot.weight < 1 and weight == 1:
                self._tell(f"slot {number} ({slot.host.name}) keeps up again")
            slot.weight = weight

    def _begin(self) -> bool:
        """Wait for the hosts that a run begins with; return False if asked to stop before."""
        wanted = max(
            self._settings.minimum_hosts, sum(each.members or 0 for each in self._transports)
        )
        with self._clock("wait"):
            while not self._begun and not self._stop():
                present = sum(host.ready for host in self._members.hosts.values())
                if present and present + self._gone_members >= wanted:
                    self._begun, self._waiting_since = True, None
                else:
                    self._check_wait(f"{present} of {wanted} hosts are ready")
                    self._listen(_TICK)
        return self._begun

    def _check_presence(self) -> None:
        if any(slot.live for slot in self._members.slots.values()):
            self._waiting_since = None
        else:
            self._check_wait("there is no environment that could be stepped")

    def _check_wait(self, situation: str) -> None:
        """Say now and then that actors are waited for, and not for ever."""
        now, limit = self._now(), self._settings.wait_for_actors
        if self._waiting_since is None:
            self._waiting_since = self._said = now
        waited = now - self._waiting_since
        reason = f"; the last one gave up: {self._last_words}" if self._last_words else ""
        fixed = [each.members for each in self._transports]
        if None not in fixed and self._gone_members >= sum(each or 0 for each in fixed):
            raise NoActorsError(f"no actor is left, and none can come{reason}")
        if limit and waited >= limit:
            raise NoActorsError(
                f"{situation} after {waited:.0f} s (collection.wait_for_actors){reason}"
            )
        if now - self._said >= _SAY_EVERY:
            self._said = now
            self._tell(f"{situation}: waiting for actors for {waited:.0f} s")
