"""The controller: hosts on one side, the learners of its node on the other."""

from __future__ import annotations

import asyncio
import hmac
import itertools
import os
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ogg_hpc.actors.gateway.addresses import Address
from ogg_hpc.actors.gateway.announcement import Announcement, node_name, write_announcement
from ogg_hpc.actors.gateway.grpc_settings import (
    AUTHORIZATION,
    METHOD,
    SERVER_OPTIONS,
    SERVICE,
    load_grpc,
)
from ogg_hpc.actors.gateway.hello import check_hello, read_hello
from ogg_hpc.actors.gateway.learner_link import LearnerLink
from ogg_hpc.actors.gateway.link import Kind
from ogg_hpc.actors.gateway.options import ControllerOptions
from ogg_hpc.actors.gateway.session import Session, SessionError
from ogg_hpc.actors.message import PROTOCOL
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.package_version import package_version
from ogg_hpc.runtime.signals import INSISTENT, SIGNALS

_LOOK = 0.1  # seconds between looks for learners
_DRAIN = 2.0  # seconds that hosts have to hear that the run is finished
_BEATS = 10  # heartbeats, and looks for missing ones, within a lease
_LAST_WORDS = 0.5  # seconds that a host has to take the reason of its end
# What learners count hosts by that are refused, by the name of a status.
_REFUSALS = {
    "UNAUTHENTICATED": "wrong token",
    "FAILED_PRECONDITION": "wrong version or schema",
    "INVALID_ARGUMENT": "malformed",
}


def serve(options: ControllerOptions) -> None:
    """Be a controller until the run is finished, its parent is gone, or a signal says so.

    A controller with a parent heeds no signals: the batch system sends them to all processes of
    a job, and the learners still need it while they come to their end.

    Raises
    ------
    SettingsError
        The address cannot be listened at.
    MissingExtraError
        gRPC is not installed.
    """
    asyncio.run(_Controller(options).run())


class _Controller:
    def __init__(self, options: ControllerOptions) -> None:
        self._options = options
        self._grpc = load_grpc()
        self._token = f"Bearer {options.token}".encode()
        self._numbers = itertools.count(1)
        self._sessions: dict[int, Session] = {}
        self._learners: dict[Path, LearnerLink] = {}
        self._seen: set[Path] = set()  # where a learner has ever been
        self._refused = Counter[str]()  # what no learner has been told
        self._learners_changed = asyncio.Event()
        self._stopped = asyncio.Event()
        self._announcement: Announcement | None = None
        self._address = options.listen

    async def run(self) -> None:
        server = self._grpc.aio.server(options=SERVER_OPTIONS)
        handler = self._grpc.stream_stream_rpc_method_handler(self._connect)
        handlers = self._grpc.method_handlers_generic_handler(SERVICE, {METHOD: handler})
        server.add_generic_rpc_handlers((handlers,))
        self._address = self._listen(server)
        await server.start()
        self._heed_signals()
        works = (self._find_learners(), self._tick(), self._stopped.wait())
        tasks = [asyncio.ensure_future(each) for each in works]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await server.stop(grace=None)
            for learner in self._learners.values():
                learner.close()

    def _listen(self, server: Any) -> Address:
        options = self._options
        listen = str(options.listen)
        try:
            if options.certificate:
                pair = (options.key, options.certificate)
                credentials = self._grpc.ssl_server_credentials([pair])
                port = server.add_secure_port(listen, credentials)
            else:
                port = server.add_insecure_port(listen)
        except RuntimeError:
            raise SettingsError(
                f"cannot listen at {listen}: {_why_not(options.listen)}; is it another "
                "controller's? Choose another port, or port 0 for a free one"
            ) from None
        return options.listen._replace(port=port)

    def _heed_signals(self) -> None:
        loop = asyncio.get_running_loop()
        if self._options.parent:
            for number in SIGNALS:
                loop.add_signal_handler(number, lambda: None)
        else:
            for number in INSISTENT:
                loop.add_signal_handler(number, self._stopped.set)

    # Hosts

    async def _connect(self, _: Any, context: Any) -> None:
        """Serve one host: the handler of gRPC's only method."""
        session = Session(next(self._numbers), context, self._grpc.aio.EOF)
        try:
            if error := self._mistrust(context):
                await session.refuse(error)
            else:
                self._sessions[session.number] = session
                await session.run(self._place)
        finally:
            self._sessions.pop(session.number, None)
            self._leave(session)
        outcome = session.outcome
        if outcome.code != "OK":
            code = getattr(self._grpc.StatusCode, outcome.code)
            with suppress(TimeoutError):  # a host that does not read does not take a status either
                await asyncio.wait_for(context.abort(code, outcome.reason), _LAST_WORDS)

    def _mistrust(self, context: Any) -> SessionError | None:
        """Return why a host is not let in, None if it is."""
        given = dict(context.invocation_metadata() or ()).get(AUTHORIZATION, b"")
        given = given if isinstance(given, bytes) else given.encode()
        if hmac.compare_digest(given, self._token):
            return None
        return SessionError(
            "UNAUTHENTICATED",
            f"wrong token: the right one is in {self._options.token_file} on {node_name()}",
        )

    async def _place(self, session: Session, frame: bytes) -> LearnerLink:
        """Give a host to the learner with the least load, as soon as all learners are there."""
        hello = read_hello(frame)
        check_hello(hello, {})
        while True:
            complete = len(self._seen) >= self._options.learners
            learners = [each for each in self._learners.values() if not each.finished]
            if complete and learners:
                break
            if self._finished():
                raise SessionError("OK", "the run is finished")
            await self._learners_changed.wait()
        learner = min(learners, key=lambda each: each.load)
        session.load = check_hello(hello, learner.about)
        learner.load += session.load
        _say(f"{session.name}, which is {hello.get('host')!r:.80}, serves {learner.name}")
        return learner

    def _leave(self, session: Session) -> None:
        end = session.outcome
        _say(f"{session.name} is gone: {end.reason!r}")
        if end.code in _REFUSALS:
            self._refused[_REFUSALS[end.code]] += 1
            self._tell_refused()
        if session.learner is not None:
            session.learner.load -= session.load
            session.learner.tell(Kind.GONE, session.number, end.reason.encode())

    # Learners

    async def _find_learners(self) -> None:
        """Connect with learners as they appear, and again with those that were gone."""
        serving = set()
        while True:
            for path in sorted(self._options.sockets.glob("learner-*")):
                if path in self._learners:
                    continue
                try:
                    learner = await LearnerLink.connect(path)
                except (OSError, EOFError):
                    continue
                if self._announcement is None:
                    self._announcement = self._announce(learner.about)
                task = asyncio.create_task(self._serve_learner(path, learner))
                self._learners[path] = learner
                serving.add(task)
                task.add_done_callback(serving.discard)
            await asyncio.sleep(_LOOK)

    async def _serve_learner(self, path: Path, learner: LearnerLink) -> None:
        self._seen.add(path)
        _say(f"{learner.name} is there")
        assert self._announcement is not None
        learner.tell(Kind.LISTENING, content=self._announcement.address.encode())
        self._tell_refused()
        self._learners_have_changed()
        try:
            async for kind, host, content in learner.packets():
                session = self._sessions.get(host)
                if kind == Kind.FINISHED:
                    self._finish(learner)
                elif session is None or session.learner is not learner:
                    continue  # it has left meanwhile
                elif kind == Kind.FRAME:
                    session.outgoing.put_nowait(content)
                elif kind == Kind.DROP:
                    session.end("INVALID_ARGUMENT", content.decode(errors="replace"))
        finally:
            learner.close()
            _say(f"{learner.name} {'needs no hosts any more' if learner.finished else 'is gone'}")
            if not learner.finished:
                del self._learners[path]
                for session in self._of(learner):
                    session.end("UNAVAILABLE", "the learner is gone")
            self._learners_have_changed()

    def _announce(self, about: dict[str, Any]) -> Announcement:
        """Write the file by which hosts find this controller, and return its content."""
        options = self._options
        host = socket.gethostname() if self._address.any else self._address.host
        announcement = Announcement(
            node=node_name(),
            address=str(self._address._replace(host=host)),
            token_file=str(options.token_file),
            certificate=options.certificate_file,
            schema=about["schema"],
            protocol=PROTOCOL,
            package=package_version(),
        )
        write_announcement(options.announcement, announcement)
        return announcement

    def _finish(self, learner: LearnerLink) -> None:
        learner.finished = True
        for session in self._of(learner):
            session.finish()
        self._learners_have_changed()

    def _of(self, learner: LearnerLink) -> Iterator[Session]:
        return (each for each in list(self._sessions.values()) if each.learner is learner)

    def _learners_have_changed(self) -> None:
        self._learners_changed.set()
        self._learners_changed = asyncio.Event()

    def _tell_refused(self) -> None:
        """Tell one learner of the hosts that were refused: they belong to none."""
        for learner in itertools.islice(self._learners.values(), 1):
            for reason, times in self._refused.items():
                for _ in range(times):
                    learner.tell(Kind.REFUSED, content=reason.encode())
            self._refused.clear()

    def _finished(self) -> bool:
        """Return whether no learner needs a host any more."""
        finished = sum(learner.finished for learner in self._learners.values())
        return finished >= self._options.learners

    # Time

    async def _tick(self) -> None:
        """Show that this controller lives, end what is silent, and come to an end."""
        lease = self._options.lease
        pause = lease / _BEATS
        limit = lease - 3 * pause  # to find it and to tell takes time as well
        before = time.monotonic()
        finished_since = None
        while True:
            await asyncio.sleep(pause)
            now = time.monotonic()
            stood_still = now - before - pause
            before = now
            for session in list(self._sessions.values()):
                if stood_still > pause:
                    session.forgive(stood_still)
                if session.silence(now) > limit:
                    session.end("DEADLINE_EXCEEDED", f"no sign of life within {lease:g} s")
                session.show_life()
            for learner in self._learners.values():
                if not learner.lags:
                    learner.tell(Kind.ALIVE)
            if self._finished():
                finished_since = finished_since or now
                if not self._sessions or now - finished_since > _DRAIN:
                    self._say_finished()
                    self._stopped.set()
            if self._options.parent and os.getppid() != self._options.parent:
                self._stopped.set()

    def _say_finished(self) -> None:
        """Let those who look at the file know that no host is needed any more."""
        if self._announcement is not None:
            finished = replace(self._announcement, finished=True)
            write_announcement(self._options.announcement, finished)


def _say(text: str) -> None:
    with suppress(OSError):
        print(time.strftime("%Y-%m-%dT%H:%M:%S%z"), text, flush=True)


def _why_not(address: Address) -> str:
    """Return why nothing can listen at an address, which gRPC does not tell."""
    try:
        with socket.socket(_family(address)) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(tuple(address))
    except OSError as error:
        return error.strerror or str(error)
    return "the port is in use"


def _family(address: Address) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address.host else socket.AF_INET
