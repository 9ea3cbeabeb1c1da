"""A host's connection with a controller."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ogg_hpc.actors.gateway.event_loop_thread import EventLoopThread
from ogg_hpc.actors.gateway.frames import (
    END,
    HEARTBEAT,
    Assembly,
    MalformedFrameError,
    cut,
    read_end,
)
from ogg_hpc.actors.gateway.grpc_settings import AUTHORIZATION, CLIENT_OPTIONS, PATH, load_grpc

_BEATS = 10  # heartbeats, and looks for missing ones, within a lease
# Of ``grpc.StatusCode``: with these a controller refuses a host, and would do so again.
_REFUSALS = (
    *("UNAUTHENTICATED", "FAILED_PRECONDITION", "INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"),
    *("UNIMPLEMENTED", "PERMISSION_DENIED"),
)
# In the details of a status.
_NO_TRUST = "Tls handshake failed"
_NO_ANSWER = "Socket closed"


class End(Enum):
    """How a connection has ended."""

    FINISHED = "finished"  # the run needs no host any more
    REFUSED = "refused"  # it would be so again
    LOST = "lost"  # the controller is gone, or the learner


@dataclass(frozen=True)
class Target:
    """Whom to connect with.

    Attributes
    ----------
    address : str
        ``HOST:PORT``.
    token : str
        What lets a host in.
    encrypted : bool
        Whether to speak TLS.
    certificate : bytes or None
        PEM of the authority that signed the controller's certificate, which may be itself; None
        for those that this system trusts.
    """

    address: str
    token: str
    encrypted: bool = False
    certificate: bytes | None = None


class Connection:
    """A stream of messages to a learner and one from it, by way of a controller.

    An event loop in another thread carries them. Nothing here waits but `leave`.

    Parameters
    ----------
    thread
        The one with the event loop.
    target
        Whom to connect with.
    lease
        Seconds without a sign of life from the controller after which it is taken for gone.

    Attributes
    ----------
    end : End or None
        How the connection has ended, if it has.
    reason : str
        Why, for people.
    heard : bool
        Whether the controller has let this host in.

    Raises
    ------
    MissingExtraError
        gRPC is not installed.
    """

    def __init__(self, thread: EventLoopThread, target: Target, lease: float = 5.0) -> None:
        self.end: End | None = None
        self.reason = ""
        self._grpc = load_grpc()
        self._target = target
        self._lease = lease
        self._arrived = deque[bytes]()
        self.heard = False
        self._heard_at = self._shown = time.monotonic()
        self._wake, self._waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._descriptors: tuple[int, ...] = (self._wake, self._waker)
        self._loop = thread.loop
        self._outgoing: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._closed = asyncio.Event()
        self._life = asyncio.run_coroutine_threadsafe(self._live(), self._loop)

    def fileno(self) -> int:
        """Return a descriptor that can be read when something has come, or the end."""
        return self._wake

    def send(self, message: bytes) -> None:
        """Send a message.

        What has not been sent yet is kept: a host makes no more than it was granted.
        """
        for frame in cut(message):
            self._tell(frame)

    def show_life(self) -> None:
        """Send a heartbeat, if the last one is some time ago and nothing else is to be sent."""
        now = time.monotonic()
        if now - self._shown > self._lease / _BEATS and self._outgoing.empty():
            self._shown = now
            self._tell(HEARTBEAT)

    def received(self) -> list[bytes]:
        """Return the messages that have come since the last call."""
        with suppress(BlockingIOError):
            os.read(self._wake, 4096)
        return [self._arrived.popleft() for _ in range(len(self._arrived))]

    def leave(self, seconds: float) -> None:
        """Send what is to be sent, say that this is all, and wait for the controller's answer."""
        self._tell(None)
        wait([self._life], seconds)

    def close(self) -> None:
        """End the connection, whatever is on its way."""
        self._loop.call_soon_threadsafe(self._closed.set)
        wait([self._life])
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = ()

    def _tell(self, frame: bytes | None) -> None:
        self._loop.call_soon_threadsafe(self._outgoing.put_nowait, frame)

    # What follows runs in the thread.

    async def _live(self) -> None:
        end = End.LOST
        try:
            end, self.reason = await self._carry()
        except Exception as error:  # the host tells it, and tries again
            self.reason = f"{type(error).__name__}: {error}"
        finally:
            self.end = end  # the last: who sees it looks at the rest
            self._alert()

    async def _carry(self) -> tuple[End, str]:
        """Carry messages until the connection ends; return how and why."""
        target = self._target
        aio = self._grpc.aio
        if target.encrypted:
            trusted = self._grpc.ssl_channel_credentials(target.certificate)
            channel = aio.secure_channel(target.address, trusted, options=CLIENT_OPTIONS)
        else:
            channel = aio.insecure_channel(target.address, options=CLIENT_OPTIONS)
        try:
            metadata = ((AUTHORIZATION, f"Bearer {target.token}"),)
            call = channel.stream_stream(PATH)(metadata=metadata)
            reading = asyncio.create_task(self._read(call))
            writing = asyncio.create_task(self._write(call))
            try:
                return await self._until_the_end(call, reading)
            finally:
                for task in (reading, writing):
                    task.cancel()
                await asyncio.gather(reading, writing, return_exceptions=True)
                call.cancel()
        finally:
            await channel.close()

    async def _until_the_end(
        self, call: Any, reading: asyncio.Task[tuple[End, str] | None]
    ) -> tuple[End, str]:
        closed = asyncio.create_task(self._closed.wait())
        try:
            while True:
                pause = self._lease / _BEATS
                started = time.monotonic()
                waited_for = (reading, closed)
                await asyncio.wait(waited_for, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
                if closed.done():
                    return End.LOST, "closed by this side"
                if reading.done():
                    return reading.result() or await self._judge(call)
                now = time.monotonic()
                if now - started > 2 * pause:
                    self._heard_at += now - started  # this process itself stood still
                if now - self._heard_at > self._lease:
                    address = self._target.address
                    return End.LOST, f"no sign of life from {address} within {self._lease:g} s"
        finally:
            closed.cancel()

    async def _judge(self, call: Any) -> tuple[End, str]:
        """Return what the status means with which gRPC has ended the connection."""
        code, details = (await call.code()).name, await call.details() or ""
        if _NO_TRUST in details:
            return End.REFUSED, (
                f"{self._target.address} cannot be trusted: its certificate is not signed by the "
                f"one given, or not for this name, or it does not speak TLS ({details})"
            )
        if not self.heard and not self._target.encrypted and details.endswith(_NO_ANSWER):
            details += "; if it speaks TLS, give its certificate"
        return _end_of(code), details or code

    async def _read(self, call: Any) -> tuple[End, str] | None:
        """Take what comes; return how it ends, or None where the controller has not told."""
        assembly = Assembly()
        while True:
            try:
                frame = await call.read()
            except (self._grpc.RpcError, asyncio.InvalidStateError):
                return None
            if frame is self._grpc.aio.EOF:
                return None
            if frame[:1] == bytes([END]):
                code, reason = read_end(frame)
                return _end_of(code), reason
            self.heard = True
            self._heard_at = time.monotonic()
            try:
                message = assembly.add(frame)
            except MalformedFrameError as error:
                return End.LOST, f"{self._target.address} has sent {error}"
            if message is not None:
                self._arrived.append(message)
                self._alert()

    async def _write(self, call: Any) -> None:
        with suppress(self._grpc.RpcError, asyncio.InvalidStateError):
            while (frame := await self._outgoing.get()) is not None:
                await call.write(frame)
            await call.done_writing()

    def _alert(self) -> None:
        with suppress(BlockingIOError):  # it is full, and can be read
            os.write(self._waker, b"\0")


def _end_of(code: str) -> End:
    if code == "OK":
        return End.FINISHED
    return End.REFUSED if code in _REFUSALS else End.LOST
