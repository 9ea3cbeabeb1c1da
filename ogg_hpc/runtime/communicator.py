"""Collectives over ranks, on host and on GPU buffers, each counted by name.

`Communicator` is one rank alone; `MPICommunicator` is many under a launcher. Code that
communicates takes one of them and does not know which.

Every call on GPU buffers synchronises the device first. Such a buffer is handed to MPI directly
only where the library is known to be GPU-aware; otherwise it goes through one page-locked
staging buffer in each direction, which is allocated once and only grows.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import OggError
from ogg_hpc.runtime.device import CPUDevice, Device
from ogg_hpc.runtime.mailbox import Mailbox, MPIMailbox
from ogg_hpc.runtime.row_window import MPIRowWindow, RowWindow
from ogg_hpc.runtime.trace import NO_TRACE, Trace
from ogg_hpc.runtime.watchdog import Watchdog

T = TypeVar("T")
Counts = Sequence[int] | NDArray[np.int64]

# Open MPI fails on messages of 2^31 elements or more.
_MOST_ELEMENTS = 2**30
_UNWATCHED = nullcontext()


@dataclass
class CollectiveCount:
    """What one kind of collective has cost this rank.

    Attributes
    ----------
    calls
        Number of calls.
    bytes
        Bytes this rank sends under a bandwidth-optimal algorithm (Thakur, Rabenseifner and
        Gropp, IJHPCA 2005): for a result of n bytes, 2(P-1)/P n for an Allreduce and
        (P-1)/P n for an Allgather or Reduce_scatter.
    seconds
        Wall time inside the calls, waiting for other ranks included.
    path
        ``host``, ``staged`` (through page-locked memory) or ``device`` (GPU-aware MPI).
    """

    calls: int = 0
    bytes: int = 0
    seconds: float = 0.0
    path: str = "host"


class Communicator:
    """The collectives of a rank that is alone.

    Parameters
    ----------
    device
        Where the buffers live.
    gpu_aware
        Whether MPI may be handed GPU buffers.

    Attributes
    ----------
    rank, size : int
        This rank's number and the number of ranks.
    local_rank, local_size : int
        The same within this rank's node.
    counts : dict of str to CollectiveCount
        What each kind of collective has cost this rank.
    trace : Trace
        Where this rank notes what it does when.
    """

    rank = 0
    size = 1
    local_rank = 0
    local_size = 1

    def __init__(self, device: Device | None = None, *, gpu_aware: bool = False) -> None:
        self.device: Device = device if device is not None else CPUDevice()
        self.gpu_aware = gpu_aware
        self.counts: dict[str, CollectiveCount] = {}
        self.trace: Trace = NO_TRACE
        self._staging: dict[str, NDArray[np.uint8]] = {}

    def keep_trace(self, trace: Trace) -> None:
        """Note in a trace from now on what this rank does when."""
        self.trace = trace

    # Collectives on buffers.

    def allreduce(self, array: Any, op: str = "sum") -> Any:
        """Combine equal-shaped arrays of all ranks elementwise.

        Parameters
        ----------
        array
            This rank's array.
        op
            ``sum``, ``max``, ``min``, or ``or`` of the bits of integers.

        Returns
        -------
        array
            The combination, on every rank.
        """
        sent = 2 * array.nbytes * (self.size - 1) // self.size
        return self._call(
            "allreduce",
            array,
            array.shape,
            sent,
            lambda send, receive: self._allreduce(send, receive, op),
        )

    def agree(self, flags: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the largest of each flag over all ranks, so that all act on it alike.

        An Allreduce of a few bytes, counted under a name of its own.
        """
        result: NDArray[np.int64] = self._call(
            "agree",
            flags,
            flags.shape,
            2 * flags.nbytes * (self.size - 1) // self.size,
            lambda send, receive: self._allreduce(send, receive, "max"),
        )
        return result

    def allgatherv(self, array: Any, counts: Counts) -> Any:
        """Concatenate the arrays of all ranks along the first axis, in rank order.

        Parameters
        ----------
        array
            (counts[rank], ...) this rank's rows.
        counts
            Number of rows of each rank.
        """
        total = int(sum(counts))
        row_bytes = array.dtype.itemsize * int(np.prod(array.shape[1:], dtype=np.int64))
        return self._call(
            "allgatherv",
            array,
            (total, *array.shape[1:]),
            total * row_bytes * (self.size - 1) // self.size,
            lambda send, receive: self._allgatherv(send, receive, counts),
        )

    def reduce_scatter(self, array: Any, counts: Counts) -> Any:
        """Sum equal-shaped arrays of all ranks and leave each rank its own rows.

        Parameters
        ----------
        array
            (sum(counts), ...) this rank's summand.
        counts
            Number of rows each rank receives.

        Returns
        -------
        array
            (counts[rank], ...) rows of the sum.
        """
        return self._call(
            "reduce_scatter",
            array,
            (counts[self.rank], *array.shape[1:]),
            array.nbytes * (self.size - 1) // self.size,
            lambda send, receive: self._reduce_scatter(send, receive, counts),
        )

    def alltoallv(
        self, array: Any, counts: Counts, received: Counts | None = None
    ) -> tuple[Any, NDArray[np.int64]]:
        """Send rows to each rank and receive rows from each.

        Parameters
        ----------
        array
            (sum(counts), ...) rows in the order of their receivers.
        counts
            Number of rows for each rank.
        received
            Number of rows from each rank, where it is known; found out by a small message
            otherwise. All ranks know it, or none.

        Returns
        -------
        array, received
            Rows in the order of their senders, and how many came from each.
        """
        sent = np.asarray(counts, dtype=np.int64)
        if received is None:
            received = self._exchange_counts(sent)
        came = np.asarray(received, dtype=np.int64)
        result = self._call(
            "alltoallv",
            array,
            (int(came.sum()), *array.shape[1:]),
            self._bytes_away(array, sent),
            lambda send, receive: self._alltoallv(send, receive, sent, came),
        )
        return result, came

    def start_alltoallv(self, array: Any, counts: Counts, received: Counts) -> Callable[[], Any]:
        """Begin an `alltoallv`, to work while rows are on their way.

        Counted as ``alltoallv``, with the seconds of its beginning and its end. One at a time may
        be under way on a GPU's buffers; any number on the host's, which all ranks begin in the
        same order.

        Parameters
        ----------
        array
            (sum(counts), ...) rows to send, which must stay as they are until the end.
        counts, received
            Number of rows for each rank, and from each.

        Returns
        -------
        callable
            Waits for the end and returns the rows in the order of their senders.
        """
        sent = np.asarray(counts, dtype=np.int64)
        came = np.asarray(received, dtype=np.int64)
        return self._begin(
            "alltoallv",
            array,
            (int(came.sum()), *array.shape[1:]),
            self._bytes_away(array, sent),
            lambda send, receive: self._start_alltoallv(send, receive, sent, came),
        )

    def start_sendrecv(self, array: Any, to: int, rows: int, source: int) -> Callable[[], Any]:
        """Begin to send rows to one rank while others come from another, as in a ring.

        Counted as ``sendrecv``, with the seconds of its beginning and its end. One at a time may
        be under way.

        Parameters
        ----------
        array
            (k, ...) rows to send, which must stay as they are until the end.
        to, source
            The ranks.
        rows
            Number of rows that come, of the shape and dtype of those sent.

        Returns
        -------
        callable
            Waits for the end and returns the rows that have come.
        """
        return self._begin(
            "sendrecv",
            array,
            (rows, *array.shape[1:]),
            0 if to == self.rank else array.nbytes,
            lambda send, receive: self._start_sendrecv(send, to, receive, source),
        )

    def broadcast(self, array: Any, root: int = 0) -> Any:
        """Return the root's array on every rank; the others pass one of equal shape and dtype."""
        sent = array.nbytes * (self.size - 1) // self.size
        return self._call(
            "broadcast",
            array,
            array.shape,
            sent,
            lambda send, receive: self._broadcast(send, receive, root),
        )

    def best(
        self, scores: Any, ids: Any, counts: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        """Find the best (score, id) pairs of all ranks; ties go to the lowest id.

        Parameters
        ----------
        scores
            (groups, d) this rank's best scores of each group; -inf where it has fewer.
        ids
            (groups, d) their ids, below 2**53.
        counts
            (groups,) or (groups, k) numbers to add up over the ranks in the same message.

        Returns
        -------
        scores, ids, counts
            (groups, d), (groups, d) and the sums on the host of every rank, best first.
        """
        xp = self.device.xp
        groups, d = scores.shape
        numbers = counts.reshape(groups, -1)
        message = xp.empty((1, groups, 2 * d + numbers.shape[1]), np.float64)
        message[0, :, :d], message[0, :, d : 2 * d], message[0, :, 2 * d :] = scores, ids, numbers
        everyone = self.device.to_host(self.allgatherv(message, [1] * self.size))
        merged = everyone[:, :, : 2 * d].reshape(self.size, groups, 2, d)
        all_scores, all_ids = merged.transpose(2, 1, 0, 3).reshape(2, groups, -1)
        order = np.lexsort((all_ids, -all_scores), axis=-1)[:, :d]
        return (
            np.take_along_axis(all_scores, order, axis=1),
            np.take_along_axis(all_ids, order, axis=1).astype(np.int64),
            everyone[:, :, 2 * d :].sum(axis=0).astype(np.int64).reshape(counts.shape),
        )

    # Collectives on Python objects: small, rare, host only.

    def broadcast_object(self, value: T, root: int = 0) -> T:
        """Return the root's object on every rank."""
        return value

    def gather_objects(self, value: T) -> list[T]:
        """Return the objects of all ranks, in rank order, on every rank."""
        return [value]

    def gather_on_root(self, value: T) -> list[T] | None:
        """Return the objects of all ranks, in rank order, on rank 0; None on the others."""
        return [value]

    def scatter_from_root(self, values: list[T] | None) -> T:
        """Return on each rank its own of the objects that rank 0 passes, in rank order."""
        assert values is not None
        return values[0]

    def send_object(self, value: Any, rank: int) -> None:
        """Send an object to another rank, which calls `receive_object`; not collective."""
        raise AssertionError("a rank that is alone has nobody to send to")

    def receive_object(self, rank: int) -> Any:
        """Return the next object that another rank sends to this one; not collective."""
        raise AssertionError("a rank that is alone has nobody to receive from")

    def barrier(self) -> None:
        """Wait for all ranks."""

    def split(self, colour: int) -> Communicator:
        """Return the communicator of all ranks that pass the same colour (collective).

        Its calls count towards this communicator's totals. MPI has about 2,000 of them at a time:
        `free` gives one back.
        """
        return self.alone()

    def node(self) -> Communicator:
        """Return the communicator of the ranks on this rank's node (collective).

        As for `split`.
        """
        return self.alone()

    def free(self) -> None:
        """Give back what `split` or `node` has made (collective); memory shared on it stays."""

    def allocate_shared(self, nbytes: int) -> tuple[NDArray[np.uint8], Callable[[], None]]:
        """Allocate memory that all ranks can write; they have to be on one node (collective).

        Returns
        -------
        memory : (nbytes,) uint8
            Not initialised. What a rank has written, the others see after a barrier.
        free : callable
            Gives it back, after which nobody may touch it (collective).

        Raises
        ------
        MemoryError
            MPI cannot share so much.
        """
        return np.empty(nbytes, np.uint8), lambda: None

    def allocate_rows(self, rows: int, width: int) -> RowWindow:
        """Allocate rows of float32 that all ranks read and add to at any time (collective).

        Parameters
        ----------
        rows
            Number of rows that this rank holds.
        width
            Number of columns, the same on all ranks.

        Raises
        ------
        MemoryError
            MPI cannot allocate so many.
        """
        return RowWindow(rows, width)

    def mailbox(self) -> Mailbox:
        """Return what sends messages to other ranks at any time (collective)."""
        return Mailbox()

    def alone(self) -> Communicator:
        """Return a communicator of this rank alone, which takes none of MPI's.

        Its calls count towards this communicator's totals.
        """
        part = Communicator(self.device, gpu_aware=self.gpu_aware)
        part.counts, part.trace = self.counts, self.trace
        return part

    def on_root(self, function: Callable[[], T]) -> T:
        """Run a function on rank 0 alone and hand its result, or its exception, to all ranks.

        Raises
        ------
        Exception
            Whatever `function` raised, on every rank.
        """
        outcome: tuple[T | None, Exception | None] = (None, None)
        if self.rank == 0:
            try:
                outcome = (function(), None)
            except Exception as raised:
                raised.raised_on_root = True  # type: ignore[attr-defined]
                if isinstance(raised, OggError):
                    raised.shared()
                outcome = (None, raised)
        shared = outcome
        if self.size > 1:
            with self._waiting("on_root"):
                shared = self.broadcast_object(outcome if _pickles(outcome) else _as_text(outcome))
        error = outcome[1] or shared[1]  # rank 0 keeps the traceback
        if error is not None:
            raise error
        return shared[0]  # type: ignore[return-value]

    def on_all(self, function: Callable[[], T]) -> T:
        """Run a function on every rank; if a user's error ends it anywhere, raise it everywhere.

        For work that all ranks do alike, such as checking settings or reading files: one rank
        then speaks for all.

        Raises
        ------
        OggError
            The error of the lowest rank that had one.
        """
        result, error = None, None
        try:
            result = function()
        except OggError as raised:
            error = raised
        with self._waiting("on_all"):
            errors = self.gather_objects(error)
        found = next((e for e in errors if e is not None), None)
        if found is not None:
            raise found.shared()
        return result  # type: ignore[return-value]

    def report(self, earlier: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
        """Return the counts as plain values for a record, less those of an earlier report."""
        result = {}
        for name, count in sorted(self.counts.items()):
            values, before = asdict(count), (earlier or {}).get(name)
            if before is not None:
                values |= {key: values[key] - before[key] for key in ("calls", "bytes", "seconds")}
            if values["calls"]:
                result[name] = values
        return result

    # How a call moves its bytes.

    def _call(
        self,
        name: str,
        array: Any,
        shape: tuple[int, ...],
        sent: int,
        move: Callable[[Any, Any], None],
    ) -> Any:
        start = time.perf_counter()
        send, receive, path = self._buffers(array, shape)
        with self._waiting(name):
            move(send, receive)
        result = self._delivered(receive, path)
        self._count(name, sent, path, start)
        return result

    def _begin(
        self,
        name: str,
        array: Any,
        shape: tuple[int, ...],
        sent: int,
        begin: Callable[[Any, Any], Callable[[], object]],
    ) -> Callable[[], Any]:
        start = time.perf_counter()
        send, receive, path = self._buffers(array, shape, "leaving", "arriving")
        finish = begin(send, receive)
        begun = time.perf_counter() - start

        def wait() -> Any:
            start = time.perf_counter()
            with self._waiting(name):
                finish()
            result = self._delivered(receive, path)
            self._count(name, sent, path, start, begun)
            return result

        return wait

    def _bytes_away(self, array: Any, counts: NDArray[np.int64]) -> int:
        """Return the bytes of rows that are for other ranks."""
        row_bytes = int(array.dtype.itemsize) * int(np.prod(array.shape[1:], dtype=np.int64))
        return (len(array) - int(counts[self.rank])) * row_bytes

    def _buffers(
        self, array: Any, shape: tuple[int, ...], send: str = "send", receive: str = "receive"
    ) -> tuple[Any, Any, str]:
        """Return what MPI sends, where it receives, and the path that the bytes take."""
        device = self.device
        on_host = isinstance(array, np.ndarray)
        xp = np if on_host else device.xp
        array = xp.ascontiguousarray(array)
        if on_host or self.gpu_aware:
            result = xp.empty(shape, array.dtype)
            if not on_host:
                device.synchronize()
            return array, result, "host" if on_host else "device"
        staged = self._staged(send, array.shape, array.dtype)
        device.synchronize()
        device.to_host(array, out=staged)
        return staged, self._staged(receive, shape, array.dtype), "staged"

    def _delivered(self, receive: Any, path: str) -> Any:
        if path != "staged":
            return receive
        result = self.device.from_host(receive)
        # The next call overwrites the staging buffer, so the copy must have left it.
        self.device.synchronize()
        return result

    def _count(self, name: str, sent: int, path: str, start: float, before: float = 0.0) -> None:
        count = self.counts.setdefault(name, CollectiveCount())
        count.calls += 1
        count.bytes += sent
        count.seconds += before + (end := time.perf_counter()) - start
        self.trace.add("collective", name, start, end, bytes=sent, path=path)
        count.path = path

    def _staged(self, use: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        nbytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        buffer = self._staging.get(use)
        if buffer is None or buffer.nbytes < nbytes:
            buffer = self._staging[use] = self.device.pinned(nbytes)
        staged: NDArray[Any] = buffer[:nbytes].view(dtype).reshape(shape)
        return staged

    def _waiting(self, name: str) -> AbstractContextManager[None]:
        """Return a context in which this rank waits for others, under the eye of the watchdog."""
        return _UNWATCHED

    # Transports: what differs between one rank and many.

    def _allreduce(self, send: Any, receive: Any, op: str) -> None:
        receive[...] = send

    def _allgatherv(self, send: Any, receive: Any, counts: Counts) -> None:
        receive[...] = send

    def _reduce_scatter(self, send: Any, receive: Any, counts: Counts) -> None:
        receive[...] = send

    def _alltoallv(
        self, send: Any, receive: Any, counts: NDArray[np.int64], received: NDArray[np.int64]
    ) -> None:
        receive[...] = send

    def _broadcast(self, send: Any, receive: Any, root: int) -> None:
        receive[...] = send

    def _start_sendrecv(
        self, send: Any, to: int, receive: Any, source: int
    ) -> Callable[[], object]:
        receive[...] = send
        return lambda: None

    def _start_alltoallv(
        self, send: Any, receive: Any, counts: NDArray[np.int64], received: NDArray[np.int64]
    ) -> Callable[[], object]:
        receive[...] = send
        return lambda: None

    def _exchange_counts(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        return counts


class MPICommunicator(Communicator):
    """The collectives of a rank among many, over mpi4py.

    Parameters
    ----------
    mpi
        An ``mpi4py.MPI.Intracomm``.
    device, gpu_aware
        As for `Communicator`.
    watchdog
        Who ends the job when a collective takes too long; nobody by default.
    """

    def __init__(
        self,
        mpi: Any,
        device: Device | None = None,
        *,
        gpu_aware: bool = False,
        watchdog: Watchdog | None = None,
    ) -> None:
        super().__init__(device, gpu_aware=gpu_aware)
        from mpi4py import MPI

        self._MPI = MPI
        self._mpi = mpi
        self.rank = mpi.Get_rank()
        self.size = mpi.Get_size()
        node = mpi.Split_type(MPI.COMM_TYPE_SHARED)
        self.local_rank, self.local_size = node.Get_rank(), node.Get_size()
        self._watchdog = watchdog
        self._peers = watchdog.peers(mpi) if watchdog is not None else ()
        node.Free()

    def keep_trace(self, trace: Trace) -> None:
        """See `Communicator.keep_trace`; a watchdog that ends the job writes the trace, too."""
        super().keep_trace(trace)
        if self._watchdog is not None:
            self._watchdog.trace = trace

    def broadcast_object(self, value: T, root: int = 0) -> T:
        """Return the root's object on every rank."""
        with self._waiting("broadcast_object"):
            result: T = self._mpi.bcast(value, root)
        return result

    def gather_objects(self, value: T) -> list[T]:
        """Return the objects of all ranks, in rank order, on every rank."""
        with self._waiting("gather_objects"):
            result: list[T] = self._mpi.allgather(value)
        return result

    def gather_on_root(self, value: T) -> list[T] | None:
        """Return the objects of all ranks, in rank order, on rank 0; None on the others."""
        with self._waiting("gather_on_root"):
            result: list[T] | None = self._mpi.gather(value, 0)
        return result

    def scatter_from_root(self, values: list[T] | None) -> T:
        """Return on each rank its own of the objects that rank 0 passes, in rank order."""
        with self._waiting("scatter_from_root"):
            result: T = self._mpi.scatter(values, 0)
        return result

    def send_object(self, value: Any, rank: int) -> None:
        """Send an object to another rank, which calls `receive_object`; not collective."""
        with self._waiting("send_object"):
            self._mpi.send(value, rank)

    def receive_object(self, rank: int) -> Any:
        """Return the next object that another rank sends to this one; not collective."""
        with self._waiting("receive_object"):
            return self._mpi.recv(source=rank)

    def barrier(self) -> None:
        """Wait for all ranks."""
        with self._waiting("barrier"):
            self._mpi.Barrier()

    def split(self, colour: int) -> Communicator:
        """Return the communicator of all ranks that pass the same colour (collective).

        Its calls count towards this communicator's totals.
        """
        return self._part("split", lambda: self._mpi.Split(colour, self.rank))

    def node(self) -> Communicator:
        """See `Communicator.node`."""
        shared = self._MPI.COMM_TYPE_SHARED
        return self._part("node", lambda: self._mpi.Split_type(shared, self.rank))

    def free(self) -> None:
        """See `Communicator.free`."""
        self._mpi.Free()

    def _part(self, name: str, split: Callable[[], Any]) -> Communicator:
        with self._waiting(name):
            part = MPICommunicator(
                split(), self.device, gpu_aware=self.gpu_aware, watchdog=self._watchdog
            )
        part.counts, part.trace = self.counts, self.trace
        return part

    def allocate_shared(self, nbytes: int) -> tuple[NDArray[np.uint8], Callable[[], None]]:
        """See `Communicator.allocate_shared`."""
        try:
            with self._waiting("allocate_shared"):
                window = self._MPI.Win.Allocate_shared(
                    nbytes if self.rank == 0 else 0, 1, comm=self._mpi
                )
        except self._MPI.Exception as error:
            raise MemoryError(str(error)) from None
        memory: Any = window.Shared_query(0)[0]
        return np.frombuffer(memory, np.uint8, nbytes), window.Free

    def allocate_rows(self, rows: int, width: int) -> RowWindow:
        """See `Communicator.allocate_rows`."""
        try:
            return MPIRowWindow(self._mpi, rows, width, self._waiting, self._count)
        except self._MPI.Exception as error:
            raise MemoryError(str(error)) from None

    def mailbox(self) -> Mailbox:
        """See `Communicator.mailbox`."""
        with self._waiting("mailbox"):
            return MPIMailbox(self._mpi, self._waiting)

    def _allreduce(self, send: Any, receive: Any, op: str) -> None:
        mpi = self._MPI
        operation = {"sum": mpi.SUM, "max": mpi.MAX, "min": mpi.MIN, "or": mpi.BOR}[op]
        flat_send, flat_receive = send.reshape(-1), receive.reshape(-1)
        # Every rank makes one call at least, also for an empty array.
        for start in range(0, max(1, flat_send.size), _MOST_ELEMENTS):
            part = slice(start, start + _MOST_ELEMENTS)
            self._mpi.Allreduce(flat_send[part], flat_receive[part], operation)

    def _allgatherv(self, send: Any, receive: Any, counts: Counts) -> None:
        with self._row_type(send) as row:
            self._mpi.Allgatherv([send, len(send), row], [receive, (counts, None), row])

    def _alltoallv(
        self, send: Any, receive: Any, counts: NDArray[np.int64], received: NDArray[np.int64]
    ) -> None:
        with self._row_type(send) as row:
            self._mpi.Alltoallv([send, (counts, None), row], [receive, (received, None), row])

    def _start_sendrecv(
        self, send: Any, to: int, receive: Any, source: int
    ) -> Callable[[], object]:
        with self._row_type(send) as row:  # MPI keeps a freed type until its messages are done
            requests = [
                self._mpi.Irecv([receive, len(receive), row], source),
                self._mpi.Isend([send, len(send), row], to),
            ]
        return lambda: self._MPI.Request.Waitall(requests)

    def _start_alltoallv(
        self, send: Any, receive: Any, counts: NDArray[np.int64], received: NDArray[np.int64]
    ) -> Callable[[], object]:
        with self._row_type(send) as row:
            request = self._mpi.Ialltoallv(
                [send, (counts, None), row], [receive, (received, None), row]
            )
        # The buffers live as long as what waits for them.
        return lambda: (request.Wait(), send, receive)

    def _reduce_scatter(self, send: Any, receive: Any, counts: Counts) -> None:
        # Reductions take elements, not rows; too many are cut along the columns, which all
        # ranks have in common.
        xp = np if isinstance(send, np.ndarray) else self.device.xp
        width = int(np.prod(send.shape[1:], dtype=np.int64))
        if send.size <= _MOST_ELEMENTS or width == 1:
            elements = [count * width for count in counts]
            self._mpi.Reduce_scatter(send, receive, elements, self._MPI.SUM)
            return
        columns = max(1, _MOST_ELEMENTS // len(send))
        wide_send, wide_receive = send.reshape(len(send), width), receive.reshape(-1, width)
        for start in range(0, width, columns):
            part = xp.ascontiguousarray(wide_send[:, start : start + columns])
            mine = xp.empty((counts[self.rank], part.shape[1]), part.dtype)
            elements = [count * part.shape[1] for count in counts]
            self.device.synchronize()  # the copy must be there before MPI reads it
            self._mpi.Reduce_scatter(part, mine, elements, self._MPI.SUM)
            wide_receive[:, start : start + columns] = mine

    def _broadcast(self, send: Any, receive: Any, root: int) -> None:
        if self.rank == root:
            receive[...] = send
            self.device.synchronize()  # the copy must be there before MPI reads it
        flat = receive.reshape(-1)
        for start in range(0, flat.size, _MOST_ELEMENTS):
            self._mpi.Bcast(flat[start : start + _MOST_ELEMENTS], root)

    def _exchange_counts(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        received = np.empty_like(counts)
        with self._waiting("alltoallv"):
            self._mpi.Alltoall(counts, received)
        return received

    def _waiting(self, name: str) -> AbstractContextManager[None]:
        if self._watchdog is None:
            return _UNWATCHED
        return self._watchdog.waiting(name, self._peers)

    def _row_type(self, array: Any) -> _RowType:
        return _RowType(self._MPI, array)


class _RowType:
    """An MPI datatype for one row of an array: counts stay far below 2^31, whatever the width."""

    def __init__(self, MPI: Any, array: Any) -> None:
        element = MPI.Datatype.fromcode(np.dtype(array.dtype).char)
        self._type = element.Create_contiguous(int(np.prod(array.shape[1:], dtype=np.int64)))

    def __enter__(self) -> Any:
        return self._type.Commit()

    def __exit__(self, *_: object) -> None:
        self._type.Free()


def _pickles(value: object) -> bool:
    try:
        pickle.loads(pickle.dumps(value))
    except Exception:
        return False
    return True


def _as_text(outcome: tuple[Any, Exception | None]) -> tuple[Any, Exception | None]:
    value, error = outcome
    stand_in: Any
    if error is None:
        stand_in = TypeError(f"{type(value).__name__} cannot be sent to other ranks")
    else:
        stand_in = RuntimeError(f"{type(error).__name__}: {error}")
    stand_in.raised_on_root = True
    return None, stand_in
