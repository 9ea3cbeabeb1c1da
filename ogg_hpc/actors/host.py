"""What runs environment processes and speaks with one learner, wherever it lives."""

from __future__ import annotations

import math
import os
import select
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

from ogg_hpc.actors.channel import Channel
from ogg_hpc.actors.collectors.registry import COLLECTORS
from ogg_hpc.actors.environments.registry import module_of
from ogg_hpc.actors.message import (
    PROTOCOL,
    MalformedMessageError,
    Message,
    decode_head,
    encode,
)
from ogg_hpc.actors.processes import Processes
from ogg_hpc.actors.schema import Schema
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.package_version import package_version

_START_LIMIT = 60.0  # seconds that a process may take to make its environments, or its lease
_LOSSES_IN_A_ROW = 3
_FAREWELL = 1.0  # seconds that processes have to close their environments
_LOOK = 0.5  # seconds between looks whether all processes make progress


@dataclass(eq=False)
class _Member:
    """The slots that one process steps, and what is known of the present process."""

    slots: dict[int, int]  # incarnation by slot
    number: int
    channel: Channel
    ready: bool = False
    version: int | None = None  # of the weights that it was sent
    granted: set[int] = field(default_factory=set)
    silence: float = 0.0  # seconds without a word although it has something to do
    last_words: Message | None = None
    losses: int = 0  # since one has answered a grant in full


class Host:
    """Keeps environment processes at work for a learner, without ever waiting for one of them.

    A process that ends, or makes no progress for the lease that the learner has set, is killed with
    all that it has started, and another takes its slots, in their next incarnation. After three in
    a row without an answer to a grant in between, or an error of the settings, the host gives up.

    Bytes of the learner go to `handle`, bytes for it come from `poll`; how they travel is the
    caller's. As a context manager it closes itself.

    Parameters
    ----------
    processes
        Most environment processes.
    environments
        Most environments of a process.

    Attributes
    ----------
    capacity : int
        Most slots.
    finished : bool
        Whether the learner has said that the run is over.
    failure : str or None
        Why the host has given up, which it has also told the learner.
    """

    def __init__(self, processes: int, environments: int) -> None:
        self.capacity = processes * environments
        self.finished = False
        self.failure: str | None = None
        self._most = processes
        self._processes = Processes()
        self._members: list[_Member] = []
        self._welcome = Message("welcome")  # of which nothing is known yet
        self._lease = math.inf
        self._weights: tuple[int, bytes] | None = None
        self._outgoing: list[bytes] = []
        self._schema = ""
        self._looked = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def hello(self) -> bytes:
        """Return what the learner is told first, after each connection."""
        fields = {
            "protocol": PROTOCOL,
            "package": package_version(),
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "capacity": self.capacity,
            "schema": self._schema,
        }
        return encode(Message("hello", fields))

    def handle(self, data: bytes) -> None:
        """Do what the learner asks for.

        Raises
        ------
        MalformedMessageError
            It asks for nothing that there is.
        SettingsError
            It refuses this host.
        """
        message = decode_head(data)
        match message.kind:
            case "welcome":
                self._begin(message)
            case "weights":
                if message.text("run") != self._welcome.text("run"):
                    raise MalformedMessageError("weights: they are of another run")
                self._weights = message.integer("version"), data
            case "grant":
                self._grant(message)
            case "cut":
                slots = set(message.numbers("slots"))
                for member in self._members:
                    if not slots.isdisjoint(member.granted):
                        member.channel.send(data)
            case "finish":
                self.finished = True
            case "refuse":
                raise SettingsError(f"the learner refuses this host: {message.text('reason')}")
            case kind:
                raise MalformedMessageError(f"{kind}: a host knows no such message")

    def poll(self, seconds: float, wake: Sequence[int] = ()) -> list[bytes]:
        """Return messages for the learner, as soon as there are any.

        Parameters
        ----------
        seconds
            How long to wait for the first at most.
        wake
            Descriptors that end the wait once they can be read.
        """
        end = time.monotonic() + seconds
        while True:
            left = 0.0 if self._outgoing else max(0.0, end - time.monotonic())
            woken = self._look(min(left, _LOOK), wake)
            if self._outgoing or woken or time.monotonic() >= end:
                messages, self._outgoing = self._outgoing, []
                return messages

    def leave(self, seconds: float) -> list[bytes]:
        """End all processes; return what is left to say to the learner, ``goodbye`` at last.

        Parameters
        ----------
        seconds
            How long they have to answer, after their next step, and to close their environments;
            then they are killed.
        """
        self.finished = True
        for member in self._members:
            member.channel.send(encode(Message("finish")))
        end = time.monotonic() + seconds
        while self._members and time.monotonic() < end:
            self._look(max(0.0, end - time.monotonic()))
        self._kill_all()
        self._say("goodbye", {})
        messages, self._outgoing = self._outgoing, []
        return messages

    def close(self) -> None:
        """End all processes: asked to at first, then killed; nothing is left of them."""
        self.leave(_FAREWELL)
        self._processes.close()

    def _begin(self, welcome: Message) -> None:
        """Start processes for the slots of a welcome; those of an earlier one are ended."""
        self._kill_all()
        self._outgoing = []  # of no interest to this learner
        self._welcome, self._weights, self._lease = welcome, None, welcome.number("lease")
        algorithm, environment = welcome.text("algorithm"), welcome.text("environment")
        collector = COLLECTORS.get(algorithm, "").split(":")[0]
        modules = [module for module in (collector, module_of(environment)) if module]
        self._processes.prepare(modules)
        slots = sorted(welcome.slots("slots").items())
        most = min(self._most, len(slots))
        # Neighbours together, as evenly as it goes.
        edges = [len(slots) * i // most for i in range(most + 1)] if most else [0]
        self._members = [self._start(dict(slots[a:b])) for a, b in pairwise(edges)]

    def _start(self, slots: dict[int, int], losses: int = 0) -> _Member:
        number, channel = self._processes.start()
        channel.send(encode(Message("welcome", {**self._welcome.fields, "slots": slots})))
        return _Member(slots, number, channel, losses=losses)

    def _grant(self, grant: Message) -> None:
        steps, meant = grant.slots("steps"), grant.slots("incarnations")
        if self._weights is None or self._weights[0] != grant.integer("version"):
            raise MalformedMessageError("grant: its weights have not come before it")
        version, weights = self._weights
        for member in self._members:
            slots = {
                slot: incarnation
                for slot, incarnation in member.slots.items()
                if slot in steps and meant.get(slot) == incarnation
            }
            if not slots:
                continue
            if member.version != version:
                member.channel.send(weights)
                member.version = version
            share = {"steps": {slot: steps[slot] for slot in slots}, "incarnations": slots}
            member.channel.send(encode(Message("grant", {**grant.fields, **share})))
            member.granted |= slots.keys()

    def _look(self, seconds: float, wake: Sequence[int] = ()) -> bool:
        """Take in what has happened, waiting for it so long; return whether woken."""
        ready = self._wait(seconds, wake)
        # Before what they have said, so that of those that have ended nothing is missed.
        ended = self._processes.ended()
        # A look that comes late means that this process stood still itself.
        now = time.monotonic()
        passed, self._looked = min(now - self._looked, 2 * _LOOK), now
        for member in list(self._members):
            member.silence += passed
            how = None
            if ended is None:
                how = "has gone with the server of processes"
            elif member.number in ended:
                how = ended[member.number]
            if how or member.channel.fileno() in ready:
                how = self._listen(member) or how
            how = how or self._is_late(member)
            if how:
                self._processes.kill(member.number)
                self._lose(member, f"an environment process {how}")
            if self.failure is not None:
                break
        return not ready.isdisjoint(wake)

    def _wait(self, seconds: float, wake: Sequence[int]) -> set[int]:
        """Wait until a process, or who may wake, has something; return whose descriptors."""
        poll = select.poll()
        for descriptor in (*self._processes.filenos(), *wake):
            poll.register(descriptor, select.POLLIN)
        for member in self._members:
            channel = member.channel
            if not channel.ended:
                channel.flush()
                poll.register(channel, select.POLLIN | (channel.sending and select.POLLOUT))
        return {descriptor for descriptor, _ in poll.poll(math.ceil(seconds * 1000))}

    def _listen(self, member: _Member) -> str | None:
        """Take in what a process has said; return what is wrong with that, if anything is."""
        try:
            for data in member.channel.receive():
                self._take(member, decode_head(data), data)
                member.silence = 0.0
        except MalformedMessageError as error:
            return f"has sent what is no message: {error}"
        return None

    def _is_late(self, member: _Member) -> str | None:
        """Return how a process has stood still for too long, if it has."""
        if self.finished or (member.ready and not member.granted):
            member.silence = 0.0
        limit = self._lease if member.ready else max(_START_LIMIT, self._lease)
        if member.silence <= limit:
            return None
        what = "step" if member.ready else "environment"
        return f"has made no {what} for {limit:g} s (collection.lease)"

    def _take(self, member: _Member, message: Message, data: bytes) -> None:
        match message.kind:
            case "failed":
                member.last_words = message
                return
            case "ready":
                member.ready = True
                self._schema = Schema.from_json(message.fields.get("schema")).digest()
            case "fragment":
                member.granted.discard(message.integer("slot"))
                if message.flag("complete"):
                    member.losses = 0
        self._outgoing.append(data)

    def _lose(self, member: _Member, how: str) -> None:
        """Put another process in the place of one that is gone, unless there have been too many."""
        member.channel.close()
        self._members.remove(member)
        if self.finished:
            return
        final, reason = False, how
        if member.last_words is not None:
            final, reason = member.last_words.flag("final"), member.last_words.text("reason")
        losses = member.losses + 1
        if final or losses == _LOSSES_IN_A_ROW:
            self.failure = reason if final else f"{losses} times in a row: {reason}"
            self._say("failed", {"reason": self.failure})
            self._kill_all()
            return
        slots = {slot: incarnation + 1 for slot, incarnation in member.slots.items()}
        self._say("lost", {"slots": slots, "reason": reason})
        self._members.append(self._start(slots, losses))

    def _say(self, kind: str, fields: Mapping[str, Any]) -> None:
        self._outgoing.append(encode(Message(kind, fields)))

    def _kill_all(self) -> None:
        for member in self._members:
            self._processes.kill(member.number)
            member.channel.close()
        self._members = []
