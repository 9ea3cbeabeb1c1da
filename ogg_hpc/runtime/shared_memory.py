"""Arrays of which all ranks of a node read one copy."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import OggError
from ogg_hpc.runtime.communicator import Communicator

# Where MPI libraries under Linux keep what ranks share.
FOLDER = "/dev/shm"

_ALIGNMENT = 64
_BLOCK_BYTES = 1 << 26


class NodeArrays(Mapping[str, NDArray[Any]]):
    """Arrays that rank 0 has, one copy on each node (collective); they are read only.

    A single rank keeps the very same arrays.

    Parameters
    ----------
    comm
        The ranks.
    arrays
        One-dimensional arrays by name on rank 0; ignored elsewhere.
    remedy
        What to do where a node has too little shared memory, besides giving it more.

    Raises
    ------
    OggError
        A node has too little shared memory, of which Linux tells a program that is not careful by
        a bus error, or MPI cannot share memory there.
    """

    def __init__(
        self, comm: Communicator, arrays: Mapping[str, NDArray[Any]] | None, remedy: str
    ) -> None:
        self._free: Callable[[], None] = lambda: None
        if comm.size == 1:
            assert arrays is not None
            self._arrays = {name: array.view() for name, array in arrays.items()}
        else:
            self._share(comm, arrays, remedy)
        for array in self._arrays.values():
            array.flags.writeable = False

    def _share(
        self, comm: Communicator, arrays: Mapping[str, NDArray[Any]] | None, remedy: str
    ) -> None:
        root = arrays if comm.rank == 0 and arrays is not None else {}
        shapes = comm.broadcast_object([(name, len(a), a.dtype) for name, a in root.items()])
        sizes = [length * dtype.itemsize for _, length, dtype in shapes]
        places = np.cumsum([0, *(-(-size // _ALIGNMENT) * _ALIGNMENT for size in sizes)])
        total = int(places[-1])
        node = comm.node()
        leads = node.rank == 0
        comm.on_all(lambda: _check_room(total, remedy) if leads and node.size > 1 else None)
        memory, self._free = comm.on_all(lambda: _allocated(node, total, remedy))
        # Pages come into being when they are first written: each rank does its share, near itself.
        memory[total * node.rank // node.size : total * (node.rank + 1) // node.size] = 0
        self._arrays = {
            name: memory[place : place + size].view(dtype)
            for place, size, (name, _, dtype) in zip(places, sizes, shapes, strict=False)
        }
        node.barrier()
        leaders = comm.split(int(leads))
        if leads:
            for name, array in self._arrays.items():
                rows = max(1, _BLOCK_BYTES // array.itemsize)
                for lo in range(0, len(array), rows):
                    block = (root[name] if comm.rank == 0 else array)[lo : lo + rows]
                    array[lo : lo + rows] = leaders.broadcast(block)
        node.barrier()
        leaders.free()
        node.free()

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def free(self) -> None:
        """Give the memory back (collective); the arrays must not be used any more."""
        self._arrays = {}
        self._free()


def require_room(comm: Communicator, nbytes: int, remedy: str) -> None:
    """Refuse to let the ranks of a node share more memory than is left there (collective).

    Parameters
    ----------
    comm
        All ranks.
    nbytes
        What this rank is about to allocate.
    remedy
        What to do where a node has too little, besides giving it more.

    Raises
    ------
    OggError
        A node has too little.
    """
    node = comm.node()
    total = int(node.allreduce(np.array([nbytes]))[0])
    checks = node.rank == 0 and node.size > 1
    node.free()
    comm.on_all(lambda: _check_room(total, remedy) if checks else None)


def free_shared_bytes() -> int | None:
    """Return how much this node's processes can still share, None where it cannot be told."""
    return shutil.disk_usage(FOLDER).free if os.path.isdir(FOLDER) else None


def _check_room(nbytes: int, remedy: str) -> None:
    free = free_shared_bytes()
    if free is not None and nbytes > free:
        raise OggError(
            f"{FOLDER} of {platform.node()} has {free / 2**20:,.0f} MiB left, and "
            f"{nbytes / 2**20:,.0f} MiB are to be shared by the ranks there: {remedy}, or give it "
            "more (of a container: docker run --shm-size)"
        )


def _allocated(node: Communicator, nbytes: int, remedy: str) -> Any:
    try:
        return node.allocate_shared(nbytes)
    except MemoryError as error:
        raise OggError(
            f"MPI cannot share memory on {platform.node()} ({error}): {remedy}"
        ) from None
