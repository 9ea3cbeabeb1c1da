"""The end of a job in which a rank no longer answers.

A rank that has been stopped, or hangs on a dead file system, leaves the others waiting in a
collective until the walltime. So each rank marks when it waits, on a board that the ranks of a
node share, and a thread of it ends the job when it has waited for too long. The message comes
from the node that knows most: the one of the missing rank, if another rank there still runs.
"""

from __future__ import annotations

import mmap
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.abort import abort
from ogg_hpc.runtime.trace import NO_TRACE, Trace

TIMEOUT = 3600.0  # seconds
EXIT_CODE = 124  # as of the command `timeout`

# What one rank, or each by itself, may work at for as long as it takes, or may have no word for.
# Such a wait counts only while a rank of this node is stopped or gone.
_WORK = ("on_root", "on_all", "mailbox")
_DEAD = frozenset({"stopped", "gone"})
_GRACE = 5.0  # seconds that the launcher has to end the job
_SPOKEN = -1  # the board's last cell


class Watchdog:
    """Ends the job when a collective keeps this rank waiting (creation is collective).

    Time in which this process itself is stopped does not count, so that a job may be suspended
    as a whole. The message on standard error says which collective, how long, and what is known
    of the missing ranks; the exit code is 124.

    Parameters
    ----------
    world
        The ``mpi4py.MPI.Intracomm`` of all ranks.
    timeout
        Seconds.

    Attributes
    ----------
    trace : Trace
        What is written before the job ends, with the collective that did not.
    """

    def __init__(self, world: Any, timeout: float) -> None:
        from mpi4py import MPI

        self._MPI, self._timeout = MPI, timeout
        self._rank, self._group = world.Get_rank(), world.Get_group()
        machine = world.Split_type(MPI.COMM_TYPE_SHARED)
        # Within one namespace of processes their numbers mean the same; containers may have some.
        spaces = machine.allgather(os.readlink("/proc/self/ns/pid"))
        node = machine.Split(spaces.index(spaces[machine.Get_rank()]), machine.Get_rank())
        # One cell a rank, for the number of the call in which it waits, or 0.
        board = _shared_cells(node, node.Get_size() + 1)
        if board is None:
            node.Free()
            node = MPI.COMM_SELF.Dup()
            board = memoryview(bytearray(16)).cast("q")
        self._board = board
        self._slot = node.Get_rank()
        self._sees_all = world.Get_size() == node.Get_size()
        self._ranks: list[int] = node.allgather(self._rank)
        self._pids: list[int] = node.allgather(os.getpid())
        node.Free()
        machine.Free()
        self._name = ""
        self._peers: tuple[int, ...] = ()
        self._calls = self._depth = 0
        self.trace: Trace = NO_TRACE
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def peers(self, mpi: Any) -> tuple[int, ...]:
        """Return the slots of the ranks of this node that belong to a communicator."""
        found = self._group.Translate_ranks(self._ranks, mpi.Get_group())
        return tuple(slot for slot, rank in enumerate(found) if rank != self._MPI.UNDEFINED)

    def waiting(self, name: str, peers: tuple[int, ...]) -> Watchdog:
        """Return a context in which this rank waits; of nested ones the outermost counts.

        Parameters
        ----------
        name
            The collective.
        peers
            Slots of the ranks of this node that take part.
        """
        if not self._depth:
            self._name, self._peers = name, peers
            self._calls += 1
            self._board[self._slot] = self._calls
        return self

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._board[self._slot] = 0

    def _watch(self) -> None:
        tick = min(10.0, self._timeout / 10)
        call, waited, before = 0, 0.0, time.monotonic()
        while waited < self._timeout:
            time.sleep(tick)
            now = time.monotonic()
            if call == 0 or self._board[self._slot] != call:
                call, waited = self._board[self._slot], 0.0
            elif self._name not in _WORK or not _DEAD.isdisjoint(self._missing().values()):
                # A longer sleep than was asked for is one of the whole process.
                waited += min(now - before, 2 * tick)
            before = now
        self._end(waited)

    def _missing(self) -> dict[int, str]:
        """Return the ranks of this node that this one may wait for: by slot, what they do."""
        states = {
            slot: process_state(self._pids[slot]) for slot in self._peers if slot != self._slot
        }
        # A rank can also be stopped while it waits itself.
        return {
            slot: state for slot, state in states.items() if state in _DEAD or not self._board[slot]
        }

    def _end(self, waited: float) -> None:
        """Say what is known, unless another rank has said it, and end the job."""
        missing = self._missing()
        # A thread, as the file system may be what hangs.
        writing = threading.Thread(target=self._write_trace, args=[waited], daemon=True)
        writing.start()
        writing.join(_GRACE)
        # The first of a node with a missing rank speaks at once, nodes that know less only later.
        time.sleep(min(20.0, 0.2 * self._slot if missing else 2 + 0.2 * self._rank))
        force = threading.Timer(_GRACE, self._force, [missing])
        force.daemon = True
        force.start()
        if not self._board[_SPOKEN]:
            self._board[_SPOKEN] = 1
            sys.stdout.flush()
            print(f"ogg-hpc: {self._message(waited, missing)}", file=sys.stderr, flush=True)
            # Other levels of threads allow no call while the main thread is inside one.
            if self._MPI.Query_thread() == self._MPI.THREAD_MULTIPLE:
                abort(self._MPI.COMM_WORLD, EXIT_CODE)

    def _write_trace(self, waited: float) -> None:
        now = time.perf_counter()
        # Under a name of its own it is kept, however many calls there were before.
        self.trace.add("collective", f"{self._name}, without end", now - waited, now)
        with suppress(InputError):
            self.trace.write()

    def _force(self, missing: dict[int, str]) -> None:
        """End this process, for a launcher that does not, and the stopped ones of this node."""
        for slot, state in missing.items():
            if state == "stopped":
                with suppress(OSError):
                    os.kill(self._pids[slot], signal.SIGKILL)
        os._exit(EXIT_CODE)

    def _message(self, waited: float, missing: dict[int, str]) -> str:
        host = socket.gethostname()
        if missing:
            ranks = ", ".join(f"rank {self._ranks[i]} ({state})" for i, state in missing.items())
            reason = f"on this node ({host}) it misses {ranks}"
        elif self._sees_all:
            reason = "all ranks wait, but in different collectives: please report this"
        else:
            reason = (
                f"all ranks that it sees on this node ({host}) wait: a missing one is on another "
                "node, or in another container"
            )
        return (
            f"rank {self._rank} has waited {waited:.0f} s in {self._name}, so the job ends; "
            f"{reason}. If ranks are only slow, allow more by --timeout SECONDS, or 0 for no limit"
        )


def _shared_cells(node: Any, number: int) -> memoryview | None:
    """Return cells of eight bytes that the ranks of a node share; None if they cannot (collective).

    They lie in a file that has no name any more when all have opened it. By its name alone do
    ranks find it that are each in a container of their own. (A window of MPI would do as well,
    but for the warnings that Open MPI prints without the network it expects.)
    """
    own = None
    with suppress(OSError):
        if node.Get_rank() == 0:
            folder = "/dev/shm" if os.path.isdir("/dev/shm") else None
            own = tempfile.NamedTemporaryFile(  # noqa: SIM115 - closed below
                prefix="ogg-hpc-", dir=folder, buffering=0
            )
            own.write(bytes(8 * number))
    path = node.bcast(own and own.name, 0)
    cells = None
    with suppress(OSError, ValueError):  # of a file that is too short, where memory is full
        if path is not None:
            with open(path, "rb+") as shared:
                cells = memoryview(mmap.mmap(shared.fileno(), 8 * number)).cast("q")
    opened = node.allgather(cells is not None)
    if own is not None:
        own.close()
    return cells if all(opened) else None


def process_state(pid: int) -> str:
    """Return whether a process of this machine is ``busy``, ``stopped`` or ``gone``."""
    try:
        letter = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"
    return {"T": "stopped", "t": "stopped", "Z": "gone", "X": "gone"}.get(letter, "busy")
