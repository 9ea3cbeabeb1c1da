"""One host of a controller, from its hello to its end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from ogg_hpc.actors.gateway.frames import (
    ALIVE,
    HEARTBEAT,
    LAST,
    PART,
    MalformedFrameError,
    check,
    end_frame,
)
from ogg_hpc.actors.gateway.learner_link import LearnerLink
from ogg_hpc.actors.gateway.link import Kind

_REASON = 500  # characters
_LAST_WORDS = 0.5  # seconds that a host has to take the reason of its end


class SessionError(Exception):
    """Why a session ends.

    Attributes
    ----------
    code : str
        Name of a ``grpc.StatusCode``.
    reason : str
        For people; shortened to what can be sent.
    """

    def __init__(self, code: str, reason: str) -> None:
        self.code = code
        self.reason = reason.encode(errors="replace").decode()[:_REASON]
        super().__init__(code, self.reason)


_FINISHED = SessionError("OK", "the run is finished")


class Session:
    """A stream of frames from a host and one to it.

    Parameters
    ----------
    number
        Of the host, among all that have connected.
    context
        The ``grpc.aio.ServicerContext`` of the stream.
    end_of_file
        What its ``read`` returns when the host sends no more.

    Attributes
    ----------
    outcome : SessionError
        Why it has ended.
    """

    def __init__(self, number: int, context: Any, end_of_file: Any) -> None:
        self.number = number
        self.name = f"host {number} at {context.peer()}"
        self.learner: LearnerLink | None = None
        self.load = 0
        self.outgoing: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.outcome = SessionError("UNAVAILABLE", "the connection is lost")
        self._ended: asyncio.Future[SessionError] = asyncio.get_running_loop().create_future()
        self._context = context
        self._end_of_file = end_of_file
        # Since when the host is waited for: to send something, and to take something.
        self._reading_since: float | None = None
        self._writing_since: float | None = None

    def end(self, code: str, reason: str) -> None:
        """Let the session end."""
        if not self._ended.done():
            self._ended.set_result(SessionError(code, reason))

    def finish(self) -> None:
        """Let the session end in order, when all that is on its way has been sent."""
        self._write_last(_FINISHED)

    def silence(self, now: float) -> float:
        """Return for how many seconds the host has let itself be waited for."""
        since = (self._reading_since, self._writing_since)
        return max((now - each for each in since if each is not None), default=0.0)

    def forgive(self, seconds: float) -> None:
        """Leave seconds out of account in which this process itself stood still."""
        if self._reading_since is not None:
            self._reading_since += seconds
        if self._writing_since is not None:
            self._writing_since += seconds

    def show_life(self) -> None:
        """Send a heartbeat, unless something else is to be sent."""
        if self.outgoing.empty() and self._writing_since is None:
            self.outgoing.put_nowait(HEARTBEAT)

    async def run(self, place: Callable[[Session, bytes], Awaitable[LearnerLink]]) -> None:
        """Pass frames on, both ways, until the session ends, and tell the host why.

        Parameters
        ----------
        place
            Gives the host to a learner, by its first frame.
        """
        await self._begin()
        reading = asyncio.create_task(self._read(place))
        writing = asyncio.create_task(self._write())
        try:
            tasks = (reading, writing, self._ended)
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            self.outcome = next(each.result() for each in tasks if each in done)
            if not writing.done():
                while not self.outgoing.empty():
                    self.outgoing.get_nowait()
                self._write_last(self.outcome)
                await asyncio.wait({writing}, timeout=_LAST_WORDS)
        finally:
            for task in (reading, writing):
                task.cancel()
            await asyncio.gather(reading, writing, return_exceptions=True)

    async def refuse(self, error: SessionError) -> None:
        """Say why the host is not let in."""
        await self._begin()
        self._write_last(error)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._write(), _LAST_WORDS)

    async def _begin(self) -> None:
        # At once, so that no write that is given up has it on its way: a status could not follow.
        await self._context.send_initial_metadata(())

    def _write_last(self, end: SessionError) -> None:
        self.outcome = end  # already now: a host that has read it ends the stream
        self.outgoing.put_nowait(end_frame(end.code, end.reason))
        self.outgoing.put_nowait(None)

    async def _read(
        self, place: Callable[[Session, bytes], Awaitable[LearnerLink]]
    ) -> SessionError:
        of_message = 0
        while True:
            self._reading_since = time.monotonic()
            frame = await self._context.read()
            self._reading_since = None
            if frame is self._end_of_file:
                return SessionError("OK", "the host has left")
            try:
                of_message = check(frame, of_message)
            except MalformedFrameError as error:
                return SessionError("INVALID_ARGUMENT", str(error))
            if frame[0] == ALIVE:
                continue
            try:
                if self.learner is None:
                    self.learner = await place(self, frame)
                await self.learner.pass_on(self.number, frame)
            except SessionError as error:
                return error
            except OSError:
                return SessionError("UNAVAILABLE", "the learner is gone")
            if frame[0] == LAST:
                of_message = 0

    async def _write(self) -> SessionError:
        while (frame := await self.outgoing.get()) is not None:
            self._writing_since = time.monotonic()
            await self._context.write(frame)
            self._writing_since = None
            if self.learner is not None and frame[0] in (PART, LAST):
                taken = len(frame).to_bytes(4, "little")
                self.learner.tell(Kind.TAKEN, self.number, taken)
        return _FINISHED
