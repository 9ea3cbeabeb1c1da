"""The report of a study: tables, plots, the model, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.extras import check_plot
from ogg_hpc.runtime.files import write_whole
from ogg_hpc.scaling.folder import StudyFolder
from ogg_hpc.scaling.network import Network, measured_network
from ogg_hpc.scaling.outlook import Outlook, outlook
from ogg_hpc.scaling.plots import write_plots
from ogg_hpc.scaling.records import Record
from ogg_hpc.scaling.study import Case
from ogg_hpc.scaling.summary import Row, summarise
from ogg_hpc.scaling.tables import (
    Table,
    measured_csv,
    predicted_csv,
    prediction_table,
    times_table,
    traffic_table,
)


@dataclass(frozen=True)
class Report:
    """What a report says.

    Attributes
    ----------
    title
        The study, and on what it was measured.
    tables
        Of times, of bytes, and one of predictions a case.
    notes
        What is missing, where ranks share cores, and what each case's model rests on.
    files
        What was written: Markdown, CSV, plots.
    """

    title: str
    tables: list[Table]
    notes: list[str]
    files: list[Path]


def write_report(folder: StudyFolder, up_to: int = 4096, modelled: Network | None = None) -> Report:
    """Write the report of what has been measured so far into the folder of the study.

    Parameters
    ----------
    folder
        The study.
    up_to
        The largest P of the model.
    modelled
        Another network than the one measured, for the model.

    Raises
    ------
    InputError
        There is no record yet, or one that cannot be read.
    MissingExtraError
        Matplotlib is not installed.
    """
    check_plot()
    records = folder.records()
    if not records:
        raise InputError(folder.path, "nothing has been measured; use ogg-hpc scale run first")
    rows = summarise(records)
    outlooks = _outlooks(folder, records, up_to, modelled)
    report = Report(
        f"{folder.study.name}: {_where(records)}",
        [
            times_table(rows),
            *([traffic_table(rows, modelled)] if any(row.ranks > 1 for row in rows) else []),
            *(prediction_table(case, each) for case, each in outlooks.items() if each.predictions),
        ],
        _notes(folder, records, rows, outlooks),
        write_plots(folder.path, folder.study.name, records, outlooks, modelled),
    )
    texts = {
        "report.md": _markdown(report),
        "measured.csv": measured_csv(rows),
        "predicted.csv": predicted_csv(outlooks),
    }
    for name, text in texts.items():
        with write_whole(folder.path / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
        report.files.append(folder.path / name)
    return report


def _outlooks(
    folder: StudyFolder, records: Sequence[Record], up_to: int, modelled: Network | None
) -> dict[str, Outlook]:
    own_cores = [record for record in records if not record.oversubscribed]
    measured = measured_network((record.ranks, record.network) for record in own_cores)
    if measured is None:
        return {}
    found = {}
    for case in folder.study.cases:
        own = [record for record in records if record.case == case.label]
        powers = [2**k for k in range(up_to.bit_length()) if own and 2**k >= own[0].ranks]
        each = outlook(case, own, powers, measured, modelled)
        if each is not None:
            found[case.label] = each
    return found


def _where(records: Sequence[Record]) -> str:
    hosts = {host["host"]: host["cores"] for record in records for host in record.hosts}
    names = ", ".join(f"{name} ({cores} cores)" for name, cores in list(hosts.items())[:4])
    more = f" and {len(hosts) - 4} more" if len(hosts) > 4 else ""
    commits = ", ".join(sorted({record.commit or "unknown" for record in records}))
    threads = records[0].threads
    each = "1 thread" if threads == 1 else f"{threads} threads"
    return f"{names}{more}, {each} a rank, on {records[0].device}, commit {commits}"


def _busy(records: Sequence[Record]) -> list[str]:
    """Return a note if others used the machine: their share of it is in all times."""
    loads = [(host["load"], host["cores"]) for record in records for host in record.hosts]
    busiest, cores = max(loads, key=lambda each: each[0] / each[1])
    if busiest <= 2 * cores:  # the points before this one are in it, too
        return []
    return [
        f"Others used the machine: {busiest:.0f} processes wanted to run on {cores} cores when a "
        "point began. All times, α and β are too long; measure again when it is free."
    ]


def _notes(
    folder: StudyFolder,
    records: Sequence[Record],
    rows: Sequence[Row],
    outlooks: dict[str, Outlook],
) -> list[str]:
    notes = _busy(records)
    if missing := [point.name for point in folder.missing()]:
        notes.append(f"Not measured, and not drawn: {', '.join(missing)}.")
    if shared := sorted({row.ranks for row in rows if row.oversubscribed}):
        numbers = ", ".join(map(str, shared))
        notes.append(
            f"* P = {numbers}: more ranks and threads than cores. They take turns, which says "
            "nothing of scaling: no speed-up, and no part in the model."
        )
    if outlooks:
        notes += _MODEL
    cases = {case.label: case for case in folder.study.cases}
    for label in dict.fromkeys(row.case for row in rows):
        own = [row for row in rows if row.case == label and not row.oversubscribed]
        if label in outlooks:
            notes.append(_model_note(cases[label], own, outlooks[label]))
        elif any(row.ranks > 1 for row in own):
            notes.append(f"{label}: communication alone would explain the times, so no model.")
        else:
            notes.append(
                f"{label}: no point of several ranks that have cores of their own, so no model."
            )
    return notes


_MODEL = (
    "Model: a step takes c W + α m log2 P + β B on each of P ranks, with W the entries of the "
    "adjacency matrix that a rank owns, m the collective calls and B the bytes that it sends. "
    "Every line beyond the measured P is the model's.",
    "Assumed: computation is divided without rest, so that no rank waits for another and nothing "
    "is done on all ranks alike; bytes that all ranks gather grow as (P-1)/P, those of pairs that "
    "ranks share as (P-1)/P², messages to each rank as P-1; α and β are the same at every P.",
)


def _model_note(case: Case, rows: Sequence[Row], outlook: Outlook) -> str:
    model, network = outlook.fit.model, outlook.network
    measured = ", ".join(str(row.ranks) for row in rows)
    said = [f"{case.label}: c = {model.per_entry:.3g} s an entry, fitted to P = {measured}"]
    if outlook.fit.determined:
        said.append(f", with α = {model.latency:.3g} s and β = {model.per_byte:.3g} s a byte")
    elif len(rows) < 3:
        said.append("; so few points do not determine α and β")
    else:
        said.append("; these points do not determine α and β")
    miss = 100 * max(map(abs, outlook.fit.errors))
    said.append(f"; the fit misses these points by up to {miss:.0f} %.")
    if network.source != "fitted":
        said.append(
            f" Beyond, α = {network.latency:.3g} s and β = {network.per_byte:.3g} s a byte "
            f"{network.source}."
        )
    if case.growing is not None:
        said.append(f" The graph grows: {case.grows} in proportion to P.")
    return "".join(said)


def _markdown(report: Report) -> str:
    plots = [path.name for path in report.files if path.suffix == ".png"]
    parts = [
        f"# {report.title}",
        *(table.markdown() for table in report.tables),
        "\n".join(f"- {note}" for note in report.notes),
        "\n".join(f"![{name.removesuffix('.png')}]({name})" for name in plots),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"
