"""Plots of a report, one PNG each: time, speed-up, efficiency, shares of a step, bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ogg_hpc.runtime.extras import check_plot
from ogg_hpc.runtime.files import write_whole
from ogg_hpc.scaling.network import Network
from ogg_hpc.scaling.outlook import Outlook, Prediction
from ogg_hpc.scaling.records import Record
from ogg_hpc.scaling.summary import Row, summarise

# Of Okabe and Ito (2008), which people with any colour vision tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "osD^vPX"
_GREY = "0.35"  # of what all cases share
_WIDTH, _HEIGHT = 8.0, 5.0  # inches


def write_plots(
    folder: Path,
    title: str,
    records: Sequence[Record],
    outlooks: dict[str, Outlook],
    modelled: Network | None = None,
) -> list[Path]:
    """Draw all plots of what was measured and predicted; return their files.

    Parameters
    ----------
    folder
        Where they go.
    title
        Before what each shows.
    records
        Of all cases, those of a case by rising P.
    outlooks
        By case.
    modelled
        A network that was given: the time of messages on it is drawn beside what was measured.

    Raises
    ------
    MissingExtraError
        Matplotlib is not installed.
    """
    check_plot()
    rows = summarise(records)
    sending = [row for row in rows if row.ranks > 1]
    drawn: dict[str, tuple[float, Callable[[Any], None]]] = {
        "time": (_HEIGHT, lambda axes: _times(axes, rows, outlooks, modelled)),
        "speed-up": (_HEIGHT, lambda axes: _speed_ups(axes, rows, outlooks)),
        "efficiency": (_HEIGHT, lambda axes: _efficiencies(axes, rows, outlooks)),
        "shares": (_bars_height(len(rows)), lambda axes: _shares(axes, records)),
    }
    if sending:
        drawn["bytes"] = _bars_height(len(sending)), lambda axes: _bytes(axes, sending)
    paths = []
    for name, (height, draw) in drawn.items():
        path = folder / f"{name}.png"
        _write(path, title, height, draw)
        paths.append(path)
    return paths


def _write(path: Path, title: str, height: float, draw: Callable[[Any], None]) -> None:
    from matplotlib import rc_context
    from matplotlib.figure import Figure  # without pyplot, which would look for a screen

    with rc_context({"font.size": 12, "axes.grid": True, "grid.alpha": 0.3}):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.set_title(f"{title}: {axes.get_title()}", fontsize=13)
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=11)
        with write_whole(path) as temporary:
            figure.savefig(temporary, dpi=150)


def _times(
    axes: Any, rows: Sequence[Row], outlooks: dict[str, Outlook], modelled: Network | None
) -> None:
    axes.set(title="time of a step", ylabel="seconds (log)")
    axes.set_yscale("log")
    _curves(axes, rows, outlooks, lambda row: row.seconds, lambda each: each.seconds)
    for k, case in enumerate(_cases(rows)):
        own = [row for row in rows if row.case == case]
        below = [row.seconds - row.least for row in own]
        above = [row.most - row.seconds for row in own]
        places = [row.ranks for row in own], [row.seconds for row in own], [below, above]
        axes.errorbar(*places, fmt="none", ecolor=_colour(k), capsize=3)
        if case in outlooks:
            # Efficiency is the ideal time over the time.
            model = outlooks[case].predictions
            ideal = [each.seconds * each.efficiency for each in model]
            ranks = [each.ranks for each in model]
            axes.plot(ranks, ideal, "--", color=_colour(k), linewidth=0.8)
    if outlooks:
        axes.plot([], [], "--", color=_GREY, linewidth=0.8, label="ideal")
    if modelled is not None:
        _draw_messages(axes, rows, modelled)


def _draw_messages(axes: Any, rows: Sequence[Row], modelled: Network) -> None:
    """Draw the time that a given network would take for the counted bytes and calls."""
    for k, case in enumerate(_cases(rows)):
        own = [row for row in rows if row.case == case and row.ranks > 1]
        seconds = [modelled.seconds(row.ranks, row.calls, row.bytes) for row in own]
        places = [row.ranks for row in own], seconds
        axes.plot(*places, "-.", marker="x", color=_colour(k), linewidth=1)
    label = "messages alone on the given network (model)"
    axes.plot([], [], "-.", marker="x", color=_GREY, linewidth=1, label=label)


def _speed_ups(axes: Any, rows: Sequence[Row], outlooks: dict[str, Outlook]) -> None:
    axes.set(title="speed-up", ylabel="speed-up (log)")
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:.4g}")
    _curves(axes, rows, outlooks, lambda row: row.speed_up, lambda each: each.speed_up)
    base = min(row.ranks for row in rows)
    predicted = [each.ranks for model in outlooks.values() for each in model.predictions]
    most = max([row.ranks for row in rows] + predicted)
    axes.plot([base, most], [1, most / base], "--", color=_GREY, linewidth=0.8, label="ideal")


def _efficiencies(axes: Any, rows: Sequence[Row], outlooks: dict[str, Outlook]) -> None:
    axes.set(title="efficiency", ylabel="efficiency (%)")

    def percent(share: float | None) -> float | None:
        return None if share is None else 100 * share

    _curves(axes, rows, outlooks, lambda row: percent(row.efficiency), lambda p: 100 * p.efficiency)
    axes.axhline(100, linestyle="--", color=_GREY, linewidth=0.8, label="ideal")
    axes.set_ylim(bottom=0)


def _curves(
    axes: Any,
    rows: Sequence[Row],
    outlooks: dict[str, Outlook],
    of_row: Callable[[Row], float | None],
    of_prediction: Callable[[Prediction], float],
) -> None:
    """Draw a case a colour: points measured, hollow where ranks share cores, and the model."""
    for k, case in enumerate(_cases(rows)):
        points = [(row, of_row(row)) for row in rows if row.case == case]
        marker, colour = _MARKERS[k % len(_MARKERS)], _colour(k)
        for shared, face in ((False, colour), (True, "white")):
            drawn = [
                (row.ranks, value)
                for row, value in points
                if value is not None and row.oversubscribed == shared
            ]
            axes.plot(
                [ranks for ranks, _ in drawn],
                [value for _, value in drawn],
                marker,
                color=colour,
                markerfacecolor=face,
                markersize=7,
                label=None if shared else case,
                zorder=3,
            )
        if case in outlooks:
            line = [(each.ranks, of_prediction(each)) for each in outlooks[case].predictions]
            axes.plot(*zip(*line, strict=True), ":", color=colour)
    if outlooks:
        axes.plot([], [], ":", color=_GREY, label="model")
    if any(row.oversubscribed and of_row(row) is not None for row in rows):
        axes.plot([], [], "o", color=_GREY, markerfacecolor="white", label="ranks share cores")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("ranks P (log)")
    if not outlooks:
        axes.set_xticks(sorted({row.ranks for row in rows}))
    axes.xaxis.set_major_formatter("{x:g}")


def _shares(axes: Any, records: Sequence[Record]) -> None:
    axes.set(title="where the time of a step goes", xlabel="share of a step (%)", xlim=(0, 100))
    axes.grid(visible=False, axis="y")
    parts = dict.fromkeys(name for record in records for name in _parts(record))
    labels = [f"{record.case}, P = {record.ranks}" for record in records]
    left = [0.0] * len(records)
    for k, part in enumerate(parts):
        shares = [100 * _parts(record).get(part, 0.0) for record in records]
        axes.barh(labels, shares, left=left, color=_colour(k), label=part, height=0.7)
        left = [start + share for start, share in zip(left, shares, strict=True)]
    axes.invert_yaxis()


def _parts(record: Record) -> dict[str, float]:
    """Return the shares of computation and of each collective in a step, which add up to one."""
    seconds = {f"in {name}": record.phases[name]["median"] for name in record.collectives}
    seconds = {"computation": record.phases["computation"]["median"], **seconds}
    total = sum(seconds.values())
    return {name: value / total for name, value in seconds.items()}


def _bytes(axes: Any, sending: Sequence[Row]) -> None:
    axes.set(title="bytes that a rank sends in a step", xlabel="bytes (log)")
    axes.set_xscale("log")
    labels = [f"{row.case}, P = {row.ranks}" for row in sending]
    kinds: list[tuple[str, str, list[float | None]]] = [
        ("counted", "o", [row.bytes for row in sending]),
        ("engine's formula", "|", [row.formula for row in sending]),
        ("the paper's step", "D", [row.paper for row in sending]),
    ]
    for k, (said, style, sizes) in enumerate(kinds):
        known = [(size, label) for size, label in zip(sizes, labels, strict=True) if size]
        if not known:
            continue
        axes.plot(
            [size for size, _ in known],
            [label for _, label in known],
            style,
            color=_colour(k),
            # Those that agree are drawn over one another, and all seen.
            markerfacecolor="none" if style == "D" else _colour(k),
            markersize={"o": 7, "|": 18, "D": 10}[style],
            markeredgewidth=1 if style == "o" else 2,
            label=said,
        )
    axes.set_ylim(len(labels) - 0.5, -0.5)  # the first on top


def _bars_height(bars: int) -> float:
    """Return the height in inches of a plot with a line for each of some points."""
    return 1.7 + 0.36 * bars


def _cases(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.case for row in rows))


def _colour(k: int) -> str:
    return _COLOURS[k % len(_COLOURS)]
