"""The program that environment processes are forked from, which is started by `processes`.

It has imported what they need, so that a new one starts within milliseconds and they share the
memory of all modules. It has neither threads nor anything of MPI, so it may fork; a rank may not.
One JSON object a packet: ``{"import": [modules]}``, ``{"start": number}`` with one end of a socket
pair, ``{"kill": number}``; it answers ``{"ended": number, "status": code}``, minus the signal's
number if there was one. It ends with its host, and with it all its children and all that these
have started, in whichever group or session.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from ogg_hpc.actors.environment_process import EnvironmentProcess
from ogg_hpc.runtime.launch import die_with_parent

PACKET = 4096  # bytes
_LOOK = 1000  # milliseconds between looks whether the host is still there
_PR_SET_CHILD_SUBREAPER = 36


class ProcessServer:
    """Forks, kills and reaps environment processes.

    Parameters
    ----------
    control
        Packets from and to the host.
    host
        Its process id.
    """

    def __init__(self, control: socket.socket, host: int) -> None:
        self._control = control
        self._host = host
        self._numbers: dict[int, int] = {}  # by process id
        # Whoever loses its parent becomes a child of this process, so that none is out of reach.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
        # A signal's number is written here, so that the death of a child ends a wait.
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> socket.socket:
        """Serve until the host is gone; return, in each new process alone, its socket."""
        try:
            connection = self._serve()
        except Exception:  # even so nobody may be left behind
            traceback.print_exc()
            connection = None
        if connection is not None:
            return connection
        while children := self._children():
            for pid in children:
                _kill_group(pid)
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                self._numbers.pop(pid, None)
        os._exit(0)

    def _serve(self) -> socket.socket | None:
        poll = select.poll()
        for descriptor in (self._control.fileno(), self._woken):
            poll.register(descriptor, select.POLLIN)
        while os.getppid() == self._host:
            ready = [descriptor for descriptor, _ in poll.poll(_LOOK)]
            if self._woken in ready:
                os.read(self._woken, PACKET)
            self._reap()
            if self._control.fileno() in ready:
                try:
                    packet, descriptors, _, _ = socket.recv_fds(self._control, PACKET, 1)
                except ConnectionResetError:  # it has gone, and not heard all it was told
                    return None
                if not packet:
                    return None
                connection = self._obey(json.loads(packet), descriptors)
                if connection is not None:
                    return connection
        return None

    def _obey(self, order: dict[str, Any], descriptors: Sequence[int]) -> socket.socket | None:
        if "start" in order:
            return self._start(order["start"], socket.socket(fileno=descriptors[0]))
        if "kill" in order:
            for pid, number in self._numbers.items():
                if number == order["kill"]:
                    _kill_group(pid)
        for module in order.get("import", ()):
            with suppress(Exception):  # told by the process that cannot do without
                import_module(module)
        return None

    def _start(self, number: int, connection: socket.socket) -> socket.socket | None:
        gc.freeze()  # a collection in a child would copy what it shares
        server = os.getpid()
        pid = os.fork()
        if pid:
            with suppress(OSError):  # the child has done so itself
                os.setpgid(pid, pid)
            self._numbers[pid] = number
            connection.close()
            return None
        os.setpgid(0, 0)
        die_with_parent()
        if os.getppid() != server:
            os._exit(1)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for descriptor in (self._woken, self._wake):
            os.close(descriptor)
        self._control.close()
        return connection

    def _reap(self) -> None:
        with suppress(ChildProcessError):  # there is none
            while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                number = self._numbers.pop(found.si_pid, None)
                if number is not None:  # before its id is free: what it has started goes with it
                    _kill_group(found.si_pid)
                _, status = os.waitpid(found.si_pid, 0)
                if number is not None:
                    self._tell(number, os.waitstatus_to_exitcode(status))

    def _tell(self, number: int, status: int) -> None:
        with suppress(OSError):  # the host is going
            self._control.send(json.dumps({"ended": number, "status": status}).encode())

    def _children(self) -> list[int]:
        try:
            return [int(pid) for pid in Path("/proc/thread-self/children").read_text().split()]
        except FileNotFoundError:  # a kernel without this list
            return list(self._numbers)


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def main() -> None:
    """Serve the host whose socket and process id are the arguments."""
    control, host = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    # A job's signals are for its ranks, which tell the processes what they are to do. A handler,
    # because what is ignored stays so in the programs that an environment starts.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, lambda *_: None)
    EnvironmentProcess(ProcessServer(control, host).serve()).run()
