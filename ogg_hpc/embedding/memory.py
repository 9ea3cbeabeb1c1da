"""Whether the vectors of a run fit, before they are made."""

from __future__ import annotations

import socket
from collections import defaultdict

from ogg_hpc.embedding.plan import ModelPlan
from ogg_hpc.errors import OggError
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.resources import usable_memory_bytes

_GIB = 2**30


def check_memory(comm: Communicator, n: int, plans: list[ModelPlan], servers: int) -> None:
    """Refuse vectors that the hosts cannot hold (collective).

    Parameters
    ----------
    comm
        The ranks.
    n
        Number of nodes of the graph.
    plans
        The models.
    servers
        How many ranks, the last ones, hold the vectors; 0 for all.

    Raises
    ------
    OggError
        The vectors alone take more than a host allows, on all ranks.
    """
    holders = servers or comm.size
    total = sum(4 * n * plan.settings.dim * len(plan.matrices) for plan in plans)
    mine = total // holders if comm.rank >= comm.size - holders else 0
    needed: dict[str, int] = defaultdict(int)
    usable: dict[str, int] = {}
    for host, size, limit in comm.gather_objects(
        (socket.gethostname(), mine, usable_memory_bytes())
    ):
        needed[host] += size
        usable[host] = limit
    host = max(needed, key=lambda name: needed[name] - usable[name])
    if needed[host] > usable[host]:
        raise OggError(
            f"{host}: the vectors of {n:,} nodes take {total / _GIB:.1f} GiB, "
            f"{needed[host] / _GIB:.1f} GiB of them on this host, which allows "
            f"{usable[host] / _GIB:.1f} GiB; use more hosts, or a smaller --dim"
        ).shared()
