"""Measured points beside one another: speed-up, efficiency, shares, bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ogg_hpc.scaling.model import efficiency
from ogg_hpc.scaling.outlook import load_of
from ogg_hpc.scaling.records import Record


@dataclass(frozen=True)
class Row:
    """A measured point of a case.

    Attributes
    ----------
    case, engine
        What was measured, and how.
    ranks, hosts
        P, and the number of hosts.
    nodes, edges
        Of the graph.
    seconds, least, most
        Of a step: median, least and most of the repeats.
    speed_up, efficiency
        Against the case's smallest P; None where ranks share cores, there or here.
    computation
        Share of a step that is not inside collectives: median over ranks and repeats.
    calls, bytes
        Of a step, of the rank with the most.
    formula, paper
        Bytes by the formula of the engine and by that of the paper, None without one.
    peak_memory_bytes
        Of the rank with the most.
    oversubscribed
        Whether ranks share cores.
    """

    case: str
    engine: str
    ranks: int
    hosts: int
    nodes: int
    edges: int
    seconds: float
    least: float
    most: float
    speed_up: float | None
    efficiency: float | None
    computation: float
    calls: float
    bytes: float
    formula: int | None
    paper: int | None
    peak_memory_bytes: int
    oversubscribed: bool


def summarise(records: Sequence[Record]) -> list[Row]:
    """Return a row a record, in their order; those of a case by rising P."""
    first: dict[str, Record] = {}
    rows = []
    for record in records:
        base = first.setdefault(record.case, record)
        share = None
        if not (base.oversubscribed or record.oversubscribed):
            share = efficiency(load_of(base), base.seconds, load_of(record), record.seconds)
        phases = record.phases
        rows.append(
            Row(
                record.case,
                record.engine,
                record.ranks,
                len(record.hosts),
                record.nodes,
                record.edges,
                record.seconds,
                min(record.step_seconds),
                max(record.step_seconds),
                None if share is None else share * record.ranks / base.ranks,
                share,
                phases["computation"]["median"] / phases["step"]["median"],
                record.calls,
                record.bytes,
                record.traffic["exact"],
                record.traffic["paper"],
                record.peak_memory_bytes,
                record.oversubscribed,
            )
        )
    return rows
