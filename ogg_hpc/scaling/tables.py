"""Tables of a report: for a terminal, in Markdown and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from io import StringIO
from typing import Any

from ogg_hpc.scaling.network import Network
from ogg_hpc.scaling.outlook import Outlook, Prediction
from ogg_hpc.scaling.summary import Row


@dataclass(frozen=True)
class Table:
    """A title, the heads of the columns, and rows of texts."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """Return the table in Markdown, its title in bold."""
        rule = ["---", *["---:"] * (len(self.header) - 1)]
        lines = [f"| {' | '.join(row)} |" for row in (self.header, rule, *self.rows)]
        return "\n".join([f"**{self.title}**", "", *lines, ""])


def times_table(rows: Sequence[Row]) -> Table:
    """Return the times of all points; the CSV file has more columns."""
    return Table(
        "Time of a step on the slowest rank: median, least and most of the repeats",
        (
            *("case", "P", "nodes", "median", "least", "most"),
            *("speed-up", "efficiency", "computing"),
        ),
        [
            (
                row.case,
                f"{row.ranks}{'*' if row.oversubscribed else ''}",
                f"{row.nodes:,}",
                *map(duration, (row.seconds, row.least, row.most)),
                "" if row.speed_up is None else f"{row.speed_up:.2f}",
                _percent(row.efficiency),
                _percent(row.computation),
            )
            for row in rows
        ],
    )


def traffic_table(rows: Sequence[Row], modelled: Network | None = None) -> Table:
    """Return what ranks send in a step, beside formulas and the time on a network given."""
    return Table(
        "Bytes that a rank sends in a step: counted, by the engine's formula, by the paper's",
        (
            *("case", "P", "calls", "counted", "formula", "paper's step", "counted / paper's"),
            *([] if modelled is None else ["on the given network (model)"]),
        ),
        [
            (
                row.case,
                str(row.ranks),
                f"{row.calls:.3g}",
                f"{row.bytes:,.0f}",
                "" if row.formula is None else f"{row.formula:,}",
                "" if row.paper is None else f"{row.paper:,}",
                "" if not row.paper else f"{100 * row.bytes / row.paper:.3g} %",
                *(
                    []
                    if modelled is None
                    else [duration(modelled.seconds(row.ranks, row.calls, row.bytes))]
                ),
            )
            for row in rows
            if row.ranks > 1
        ],
    )


def prediction_table(case: str, outlook: Outlook) -> Table:
    """Return what the model says of a case, for each second P down from the largest."""
    return Table(
        f"{case}: the model",
        ("P", "a step", "speed-up", "efficiency", "computing", "latency", "bytes"),
        [
            (
                f"{each.ranks:,}",
                duration(each.seconds),
                f"{each.speed_up:,.2f}",
                _percent(each.efficiency),
                *map(_percent, (each.computation, each.latency, each.bytes)),
            )
            for each in outlook.predictions[::-2][::-1]  # the CSV file has them all
        ],
    )


def measured_csv(rows: Sequence[Row]) -> str:
    """Return all points as CSV, with a header; what is not known is empty."""
    return _csv([each.name for each in fields(Row)], [asdict(row).values() for row in rows])


def predicted_csv(outlooks: dict[str, Outlook]) -> str:
    """Return all predictions as CSV, with a header."""
    header = ["case", *(each.name for each in fields(Prediction))]
    rows = [
        [case, *asdict(each).values()]
        for case, outlook in outlooks.items()
        for each in outlook.predictions
    ]
    return _csv(header, rows)


def duration(seconds: float) -> str:
    """Return seconds in the unit that suits them."""
    units = (("s", 1.0), ("ms", 1e3), ("µs", 1e6))
    unit, factor = next((each for each in units if seconds * each[1] >= 1), units[-1])
    return f"{seconds * factor:.3g} {unit}"


def _percent(share: float | None) -> str:
    if share is None:
        return ""
    return "< 0.1 %" if 0 < share < 0.001 else f"{100 * share:.1f} %"


def _csv(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()
