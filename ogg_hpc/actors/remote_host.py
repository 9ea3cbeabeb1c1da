"""A host outside the job: a controller brings it to a learner, and it comes back when it can."""

from __future__ import annotations

import math
import sys
import time
from contextlib import suppress
from dataclasses import dataclass

from ogg_hpc.actors.gateway.announcement import node_name
from ogg_hpc.actors.gateway.backoff import Backoff
from ogg_hpc.actors.gateway.connection import Connection, End, Target
from ogg_hpc.actors.gateway.event_loop_thread import EventLoopThread
from ogg_hpc.actors.gateway.finding import Controller
from ogg_hpc.actors.host import Host
from ogg_hpc.errors import OggError, SettingsError
from ogg_hpc.runtime.stop import Stop

_LOOK = 0.1  # seconds between looks at what is due
_LEAVE = 5.0  # seconds that a host takes at most to leave in order
_LEASES = 2  # that a connection has to last for the pauses to begin anew


@dataclass(frozen=True)
class Patience:
    """How a host deals with a controller that is not there.

    Attributes
    ----------
    lease : float
        Seconds without a sign of life after which the controller is taken for gone.
    least_pause, most_pause : float
        Seconds that the pauses between attempts begin and end with; see `Backoff`.
    give_up_after : float
        Seconds without a controller after which the host ends; 0 for never.
    """

    lease: float = 5.0
    least_pause: float = 0.5
    most_pause: float = 30.0
    give_up_after: float = 600.0


class RemoteHost:
    """Brings a host and a controller together, until the run is finished or it has to stop.

    Parameters
    ----------
    host
        What runs the environments.
    controller
        Where the controller is to be found.
    stop
        Tells whether this process has been asked to come to an end.
    patience
        What happens while there is no controller.
    """

    def __init__(
        self, host: Host, controller: Controller, stop: Stop, patience: Patience | None = None
    ) -> None:
        self._host = host
        self._controller = controller
        self._stop = stop
        self._patience = patience or Patience()
        self._backoff = Backoff(self._patience.least_pause, self._patience.most_pause)
        self._met = time.monotonic()  # when there was a controller

    def run(self) -> None:
        """Serve learners until the run is finished, or this process has been asked to stop.

        Asked to stop, it lets its environments answer after their next step, and leaves.

        Raises
        ------
        SettingsError
            The controller or the learner refuses this host, or there is none for too long.
        InputError
            What is to tell of the controller is not what it should be.
        OggError
            The environments cannot be run.
        """
        with EventLoopThread() as thread:
            self._run(thread)

    def _run(self, thread: EventLoopThread) -> None:
        while not self._stop():
            if not self._controller.announced:
                self._pause(f"{self._controller.name} is not there yet")
                continue
            target = self._controller.find()
            if target is None:
                self._say("the run is finished")
                return
            end, reason = self._serve(thread, target)
            if end is End.REFUSED:
                raise SettingsError(f"{self._controller.name} refuses this host: {reason}")
            if end is End.FINISHED:
                self._say("the run is finished")
                return
            if not self._stop():
                self._pause(reason)

    def _serve(self, thread: EventLoopThread, target: Target) -> tuple[End, str]:
        """Carry messages between host and controller until the connection ends."""
        connection = Connection(thread, target, self._patience.lease)
        host = self._host
        served_since = math.inf
        try:
            connection.send(host.hello())
            welcomed = False
            while True:
                messages = host.poll(_LOOK, [connection.fileno()])
                if welcomed:  # what came before is of another connection
                    for message in messages:
                        connection.send(message)
                connection.show_life()
                end = connection.end
                for message in connection.received():
                    if not welcomed:
                        self._say(f"serves {target.address}")
                        served_since = time.monotonic()
                    welcomed = True
                    host.handle(message)
                if connection.heard:
                    self._met = time.monotonic()
                if host.failure is not None:
                    self._leave(connection)
                    raise OggError(host.failure)
                if host.finished:
                    self._leave(connection)
                    return End.FINISHED, ""
                if end is not None:
                    if time.monotonic() - served_since > _LEASES * self._patience.lease:
                        self._backoff.reset()
                    return end, connection.reason
                if self._stop():
                    self._say("leaves, as it was asked to")
                    self._leave(connection)
                    return End.LOST, "left"
        finally:
            connection.close()

    def _leave(self, connection: Connection) -> None:
        """Let the environments answer, and go."""
        for message in self._host.leave(self._patience.lease / 2):
            connection.send(message)
        connection.leave(_LEAVE)

    def _pause(self, reason: str) -> None:
        """Wait before the next attempt, or give up.

        Raises
        ------
        SettingsError
            There has been no controller for too long.
        """
        now = time.monotonic()
        alone, limit = now - self._met, self._patience.give_up_after
        if limit and alone > limit:
            raise SettingsError(
                f"no controller at {self._controller.name} for {alone:.0f} s: {reason}"
            )
        pause = self._backoff.pause()
        self._say(f"{reason}; the next attempt is in {pause:.1f} s")
        while not self._stop() and (left := now + pause - time.monotonic()) > 0:
            self._host.poll(min(left, _LOOK))  # what it says is for nobody

    def _say(self, text: str) -> None:
        with suppress(OSError):
            print(f"{node_name()}: {text}", file=sys.stderr, flush=True)
