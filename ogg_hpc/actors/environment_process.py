"""A process that steps environments for its host."""

from __future__ import annotations

import faulthandler
import os
import select
import socket
import time
import traceback
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from ogg_hpc.actors.channel import Channel
from ogg_hpc.actors.collectors.collector import Collector
from ogg_hpc.actors.collectors.registry import collector_class
from ogg_hpc.actors.message import MalformedMessageError, Message, decode, encode
from ogg_hpc.actors.weights import Weights
from ogg_hpc.errors import OggError

# Seconds between words on progress, and how many there are in a lease at least.
_PERIOD, _WORDS_PER_LEASE = 1.0, 4
_LONGEST_REASON = 10_000  # characters


@dataclass(eq=False)
class _Order:
    message: Message
    cut: bool = False


class EnvironmentProcess:
    """Obeys its host: makes environments, loads weights, collects what is granted.

    Parameters
    ----------
    connection
        To the host. When it ends, so does the process, at the next look: before the next step.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._channel = Channel(connection)
        self._orders: deque[_Order] = deque()
        self._order = _Order(Message("none"))  # the one that is being obeyed
        self._period = _PERIOD
        self._told = 0.0  # when progress was last told

    def run(self) -> NoReturn:
        """Obey until the host says ``finish``, is gone, or an environment fails."""
        faulthandler.enable()
        try:
            self._obey_all()
        except BaseException as error:
            self._fail(error, final=False)
        os._exit(0)  # whatever threads an environment has left

    def _obey_all(self) -> None:
        welcome = self._next()
        if welcome.kind == "finish":
            return
        self._period = min(_PERIOD, welcome.number("lease") / _WORDS_PER_LEASE)
        try:
            collector = collector_class(welcome.text("algorithm"))(welcome)
        except OggError as error:
            self._fail(error, final=True)
        ready = {"slots": welcome.slots("slots"), "schema": collector.schema.to_json()}
        self._send(Message("ready", ready))
        version = None
        while (order := self._next()).kind != "finish":
            if order.kind == "weights":
                weights = Weights.of(order)
                collector.load(weights)
                version = weights.version
            elif order.kind == "grant":
                if order.integer("version") != version:
                    raise MalformedMessageError(f"a grant for other weights than {version}")
                self._collect(collector, order)
        collector.close()

    def _collect(self, collector: Collector, grant: Message) -> None:
        self._told = time.monotonic()
        for fragment in collector.collect(grant, self._is_cut, self._progress):
            self._send(fragment.message())

    def _is_cut(self) -> bool:
        self._listen()
        return self._order.cut

    def _progress(self, steps: Mapping[int, int]) -> None:
        now = time.monotonic()
        if now - self._told >= self._period:
            self._told = now
            self._send(Message("progress", {"slots": dict(steps)}))

    def _next(self) -> Message:
        while not self._orders:
            _wait(self._channel, select.POLLIN)
            self._listen()
        self._order = self._orders.popleft()
        return self._order.message

    def _listen(self) -> None:
        """Take in what the host has said by now."""
        for data in self._channel.receive():
            message = decode(data)
            if message.kind in ("cut", "finish"):
                for order in (self._order, *self._orders):
                    order.cut |= message.kind == "finish" or _is_of(order.message, message)
            if message.kind != "cut":
                self._orders.append(_Order(message))
        if self._channel.ended:
            os._exit(1)

    def _send(self, message: Message) -> None:
        self._channel.send(encode(message))
        while self._channel.sending:
            _wait(self._channel, select.POLLOUT)
            self._channel.flush()

    def _fail(self, error: BaseException, final: bool) -> NoReturn:
        """Tell the host why, and end; `final` if another process would fail alike."""
        reason = str(error) if isinstance(error, OggError) else traceback.format_exc().strip()
        self._send(Message("failed", {"reason": reason[-_LONGEST_REASON:], "final": final}))
        os._exit(1)


def _is_of(order: Message, cut: Message) -> bool:
    """Return whether a cut is meant for a grant."""
    return (
        order.kind == "grant"
        and order.integer("round") == cut.integer("round")
        and not order.slots("steps").keys().isdisjoint(cut.numbers("slots"))
    )


def _wait(channel: Channel, event: int) -> None:
    poll = select.poll()
    poll.register(channel, event)
    poll.poll()
