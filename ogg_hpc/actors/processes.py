"""Starting and ending environment processes, by way of a server that forks them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from itertools import count
from typing import Any

from ogg_hpc.actors.channel import Channel
from ogg_hpc.actors.process_server import PACKET
from ogg_hpc.runtime.launch import without_launcher

_PATIENCE = 2.0  # seconds for the server to end


class Processes:
    """The environment processes of a host, each with a number that is never used again.

    The server is no child that shares anything with the host: it inherits neither descriptors nor
    what makes the host a rank of MPI. Processes print to the error stream of the host.
    """

    def __init__(self) -> None:
        self._numbers = count()
        self._modules: list[str] = []
        self._server: _Server | None = _Server()  # which imports while others do something else

    def filenos(self) -> list[int]:
        """Return the descriptors that can be read when a process has ended."""
        return [self._server.control.fileno()] if self._server else []

    def prepare(self, modules: Sequence[str]) -> None:
        """Import modules before the next processes are started, for all of them at once."""
        self._modules = list(modules)
        self._order({"import": self._modules})

    def start(self) -> tuple[int, Channel]:
        """Start a process; return its number and the way to it."""
        number = next(self._numbers)
        mine, theirs = socket.socketpair()
        with theirs:
            self._order({"start": number}, [theirs.fileno()])
        return number, Channel(mine)

    def kill(self, number: int) -> None:
        """Kill a process and all that it has started."""
        if self._server:
            self._server.order({"kill": number})

    def ended(self) -> dict[int, str] | None:
        """Return how processes have ended since the last call, by number.

        None: the server has gone, and all its processes with it. The next one that is to be
        started gets a new server.
        """
        if self._server is None:
            return {}
        told = self._server.told()
        if told is None:
            self.close()
            return None
        return {each["ended"]: _in_words(each["status"]) for each in told}

    def close(self) -> None:
        """Kill all processes and what they have started; return when they are gone."""
        if self._server:
            self._server.end()
            self._server = None

    def _order(self, order: object, descriptors: Sequence[int] = ()) -> None:
        if self._server is None:
            self._server = _Server()
            self._server.order({"import": self._modules})
        self._server.order(order, descriptors)


class _Server:
    """The server and the way to it."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.setblocking(False)
        # It finds the modules that this process finds, whatever has led it there. Not by a
        # variable, which the programs that an environment starts would inherit.
        path = [os.path.abspath(entry) for entry in sys.path]
        program = f"import sys; sys.path[:] = {path}; from {__package__} import process_server"
        variables = {
            **without_launcher(),
            # One thread each, which is also what a process that forks may have.
            **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        }
        arguments = theirs.fileno(), os.getpid()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"{program}; process_server.main()", *map(str, arguments)],
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=2,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def order(self, order: object, descriptors: Sequence[int] = ()) -> None:
        """Send an order, without waiting; one that is not heard shows as the end of the server."""
        try:
            socket.send_fds(self.control, [json.dumps(order).encode()], descriptors)
        except BlockingIOError:
            self._process.kill()  # it stands still, and many orders have not been heard
        except (BrokenPipeError, ConnectionResetError):
            pass

    def told(self) -> list[dict[str, Any]] | None:
        """Return what it has said since the last call; None if it is gone."""
        told: list[dict[str, Any]] = []
        while True:
            try:
                packet = self.control.recv(PACKET)
            except BlockingIOError:
                return told
            except ConnectionResetError:
                return None
            if not packet:
                return None
            told.append(json.loads(packet))

    def end(self) -> None:
        """End it, and all its processes with it."""
        self.control.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()  # its children die with it
            self._process.wait()


def _in_words(status: int) -> str:
    if status >= 0:
        return f"ended with exit code {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"
