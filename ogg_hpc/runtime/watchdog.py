"""The end of a job in which a rank no longer answers.

A rank that has been stopped, or hangs on a dead file system, leaves the others waiting in a
collective until the walltime. So each rank marks when it waits, on a board that the ranks of a
node share, and a thread of it ends the job when it has waited for too long. The message comes
from the node that knows most: the one of the missing rank, if another rank there still runs.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

TIMEOUT = 3600.0  # seconds
EXIT_CODE = 124  # as of the command `timeout`

# What one rank, or each by itself, may work at for as long as it takes. Such a wait counts only
# while a rank of this node is stopped or gone.
_WORK = ("on_root", "on_all")
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
    """

    def __init__(self, world: Any, timeout: float) -> None:
        from mpi4py import MPI

        self._MPI, self._timeout = MPI, timeout
        self._rank = world.Get_rank()
        node = world.Split_type(MPI.COMM_TYPE_SHARED)
        self._slot = node.Get_rank()
        self._one_node = world.Get_size() == node.Get_size()
        # Process numbers mean the same only within one namespace of them.
        mine = (self._rank, os.getpid(), os.readlink("/proc/self/ns/pid"))
        ranks = node.allgather(mine)
        self._ranks = [rank for rank, _, _ in ranks]
        self._pids = [pid if space == mine[2] else None for _, pid, space in ranks]
        # One cell a rank, for the number of the call in which it waits, or 0.
        bytes_ = 8 * (node.Get_size() + 1) if self._slot == 0 else 0
        self._window = MPI.Win.Allocate_shared(bytes_, 8, comm=node)
        self._board = self._window.Shared_query(0)[0].cast("q")
        self._board[self._slot] = self._board[_SPOKEN] = 0
        node.Barrier()
        node.Free()
        self._name, self._peers = "", tuple(range(len(ranks)))
        self._calls = self._depth = 0
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    @property
    def slot(self) -> int:
        """Number of this rank within its node."""
        return int(self._slot)

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
        states = {slot: self._state(slot) for slot in self._peers if slot != self._slot}
        # A rank can also be stopped while it waits itself.
        return {
            slot: state for slot, state in states.items() if state in _DEAD or not self._board[slot]
        }

    def _state(self, slot: int) -> str:
        pid = self._pids[slot]
        return "busy" if pid is None else process_state(pid)

    def _end(self, waited: float) -> None:
        """Say what is known, unless another rank has said it, and end the job."""
        missing = self._missing()
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
                self._MPI.COMM_WORLD.Abort(EXIT_CODE)

    def _force(self, missing: dict[int, str]) -> None:
        """End this process, for a launcher that does not, and the stopped ones of this node."""
        for slot, state in missing.items():
            pid = self._pids[slot]
            if state == "stopped" and pid is not None:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        os._exit(EXIT_CODE)

    def _message(self, waited: float, missing: dict[int, str]) -> str:
        host = socket.gethostname()
        if missing:
            ranks = ", ".join(f"rank {self._ranks[i]} ({state})" for i, state in missing.items())
            reason = f"on this node ({host}) it misses {ranks}"
        elif self._one_node:
            reason = "all ranks wait, but in different collectives: please report this"
        else:
            reason = f"all ranks of this node ({host}) wait: a missing one is on another node"
        return (
            f"rank {self._rank} has waited {waited:.0f} s in {self._name}, so the job ends; "
            f"{reason}. If ranks are only slow, allow more by --timeout SECONDS, or 0 for no limit"
        )


def process_state(pid: int) -> str:
    """Return whether a process of this machine is ``busy``, ``stopped`` or ``gone``."""
    try:
        letter = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"
    return {"T": "stopped", "t": "stopped", "Z": "gone", "X": "gone"}.get(letter, "busy")
