"""How long small and large messages take between the ranks of a job."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.scaling.traffic import reduced

SMALL, LARGE = 8, 8_000_000  # bytes of the messages
_CALLS = {SMALL: 100, LARGE: 5}


@dataclass(frozen=True)
class Network:
    """What a collective costs by the paper's model: latency log2 P + seconds a byte.

    Attributes
    ----------
    latency
        Seconds that each doubling of P adds to a collective: α.
    per_byte
        Seconds for each byte that a rank sends: β, the reciprocal of the bandwidth.
    source
        Where the two are from: ends a sentence that tells them.
    """

    latency: float
    per_byte: float
    source: str

    def seconds(self, ranks: int, calls: float, sent: float) -> float:
        """Return the seconds of some collectives in which a rank sends so many bytes."""
        return self.latency * calls * math.log2(ranks) + self.per_byte * sent


def ping(comm: Communicator) -> dict[str, float]:
    """Return the median seconds of an Allreduce of `SMALL` and of `LARGE` bytes (collective).

    By the bytes, as text; nothing on one rank.
    """
    return {} if comm.size == 1 else {str(size): _allreduce(comm, size) for size in _CALLS}


def measured_network(pings: Iterable[tuple[int, dict[str, float]]]) -> Network | None:
    """Return the network that pings, each with its P, have seen; None without any.

    The median of what they say: others may use the machine now and then.
    """
    latencies, per_byte = [], []
    for ranks, seconds in pings:
        if seconds:
            small, large = seconds[str(SMALL)], seconds[str(LARGE)]
            latencies.append(small / np.log2(ranks))
            per_byte.append(max(large - small, 0.0) / reduced(LARGE, ranks))
    if not latencies:
        return None
    source = "by an Allreduce of 8 bytes and of 8 MB on the ranks measured"
    return Network(float(np.median(latencies)), float(np.median(per_byte)), source)


def _allreduce(comm: Communicator, size: int) -> float:
    array: Any = comm.device.from_host(np.zeros(size // 8))
    seconds = []
    for _ in range(_CALLS[size] + 1):
        comm.barrier()
        start = time.perf_counter()
        comm.allreduce(array)
        seconds.append(time.perf_counter() - start)
    # The first call sets up buffers; the slowest rank counts.
    return max(comm.gather_objects(float(np.median(seconds[1:]))))
