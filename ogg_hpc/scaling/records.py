"""The record that a measured point leaves: one JSON file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.files import read_json, write_json

FORMAT = "ogg-hpc-scaling/1"
MEASURE_AGAIN = "delete it, and the point is measured again"  # what to do about one that is wrong
Spread = dict[str, float]  # min, median, max


@dataclass(frozen=True)
class Record:
    """What was measured of one case at one number of ranks.

    Attributes
    ----------
    study, case, kind, scaling
        Names of the study and of the case, and what it is.
    graph, nodes, edges, entries
        What the steps were made on.
    engine, device, seed, threads
        What computed; the seed of the graph; cores of each rank.
    ranks, hosts
        P, and of each host the name ``host``, its ``ranks``, the ``cores`` and ``gpus`` that these
        may use, and its ``load`` (processes that want to run) before they began.
    steps
        Steps in each repeat.
    step_seconds
        Seconds of a step in each repeat, on the slowest rank.
    phases
        Seconds of ``graph``, ``setup`` and ``warm-up``, and in a step of ``step``,
        ``computation`` and each collective: min, median and max over ranks and repeats.
    collectives
        By name the ``calls`` and ``bytes`` of a step, of the rank with the most.
    traffic
        What formulas say of the bytes; see `ogg_hpc.scaling.workload.Traffic`.
    network
        Seconds of an Allreduce by its bytes.
    peak_memory_bytes
        Of the rank with the most.
    date, commit, versions, mpi
        When, and by what.
    """

    study: str
    case: str
    kind: str
    scaling: str
    graph: str
    nodes: int
    edges: int
    entries: int
    engine: str
    device: str
    seed: int | None
    threads: int
    ranks: int
    hosts: list[dict[str, Any]]
    steps: int
    step_seconds: list[float]
    phases: dict[str, Spread]
    collectives: dict[str, dict[str, float]]
    traffic: dict[str, Any]
    network: dict[str, float]
    peak_memory_bytes: int
    date: str
    commit: str | None
    versions: dict[str, str | None] = field(default_factory=dict)
    mpi: dict[str, Any] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Seconds of a step: the median over the repeats."""
        return float(np.median(self.step_seconds))

    @property
    def bytes(self) -> float:
        """Bytes that a rank sends in a step."""
        return sum(count["bytes"] for count in self.collectives.values())

    @property
    def calls(self) -> float:
        """Collective calls in a step."""
        return sum(count["calls"] for count in self.collectives.values())

    @property
    def oversubscribed(self) -> bool:
        """Whether the ranks of some host want more cores than they may use, or share a GPU."""
        return any(
            host["ranks"] * self.threads > host["cores"] or host["ranks"] > host["gpus"] > 0
            for host in self.hosts
        )


def write_record(path: str | Path, record: Record) -> None:
    """Write a record, whole or not at all."""
    write_json(path, {"format": FORMAT, **asdict(record)})


def read_record(path: str | Path) -> Record:
    """Read a record that `write_record` has written.

    Raises
    ------
    InputError
        Another file, or one of another version.
    """
    try:
        document = read_json(path, "record")
    except InputError as error:
        raise InputError(path, f"{error.args[1]}; {MEASURE_AGAIN}") from None
    if document.pop("format", None) != FORMAT:
        raise InputError(path, f"no record of the format {FORMAT}; {MEASURE_AGAIN}")
    if set(document) != {each.name for each in fields(Record)}:
        raise InputError(path, f"keys are missing or unknown; {MEASURE_AGAIN}")
    return Record(**document)
