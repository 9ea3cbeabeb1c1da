"""A learner and its hosts: what it asks of them, and what it takes from them."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.actors.hosts import Hosts
from ogg_hpc.actors.measurement import Measurement
from ogg_hpc.actors.members import Grant, Slot
from ogg_hpc.actors.message import MalformedMessageError, encode
from ogg_hpc.actors.round import Round
from ogg_hpc.actors.setup import Setup
from ogg_hpc.actors.transport import Transport
from ogg_hpc.actors.waiting import NoActorsError, Waiting
from ogg_hpc.actors.weights import Weights
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.log import LOG
from ogg_hpc.runtime.stop import Stop, never

PHASES = ("broadcast", "collect", "wait")
"""What the clock of a cell tells apart: sending; most slots at work; waiting for the slowest, or
for anybody at all."""

_TICK = 0.02  # seconds between looks at what is due


class Cell:
    """A learner's hosts, which may come and go at any time.

    Slots are numbered as hosts come.

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
        self._settings = setup.settings.collection
        self._clock, self._stop, self._tell, self._now = clock, stop, tell, now
        self.run = secrets.token_hex(8)
        self.version = -1
        self.measurement = Measurement()
        self._hosts = Hosts(transports, setup, self.run, self.measurement, self, tell, now)
        self._members = self._hosts.members
        self._waiting = Waiting(self._settings.wait_for_actors, tell, now)
        self._begun = False
        self._weights = b""
        self._rounds = 0
        self._round: Round | None = None  # the one under way, if experience has to be of one
        self._fragments: list[Fragment] = []  # taken in and not yet handed out

    @property
    def slots(self) -> list[int]:
        """The slots of which something may be asked now."""
        return [slot.number for slot in self._members.live()]

    def check(self) -> None:
        """Find out whether there can be as many hosts as the run waits for.

        Raises
        ------
        SettingsError
            There never can.
        """
        least, most = self._settings.minimum_hosts, self._hosts.most
        if most is not None and least > most:
            raise SettingsError(
                f"collection.minimum_hosts is {least}, and a learner has {most} here at most"
            )

    def resume_at(self, step: int) -> None:
        """Take it that the run goes on from a step: hosts that come draw other numbers then."""
        self._hosts.since = step

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
        self._hosts.give_up_on(self._members.slots.values())  # left by a round that was stopped
        self._fragments = []
        if not self._begin():
            return []
        with self._clock("collect"):
            self._listen(0.0)  # who has come or gone since the last round
            weights = {slot.number: slot.weight for slot in self._members.live()}
            settings = self._settings
            self._round = ended = Round(steps, weights, settings.cutoff, settings.patience)
            self._rounds += 1
            self.measurement.rounds += 1
            self._turn(lambda state: state.done or state.most_are_done)
        with self._clock("wait"):
            self._turn(lambda state: state.done)
        self._round = None
        self._learn_speeds(ended)
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
                if self._fragments or self._now() >= end or self._stop():
                    return self._take_fragments()

    def close(self, finished: bool = True) -> None:
        """End the ways to the hosts, and the hosts with them.

        Parameters
        ----------
        finished
            Whether the run is finished.
        """
        self._hosts.close(finished)

    # What becomes of slots; see `SlotEvents`.

    def idle(self, slot: Slot) -> None:
        """Let a slot take part in the round under way."""
        if self._round:
            self._round.join(slot.number, slot.weight)

    def left(self, slot: Slot) -> None:
        """Let others do the part of a slot in the round under way."""
        if self._round:
            self._round.leave(slot.number)

    def answered(self, slot: Slot, grant: Grant, fragment: Fragment) -> None:
        """Take what a slot has made of its grant, if it is by weights that still count."""
        staleness = self.version - fragment.version
        if staleness < 0 or (self._round and staleness):
            self.measurement.dropped["stale"] += 1
            self.left(slot)
            self.idle(slot)
            return
        if self._round:
            if fragment.steps > grant.steps:
                raise MalformedMessageError("fragment: more steps than were granted")
            self._round.deliver(slot.number, fragment.steps, self._now())
        if fragment.steps:
            self._fragments.append(fragment)
            self.measurement.take(fragment.steps, staleness)

    def _turn(self, until: Callable[[Round], bool]) -> None:
        """Ask for what the round wants and take what comes, until a condition holds."""
        assert self._round
        while not until(self._round) and not self._stop():
            orders = self._round.orders(self._now())
            self._hosts.give_up_on(self._members.slots[number] for number in orders.silent)
            self._hosts.cut(self._rounds, orders.cuts)
            self._grant(orders.grants, {})
            self._listen(_TICK)

    def _grant(self, steps: Mapping[int, int], fields: Mapping[str, Any]) -> None:
        if not steps:
            return
        with self._clock("broadcast"):
            self._hosts.grant(self._rounds, steps, self.version, self._weights, fields)

    def _listen(self, seconds: float) -> None:
        self._hosts.listen(seconds)
        if any(slot.live for slot in self._members.slots.values()):
            self._waiting.over()
        else:
            self._check_wait("there is no environment that could be stepped")

    def _take_fragments(self) -> list[Fragment]:
        fragments, self._fragments = self._fragments, []
        return fragments

    def _begin(self) -> bool:
        """Wait for the hosts that a run begins with; return False if asked to stop before."""
        wanted = max(self._settings.minimum_hosts, self._hosts.expected)
        with self._clock("wait"):
            while not self._begun and not self._stop():
                if self._hosts.settled >= wanted and self.slots:
                    self._begun = True
                else:
                    self._check_wait(f"{self._hosts.settled} of {wanted} hosts are ready")
                    self._hosts.listen(_TICK)
        return self._begun

    def _check_wait(self, situation: str) -> None:
        words = self._hosts.last_words
        reason = f"; the last one gave up: {words}" if words else ""
        if self._hosts.nobody_can_come:
            raise NoActorsError(f"no actor is left, and none can come{reason}")
        self._waiting.goes_on(situation, reason)

    def _learn_speeds(self, ended: Round) -> None:
        """Let the next round ask of each slot what it can manage."""
        for number, weight in ended.weights().items():
            slot = self._members.slots.get(number)
            if slot is None or slot.round != self._rounds:  # another incarnation
                continue
            if slot.weight == 1 and weight < 1:
                times = ended.slowness(number)
                how = "no step in time" if times == math.inf else f"{times:.1f} times slower"
                self._tell(
                    f"slot {number} ({slot.host.name}) was cut: {how}; others do its part, "
                    "until it keeps up"
                )
            elif slot.weight < 1 and weight == 1:
                self._tell(f"slot {number} ({slot.host.name}) keeps up again")
            slot.weight = weight
