"""What each rank did when: traces that Perfetto and chrome://tracing show.

A trace is a file in Chrome's JSON object format, one a rank: ranks are its processes, and times
are microseconds of rank 0's clock. https://ui.perfetto.dev opens it. Of a GPU they tell when the
host hands it work and waits for it; when it works is shown by its own profiler, where phases are
ranges (`Device.phase`).
"""

from __future__ import annotations

import json
import re
import socket
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.files import check_writable, write_whole

if TYPE_CHECKING:
    from ogg_hpc.runtime.communicator import Communicator

FORMAT = "ogg-hpc-trace/1"
# Spans of one name that a rank keeps; there are some ten names.
MOST_OF_A_NAME = 20_000
_MEETINGS = 9
_NOTHING = nullcontext()


class Trace:
    """The trace of a run that keeps none."""

    def span(self, name: str, **args: Any) -> AbstractContextManager[None]:
        """Note when the block begins and ends.

        Parameters
        ----------
        name
            What it does; one of a few names, for each of which a bounded number is kept.
        **args
            Plain values that are shown with it.
        """
        return _NOTHING

    def add(self, category: str, name: str, start: float, end: float, **args: Any) -> None:
        """Note what began and ended at two values of `time.perf_counter`."""

    def write(self) -> None:
        """Write this rank's file, whole or not at all."""


NO_TRACE = Trace()


@dataclass
class _LeftOut:
    spans: int = 0
    seconds: float = 0.0


class RecordingTrace(Trace):
    """A trace of this rank, kept in memory until it is written (collective).

    Parameters
    ----------
    comm
        The ranks, which agree on the time.
    folder
        Where the ranks write their files; those of an earlier run are removed.

    Raises
    ------
    InputError
        The folder cannot be written.
    """

    def __init__(self, comm: Communicator, folder: Path) -> None:
        self._path = folder / f"rank-{comm.rank:05}.json"
        comm.on_root(lambda: _remove_earlier(folder))
        comm.on_all(lambda: check_writable(self._path))
        self._comm = comm
        self._spans: list[tuple[str, str, float, float, dict[str, Any]]] = []
        self._kept: dict[str, int] = {}
        self._left_out: dict[str, _LeftOut] = {}
        self._offset, self._accuracy, self._zero = _agree_on_time(comm)
        self._started = comm.broadcast_object(datetime.now(UTC).isoformat(timespec="milliseconds"))

    @contextmanager
    def span(self, name: str, **args: Any) -> Iterator[None]:
        """See `Trace.span`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add("phase", name, start, time.perf_counter(), **args)

    def add(self, category: str, name: str, start: float, end: float, **args: Any) -> None:
        """See `Trace.add`."""
        kept = self._kept.get(name, 0)
        if kept < MOST_OF_A_NAME:
            self._kept[name] = kept + 1
            self._spans.append((category, name, start, end, args))
        else:
            left_out = self._left_out.setdefault(name, _LeftOut())
            left_out.spans += 1
            left_out.seconds += end - start

    def write(self) -> None:
        """See `Trace.write`."""
        document = {
            "traceEvents": [*self._names(), *map(self._event, self._spans)],
            "displayTimeUnit": "ms",
            "otherData": {
                "format": FORMAT,
                "command": sys.argv,
                "rank": self._comm.rank,
                "ranks": self._comm.size,
                "host": socket.gethostname(),
                "device": self._comm.device.name,
                "started": self._started,
                "clock": {"offset_seconds": self._offset, "accuracy_seconds": self._accuracy},
                "left_out": {name: asdict(left) for name, left in self._left_out.items()},
            },
        }
        with write_whole(self._path) as temporary:
            temporary.write_text(json.dumps(document), encoding="utf-8")

    def _names(self) -> list[dict[str, Any]]:
        rank = self._comm.rank
        labels = [socket.gethostname(), self._comm.device.name]
        labels += [f"{left.spans} {name} left out" for name, left in self._left_out.items()]
        return [
            {"ph": "M", "pid": rank, "tid": rank, "name": name, "args": args}
            for name, args in (
                ("process_name", {"name": f"rank {rank}"}),
                ("process_labels", {"labels": ", ".join(labels)}),
                ("process_sort_index", {"sort_index": rank}),
                ("thread_name", {"name": f"rank {rank}"}),
            )
        ]

    def _event(self, span: tuple[str, str, float, float, dict[str, Any]]) -> dict[str, Any]:
        category, name, start, end, args = span
        begin, finish = (self._microseconds(moment) for moment in (start, end))
        return {
            "ph": "X", "pid": self._comm.rank, "tid": self._comm.rank, "cat": category,
            "name": name, "ts": begin, "dur": round(finish - begin, 3), "args": args,
        }  # fmt: skip

    def _microseconds(self, moment: float) -> float:
        return round((moment + self._offset - self._zero) * 1e6, 3)


@contextmanager
def profiled(comm: Communicator, folder: str | Path | None) -> Iterator[None]:
    """Let the block's ranks record traces, and write them when it ends, however it ends.

    Collective at the start, by this rank alone at the end: the other ranks may be gone. Without a
    folder nothing is recorded. A rank that is killed writes nothing.

    Raises
    ------
    InputError
        The folder cannot be written.
    """
    if folder is None:
        yield
        return
    trace = RecordingTrace(comm, Path(folder))
    comm.keep_trace(trace)
    try:
        yield
    except BaseException:
        with suppress(InputError):  # the error that ends the block is the one to tell
            trace.write()
        raise
    else:
        trace.write()
    finally:
        comm.keep_trace(NO_TRACE)


def _remove_earlier(folder: Path) -> None:
    if folder.is_dir():
        for path in folder.iterdir():
            if re.fullmatch(r"rank-\d{5,}\.json", path.name):
                path.unlink()


def _agree_on_time(comm: Communicator) -> tuple[float, float, float]:
    """Compare clocks as the ranks leave barriers, which they do at almost the same time.

    Returns
    -------
    offset, accuracy, zero
        What to add to this rank's clock for that of rank 0, how far the differences found in
        single barriers are from it at most, and rank 0's time at the first barrier. Ranks of one
        machine have one clock, and so one offset.
    """
    moments = []
    for _ in range(_MEETINGS):
        comm.barrier()
        moments.append(time.perf_counter())
    everyone = comm.gather_objects((_machine(), moments))
    of_rank_0 = everyone[0][1]
    speaker = next(theirs for machine, theirs in everyone if machine == _machine())
    differences = [a - b for a, b in zip(of_rank_0, speaker, strict=True)]
    offset = statistics.median(differences)
    return offset, max(abs(each - offset) for each in differences), of_rank_0[0]


def _machine() -> str:
    """Return what ranks with one clock have in common."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        return socket.gethostname()
