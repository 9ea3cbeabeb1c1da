"""Measure one point: set up, warm up, repeat."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.families import parse_family
from ogg_hpc.graphs.members import is_family
from ogg_hpc.runtime.clock import Clock, over_ranks
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.environment import commit, describe
from ogg_hpc.scaling.kinds import KINDS
from ogg_hpc.scaling.network import ping
from ogg_hpc.scaling.points import Point
from ogg_hpc.scaling.records import Record
from ogg_hpc.scaling.workload import Window


def measure(comm: Communicator, point: Point) -> Record:
    """Measure a point on the ranks that it wants (collective).

    Raises
    ------
    SettingsError
        Another number of ranks, or a case that cannot be measured.
    """
    if comm.size != point.ranks:
        raise SettingsError(
            f"{point.name} wants {point.ranks} ranks and has {comm.size}; start it under "
            f"mpiexec -n {point.ranks}, srun or jsrun"
        ).shared()
    load = os.getloadavg()[0]  # before this job adds to it
    case, clock = point.case, Clock(comm, "graph", "setup", "warm-up")
    work = KINDS[case.kind](comm, point, clock)
    with clock("warm-up"):
        work.run(case.steps)
    windows = [work.run(case.steps) for _ in range(point.repeats)]
    before = clock.report()
    before.pop("total")
    environment = describe(comm)
    return Record(
        study=point.study,
        case=case.label,
        kind=case.kind,
        scaling=case.scaling,
        graph=point.graph,
        nodes=work.nodes,
        edges=work.entries // 2,
        entries=work.entries,
        engine=work.engine,
        device=comm.device.platform,
        seed=parse_family(point.graph).seed if is_family(point.graph) else None,
        threads=environment["ranks"][comm.rank]["threads"],
        ranks=comm.size,
        hosts=_hosts(comm, load),
        steps=windows[0].steps,
        step_seconds=_slowest(comm, windows),
        phases=over_ranks(comm, {**before, **_phases(windows)}),
        collectives=_most(comm, windows[-1]),
        traffic=asdict(work.traffic),
        network=ping(comm),
        peak_memory_bytes=max(comm.gather_objects(comm.device.peak_memory_bytes())),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=comm.on_root(commit),
        versions=environment["versions"],
        mpi=environment["mpi"],
    )


def _hosts(comm: Communicator, load: float) -> list[dict[str, Any]]:
    """Return what `Record` tells of each host, in rank order."""
    gpu = comm.device.gpu()
    mine: dict[str, Any] = {
        "host": socket.gethostname(),
        "cores": os.sched_getaffinity(0),
        "gpus": {gpu["bus"]} if gpu else set(),
        "load": load,
    }
    everyone = comm.gather_objects(mine)
    found = []
    for host in dict.fromkeys(rank["host"] for rank in everyone):
        own = [rank for rank in everyone if rank["host"] == host]
        shared = {key: len(set().union(*(rank[key] for rank in own))) for key in ("cores", "gpus")}
        busiest = max(rank["load"] for rank in own)
        found.append({"host": host, "ranks": len(own), **shared, "load": busiest})
    return found


def _slowest(comm: Communicator, windows: list[Window]) -> list[float]:
    mine = [window.seconds / window.steps for window in windows]
    return [max(repeat) for repeat in zip(*comm.gather_objects(mine), strict=True)]


def _phases(windows: list[Window]) -> dict[str, list[float]]:
    """Return this rank's seconds of a step and of its parts, in each repeat."""
    steps = [window.seconds / window.steps for window in windows]
    collectives = {
        name: [window.collectives[name]["seconds"] / window.steps for window in windows]
        for name in windows[-1].collectives
    }
    waiting = [sum(repeat) for repeat in zip(*collectives.values(), strict=True)]
    computation = [
        step - inside for step, inside in zip(steps, waiting or [0.0] * len(steps), strict=True)
    ]
    return {"step": steps, "computation": computation, **collectives}


def _most(comm: Communicator, window: Window) -> dict[str, dict[str, float]]:
    """Return the calls and bytes of a step, of the rank with the most."""
    mine: Mapping[str, Mapping[str, Any]] = window.collectives
    everyone = comm.gather_objects(mine)
    return {
        name: {
            key: max(rank[name][key] for rank in everyone) / window.steps
            for key in ("calls", "bytes")
        }
        for name in mine
    }
