"""Collectives on device buffers, with a device that catches what a GPU would not forgive.

Its arrays refuse to become host arrays by accident, and its work (uploads, assignments) is done
only when it is synchronised, so that reading too early gives wrong values.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from ogg_hpc.runtime.communicator import Communicator, MPICommunicator

GARBAGE = 77


class DeviceArray:
    def __init__(self, device, memory):
        self.device, self.memory = device, memory
        self.shape, self.dtype, self.nbytes = memory.shape, memory.dtype, memory.nbytes

    def __len__(self):
        return len(self.memory)

    def reshape(self, *shape):
        return DeviceArray(self.device, self.memory.reshape(*shape))

    def __setitem__(self, key, value):
        values = value.memory if isinstance(value, DeviceArray) else value
        assert not isinstance(values, np.ndarray) or isinstance(value, DeviceArray)
        self.device.unfinished.append(lambda: self.memory.__setitem__(key, values))

    def _refuse(self, *_, **__):
        raise TypeError("implicit conversion of a device array to the host")

    __array__ = __buffer__ = __iter__ = __getitem__ = __float__ = __int__ = __bool__ = _refuse


class Device:
    name = "fake"

    def __init__(self):
        self.unfinished = []
        self.allocations = []
        self.xp = SimpleNamespace(empty=self._empty, ascontiguousarray=self._contiguous)

    def _empty(self, shape, dtype):
        return DeviceArray(self, np.full(shape, GARBAGE, dtype))

    def _contiguous(self, array):
        assert isinstance(array, DeviceArray)
        return array

    def synchronize(self):
        for work in self.unfinished:
            work()
        self.unfinished.clear()

    def to_host(self, array, out=None):
        assert isinstance(array, DeviceArray)
        if out is None:
            return array.memory.copy()
        np.copyto(out, array.memory)
        return out

    def from_host(self, array):
        result = self._empty(array.shape, array.dtype)
        self.unfinished.append(lambda: np.copyto(result.memory, array))
        return result

    def pinned(self, nbytes):
        self.allocations.append(nbytes)
        return np.empty(nbytes, np.uint8)


@pytest.fixture
def staged(comm):
    """All ranks, on devices that MPI may not be handed buffers of."""
    part = comm.split(0)
    part.counts = {}
    part.device = Device()
    return part


def upload(comm, array):
    return comm.device.from_host(np.ascontiguousarray(array))


def test_allreduce(staged):
    result = staged.allreduce(upload(staged, np.full((2, 3), staged.rank + 1.0)))
    assert isinstance(result, DeviceArray)
    total = staged.size * (staged.size + 1) / 2
    np.testing.assert_array_equal(staged.device.to_host(result), np.full((2, 3), total))
    assert staged.report()["allreduce"]["path"] == "staged"


def test_allgatherv(staged):
    counts = list(range(staged.size))
    result = staged.allgatherv(upload(staged, np.full((staged.rank, 2), staged.rank)), counts)
    expected = np.repeat(np.arange(staged.size), counts)[:, None] * np.ones((1, 2))
    np.testing.assert_array_equal(staged.device.to_host(result), expected)
    assert staged.report()["allgatherv"]["path"] == "staged"


def test_reduce_scatter(staged):
    rows = np.arange(staged.size, dtype=np.float32)[:, None]
    result = staged.reduce_scatter(upload(staged, rows), [1] * staged.size)
    assert staged.device.to_host(result).tolist() == [[staged.rank * staged.size]]
    assert staged.report()["reduce_scatter"]["path"] == "staged"


def test_alltoallv(staged):
    rows = np.arange(staged.size) + 10 * staged.rank
    result, received = staged.alltoallv(upload(staged, rows), [1] * staged.size)
    expected = 10 * np.arange(staged.size) + staged.rank
    np.testing.assert_array_equal(staged.device.to_host(result), expected)
    assert received.tolist() == [1] * staged.size
    assert staged.report()["alltoallv"]["path"] == "staged"


def test_broadcast(staged):
    result = staged.broadcast(upload(staged, np.full(3, staged.rank)), staged.size - 1)
    assert staged.device.to_host(result).tolist() == [staged.size - 1] * 3
    assert staged.report()["broadcast"]["path"] == "staged"


def test_sendrecv_lets_other_collectives_pass_meanwhile(staged):
    to, source = (staged.rank + 1) % staged.size, (staged.rank - 1) % staged.size
    wait = staged.start_sendrecv(upload(staged, np.full(3, staged.rank)), to, 3, source)
    staged.allreduce(upload(staged, np.full(3, 50)))
    assert staged.device.to_host(wait()).tolist() == [source] * 3
    assert staged.report()["sendrecv"]["path"] == "staged"


def test_best(staged):
    scores, ids, counts = staged.best(
        upload(staged, np.array([[1.0 + staged.rank]])),
        upload(staged, np.array([[5.0 + staged.rank]])),
        upload(staged, np.array([1.0])),
    )
    assert scores.tolist() == [[staged.size]]
    assert ids.tolist() == [[4 + staged.size]]
    assert counts.tolist() == [staged.size]
    assert staged.report()["allgatherv"]["path"] == "staged"


def test_results_outlive_the_next_call(staged):
    first = staged.allreduce(upload(staged, np.ones(4)))
    staged.allreduce(upload(staged, np.full(4, 9.0)))
    assert staged.device.to_host(first).tolist() == [staged.size] * 4


def test_staging_buffers_only_grow(staged):
    for elements in (8, 2, 8, 32, 1, 0, 32):
        staged.allreduce(upload(staged, np.ones(elements)))
    # One buffer each way: allocated at first, and again where it was too small.
    assert staged.device.allocations == [64, 64, 256, 256]


def test_host_arrays_are_not_staged(staged):
    assert isinstance(staged.allreduce(np.ones(2)), np.ndarray)
    assert staged.report()["allreduce"]["path"] == "host"
    assert staged.device.allocations == []


class GPUAware(Communicator):
    """A transport that is handed device buffers, as a GPU-aware MPI is."""

    def __init__(self):
        super().__init__(Device(), gpu_aware=True)
        self.seen = []

    def _allreduce(self, send, receive, op):
        assert isinstance(send, DeviceArray)
        assert isinstance(receive, DeviceArray)
        assert self.device.unfinished == []
        self.seen.append(send.memory.copy())
        receive.memory[...] = send.memory * 2

    _allgatherv = _reduce_scatter = _alltoallv = _broadcast = lambda self, send, receive, *_: (
        self._allreduce(send, receive, "sum")
    )

    def _start_sendrecv(self, send, to, receive, source):
        return lambda: self._allreduce(send, receive, "sum")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("allreduce", ()),
        ("allgatherv", ([3],)),
        ("reduce_scatter", ([3],)),
        ("alltoallv", ([3],)),
        ("broadcast", ()),
        ("start_sendrecv", (0, 3, 0)),
    ],
)
def test_gpu_aware_mpi_gets_finished_device_buffers(name, options):
    comm = GPUAware()
    result = getattr(comm, name)(upload(comm, np.arange(3.0)), *options)
    result = result() if callable(result) else result
    result = result[0] if isinstance(result, tuple) else result
    assert isinstance(result, DeviceArray)
    assert comm.device.to_host(result).tolist() == [0, 2, 4]
    assert comm.seen[0].tolist() == [0, 1, 2]
    assert comm.report()[name.removeprefix("start_")]["path"] == "device"
    assert comm.device.allocations == []


class FlatArray(DeviceArray):
    """One that can be cut, as a transport does."""

    size = property(lambda self: self.memory.size)

    def reshape(self, *_):
        return self

    def __getitem__(self, _):
        return self


def test_a_broadcast_copies_on_the_device_before_mpi_reads():
    comm = MPICommunicator.__new__(MPICommunicator)
    Communicator.__init__(comm, Device(), gpu_aware=True)
    seen = []
    comm._mpi = SimpleNamespace(Bcast=lambda array, root: seen.append(array.memory.copy()))
    send, receive = (FlatArray(comm.device, np.full(3, value)) for value in (5, GARBAGE))
    comm._broadcast(send, receive, 0)
    assert seen[0].tolist() == [5] * 3


def test_gpu_aware_mpi_still_gets_host_buffers():
    comm = Communicator(Device(), gpu_aware=True)
    assert comm.allreduce(np.ones(2)).tolist() == [1, 1]
    assert comm.report()["allreduce"]["path"] == "host"
