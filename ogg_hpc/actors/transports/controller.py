"""A learner's way to hosts outside the job: the controller of its node."""

from __future__ import annotations

import json
import selectors
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ogg_hpc.actors.gateway.controller_link import ControllerLink
from ogg_hpc.actors.gateway.controller_process import ControllerProcess
from ogg_hpc.actors.gateway.frames import Assembly, MalformedFrameError, cut
from ogg_hpc.actors.gateway.link import WINDOW, Kind, Packet, socket_folder, socket_path
from ogg_hpc.errors import OggError

_START = 30.0  # seconds that the controller has to start, on a node that has much to do
_FLUSH = 2.0  # seconds that what was sent has to reach the controller at the end
_PAUSE = 0.1  # most seconds between looks at the controller's process
_AWAY = 1.0  # seconds without a poll after which nobody can tell who was silent


class ControllerTransport:
    """The remote hosts that the controller of this node has given to this learner.

    Creation waits until the controller listens, if this learner is the one that starts it. The
    controller may end at any time: its hosts have then gone; it is started again while this way
    is polled, and they come back by themselves, as new ones.

    Parameters
    ----------
    run_folder
        The folder of the run.
    learner
        Number of this learner among those of its node.
    schema
        Digest of the environment's schema, which hosts must not contradict; may be empty.
    lease
        Seconds without a sign of life after which the controller is taken for dead.
    controller
        What starts it; on one learner of the node alone.

    Attributes
    ----------
    members : None
        Hosts come and go.
    address : str
        Where the controller listens; empty while there is none.
    refused : Counter
        Hosts that the controller has refused, by reason. They belong to no learner; one of the
        node counts them.

    Raises
    ------
    SettingsError
        The controller cannot start: its port is in use, a file is missing.
    """

    def __init__(
        self,
        run_folder: Path,
        learner: int,
        schema: str = "",
        lease: float = 5.0,
        controller: ControllerProcess | None = None,
    ) -> None:
        self.members: int | None = None
        self.address = ""
        self.refused = Counter[str]()
        self._about = json.dumps({"schema": schema}).encode()
        self._lease = lease
        self._controller = controller
        self._path = socket_path(socket_folder(run_folder), learner)
        self._listener = _listen(self._path)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._link: ControllerLink | None = None
        self._numbers: dict[int, int] = {}  # ours by the controller's, which begin anew with it
        self._hosts: dict[int, _Host] = {}
        self._joined = 0
        self._started = False
        self._came: list[tuple[int, bytes | None]] = []
        self._polled = self._heard = time.monotonic()
        if controller is not None:
            try:
                controller.start()
                self._wait_for_start(controller)
            except BaseException:
                self._give_back()
                raise

    @property
    def restarts(self) -> int:
        """How often this learner has started the controller again."""
        return 0 if self._controller is None else self._controller.restarts

    def send(self, host: int, data: bytes) -> None:
        """Send a message to a host; see `Transport`."""
        if host in self._hosts:
            self._hosts[host].outgoing.append(cut(data))
            self._flush()

    def drop(self, host: int, reason: str) -> None:
        """Refuse a host: it hears the reason and ends, and nothing more is heard of it."""
        dropped = self._hosts.pop(host, None)
        if dropped is not None and self._link is not None:
            self._link.send(Kind.DROP, dropped.number, reason.encode(errors="replace"))
            self._flush()

    def poll(self, seconds: float) -> list[tuple[int, bytes | None]]:
        """Return what has come; see `Transport`."""
        now = time.monotonic()
        if now - self._polled > _AWAY:
            self._heard = now
        self._look(0.0)
        while not self._came and (left := now + seconds - time.monotonic()) > 0:
            self._look(min(left, _PAUSE))
        self._polled = time.monotonic()
        came, self._came = self._came, []
        return came

    def close(self, finished: bool = True) -> None:
        """Say that no host is needed any more, and give back what this way has taken.

        Parameters
        ----------
        finished
            Whether the run is; else hosts try to come back, to the run that goes on with this one.
        """
        try:
            if finished:
                self._finish()
        finally:
            self._lose_link()
            if self._controller is not None:
                if finished:
                    self._controller.wait()
                else:
                    self._controller.kill()
            self._give_back()

    def _finish(self) -> None:
        """Send what is still to be sent, as far as hosts take it, and that this is all."""
        self._look_until(lambda: not any(host.outgoing for host in self._hosts.values()))
        if self._link is not None:
            self._link.send(Kind.FINISHED)
            self._look_until(lambda: self._link is None or self._link.idle)

    def _look_until(self, condition: Callable[[], bool]) -> None:
        until = time.monotonic() + _FLUSH
        while self._link is not None and not condition() and time.monotonic() < until:
            self._look(_PAUSE)

    def _give_back(self) -> None:
        self._selector.close()
        self._listener.close()
        self._path.unlink(missing_ok=True)
        with suppress(OSError):  # other learners listen there
            self._path.parent.rmdir()

    def _wait_for_start(self, controller: ControllerProcess) -> None:
        until = time.monotonic() + _START
        while not self.address:
            self._look(_PAUSE)
            controller.check_started()
            if time.monotonic() > until:
                controller.kill()
                raise OggError(f"the controller has not started within {_START:.0f} s")

    def _look(self, seconds: float) -> None:
        """Do what there is to do, after so many seconds at most."""
        self._flush()
        for key, _ in self._selector.select(seconds):
            if key.fileobj is self._listener:
                self._accept()
            else:
                self._receive()
        self._flush()
        silent = time.monotonic() - self._heard > self._lease
        if self._link is not None and silent:
            self._lose_link()
            if self._controller is not None:
                self._controller.kill()
        if self._link is None and self._controller is not None and self._started:
            self._controller.keep_alive()

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        if self._link is not None:
            connection.close()  # a second controller, of which nobody wants to know
            return
        self._link = ControllerLink(connection)
        self._selector.register(self._link, selectors.EVENT_READ)
        self._heard = time.monotonic()
        self._link.send(Kind.ABOUT, content=self._about)

    def _receive(self) -> None:
        assert self._link is not None
        try:
            packets = self._link.receive()
        except (OSError, EOFError):
            self._lose_link()
            return
        self._heard = time.monotonic()
        for packet in packets:
            self._take(packet)

    def _take(self, packet: Packet) -> None:
        kind, number, content = packet
        if kind == Kind.LISTENING:
            self.address = content.decode()
            self._started = True
            if self._controller is not None:
                self._controller.has_started(self.address)
        elif kind == Kind.REFUSED:
            self.refused[content.decode()] += 1
        elif kind == Kind.GONE:
            self._lose_host(self._numbers.pop(number, 0))
        elif kind == Kind.FRAME:
            if number not in self._numbers:
                self._joined += 1
                self._numbers[number] = self._joined
                self._hosts[self._joined] = _Host(number)
            self._take_frame(self._numbers[number], content)
        elif kind == Kind.TAKEN and (host := self._hosts.get(self._numbers.get(number, 0))):
            host.window += int.from_bytes(content, "little")

    def _take_frame(self, number: int, frame: bytes) -> None:
        host = self._hosts.get(number)
        if host is None:
            return  # it was dropped
        try:
            message = host.incoming.add(frame)
        except MalformedFrameError as error:
            self.drop(number, str(error))
            self._came.append((number, None))
        else:
            if message is not None:
                self._came.append((number, message))

    def _flush(self) -> None:
        """Pass on what was sent to hosts, to each in turn, as far as there is room."""
        while self._link is not None:
            if self._link.idle:
                for host in self._hosts.values():
                    if (frame := host.next_frame()) is not None:
                        self._link.send(Kind.FRAME, host.number, frame)
                if self._link.idle:
                    break
            try:
                self._link.flush()
            except OSError:
                self._lose_link()
                return
            if not self._link.idle:
                break
        if self._link is not None:
            writing = 0 if self._link.idle else selectors.EVENT_WRITE
            self._selector.modify(self._link, selectors.EVENT_READ | writing)

    def _lose_link(self) -> None:
        if self._link is not None:
            self._selector.unregister(self._link)
            self._link.close()
            self._link = None
            self.address = ""
            self._numbers.clear()
            for host in list(self._hosts):
                self._lose_host(host)

    def _lose_host(self, host: int) -> None:
        if self._hosts.pop(host, None) is not None:
            self._came.append((host, None))


@dataclass
class _Host:
    """A remote host.

    Attributes
    ----------
    number
        By which the controller knows it.
    window
        Bytes that may yet be sent to the controller before it has passed on others.
    """

    number: int
    incoming: Assembly = field(default_factory=Assembly)
    outgoing: deque[Iterator[bytes]] = field(default_factory=deque)
    window: int = WINDOW

    def next_frame(self) -> bytes | None:
        """Return what is to be sent next, if there is anything and room for it."""
        while self.outgoing and self.window > 0:
            frame = next(self.outgoing[0], None)
            if frame is not None:
                self.window -= len(frame)
                return frame
            self.outgoing.popleft()
        return None


def _listen(path: Path) -> socket.socket:
    """Return a socket that listens at a path, in place of what a killed process has left."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen()
    listener.setblocking(False)
    return listener
