"""Tables of an evaluation: best known values in; means by family, CSV, Markdown, a plot out."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.extras import check_plot
from ogg_hpc.runtime.files import write_whole
from ogg_hpc.search.evaluate import Row


@dataclass(frozen=True)
class Summary:
    """One method on a family of graphs.

    Attributes
    ----------
    family, method
        As in `Row`.
    graphs
        How many there are.
    mean, worst
        Of the ratios.
    optimal
        How many solutions are proven to be optimal.
    seconds
        Mean.
    """

    family: str
    method: str
    graphs: int
    mean: float
    worst: float
    optimal: int
    seconds: float


def summarise(rows: Sequence[Row]) -> list[Summary]:
    """Return mean and worst ratios of each method on each family, in the order of the rows."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.family, row.method), []).append(row)
    return [
        Summary(
            family,
            method,
            len(group),
            float(np.mean([row.ratio for row in group])),
            max(row.ratio for row in group),
            sum(row.optimal for row in group),
            float(np.mean([row.seconds for row in group])),
        )
        for (family, method), group in groups.items()
    ]


def read_best_known(path: str | Path, problem: str) -> dict[str, float]:
    """Return best known values by graph, from a CSV file with a header.

    Parameters
    ----------
    path
        A file with a column ``graph`` (a name without suffix, or a path as given) and a column of
        values, named after the problem, else the second one.
    problem
        The problem's name.

    Raises
    ------
    InputError
        A file that cannot be read, without these columns, or with a value that is no number.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(path, "no such file; check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"cannot be read: {error}") from None
    reader = csv.DictReader(StringIO(text))
    names = list(reader.fieldnames or ())
    if "graph" not in names or len(names) < 2:
        raise InputError(path, "expected a header with the columns graph and a value", 1)
    column = problem if problem in names else names[1]
    known = {}
    for row in reader:
        try:
            known[row["graph"]] = float(row[column])
        except (TypeError, ValueError):
            message = f"expected a number in column {column}, not {row[column]!r}"
            raise InputError(path, message, reader.line_num) from None
    return known


def rows_to_csv(rows: Sequence[Row]) -> str:
    """Return all rows as CSV, with a header."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names = [each.name for each in fields(Row)]
    writer.writerow(names)
    writer.writerows([getattr(row, name) for name in names] for row in rows)
    return stream.getvalue()


def rows_from_csv(text: str) -> list[Row]:
    """Return the rows that `rows_to_csv` has written."""
    read: dict[str, Any] = {
        "str": str,
        "int": int,
        "float": float,
        "bool": lambda value: value == "True",
    }
    types = {each.name: read[str(each.type)] for each in fields(Row)}
    return [
        Row(**{name: types[name](value) for name, value in row.items()})
        for row in csv.DictReader(StringIO(text))
    ]


def ratio_table(summaries: Sequence[Summary]) -> list[list[str]]:
    """Return mean (worst) ratios as text: a header, then a line a family, a column a method."""
    methods = list(dict.fromkeys(each.method for each in summaries))
    cells = {
        (each.family, each.method): f"{each.mean:.4f} ({each.worst:.4f})" for each in summaries
    }
    counts = {each.family: each.graphs for each in summaries}
    return [
        ["graphs", *methods],
        *(
            [f"{count} of {family}", *(cells[family, method] for method in methods)]
            for family, count in counts.items()
        ),
    ]


def markdown_table(summaries: Sequence[Summary]) -> str:
    """Return `ratio_table` in Markdown."""
    header, *lines = ratio_table(summaries)
    return "".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n"
        for line in (header, ["---"] * len(header), *lines)
    )


def write_plot(path: str | Path, summaries: Sequence[Summary]) -> None:
    """Draw mean ratios with a line up to the worst, a colour a family.

    Parameters
    ----------
    path
        A file whose suffix is a format of Matplotlib, such as ``.png``, ``.pdf`` or ``.svg``.

    Raises
    ------
    MissingExtraError
        Matplotlib is not installed.
    InputError
        A format that it does not know, or a file that cannot be written.
    """
    check_plot()
    from matplotlib.figure import Figure  # without pyplot, which would look for a screen

    methods = list(dict.fromkeys(each.method for each in summaries))
    families = list(dict.fromkeys(each.family for each in summaries))
    figure = Figure(figsize=(6, 1.2 + 0.45 * len(methods)), layout="constrained")
    axes = figure.subplots()
    for k, family in enumerate(families):
        own = [each for each in summaries if each.family == family]
        mean, worst = ([getattr(each, name) for each in own] for name in ("mean", "worst"))
        # Families side by side on the line of each method.
        places = np.arange(len(own)) + 0.6 * ((k + 0.5) / len(families) - 0.5)
        axes.hlines(places, mean, worst, color=f"C{k % 10}", linewidth=1.5)
        axes.plot(mean, places, "o", color=f"C{k % 10}", markersize=5, label=family)
    axes.set_yticks(range(len(methods)), methods)
    axes.invert_yaxis()
    axes.axvline(1, color="0.7", linewidth=1, zorder=0)
    axes.set_xlabel("ratio to the best known: mean, and a line to the worst")
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize="small")
    try:
        with write_whole(path) as temporary:
            figure.savefig(temporary, dpi=150)
    except ValueError as error:
        raise InputError(path, f"cannot be drawn: {error}") from None
