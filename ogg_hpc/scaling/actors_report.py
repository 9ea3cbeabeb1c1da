"""What a study of actors has found: tables, a file of all points, and a plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ogg_hpc.actors.throughput import PARTS, Throughput
from ogg_hpc.actors.throughput_model import ThroughputModel
from ogg_hpc.runtime.environment import commit, versions
from ogg_hpc.runtime.extras import check_plot
from ogg_hpc.runtime.files import write_json, write_whole
from ogg_hpc.scaling.tables import Table

_MEASURED, _MODEL, _BOUND = "#0072B2", "#D55E00", "0.35"


def write_report(
    folder: Path,
    name: str,
    points: Sequence[Throughput],
    model: ThroughputModel,
    describe: dict[str, Any],
) -> None:
    """Write ``actors.json`` and ``actors.png``.

    Parameters
    ----------
    folder
        Where they go.
    name
        In the title.
    points
        All that was measured.
    model
        What was fitted to them.
    describe
        What else the file says of the study.

    Raises
    ------
    MissingExtraError
        Matplotlib is not installed; the file is there all the same.
    """
    record = {
        **describe,
        "model": {**asdict(model), "limit": model.limit, "peak": model.peak},
        "recommended": model.worthwhile(),
        "points": [{**asdict(point), "rate": point.rate} for point in points],
        "table": summary(points, model),
        "commit": commit(),
        "versions": versions(),
    }
    write_json(folder / "actors.json", record)
    check_plot()
    _draw(folder / "actors.png", name, points, model)


def actors_table(points: Sequence[Throughput], model: ThroughputModel) -> Table:
    """Return what was measured for each number of actors, beside model and bound."""
    return Table(
        "Environment steps a second: mean of all seeds, and where the time of a round goes",
        ("actors", "steps/s", "±", "efficiency", "model", "bound", *PARTS),
        [
            (
                str(row["actors"]),
                f"{row['rate']:,.1f}",
                f"{row['deviation']:,.1f}",
                f"{100 * row['efficiency']:.0f} %",
                f"{row['model']:,.1f}",
                f"{row['bound']:,.1f}",
                *(f"{100 * row[part]:.0f} %" for part in PARTS),
            )
            for row in summary(points, model)
        ],
    )


def verdict(model: ThroughputModel) -> list[str]:
    """Return sentences on what the model says."""
    texts = [
        f"a round: {model.learn:.3g} s of learning, {model.collect:.3g} s of steps that actors "
        f"share, {1e3 * model.overhead:.3g} ms more for each actor",
        f"no number of actors makes more than {model.limit:,.0f} steps/s",
    ]
    if np.isfinite(model.peak):
        texts.append(f"most steps/s with {model.peak:.0f} actors: {model.rate(model.peak):,.0f}")
    best = model.worthwhile()
    texts.append(
        f"recommended: {best} actors, {model.rate(best):,.0f} steps/s; beyond, each of them does "
        "less than half of what one alone does"
    )
    return texts


def _numbers(points: Sequence[Throughput]) -> list[int]:
    return sorted({point.actors for point in points})


def summary(points: Sequence[Throughput], model: ThroughputModel) -> list[dict[str, Any]]:
    """Return means over the seeds for each number of actors, beside model and bound."""
    numbers = _numbers(points)
    alone = np.mean([each.rate for each in points if each.actors == numbers[0]]) / numbers[0]
    rows = []
    for actors in numbers:
        own = [each for each in points if each.actors == actors]
        rates = [each.rate for each in own]
        rows.append(
            {
                "actors": actors,
                "rate": float(np.mean(rates)),
                "deviation": float(np.std(rates)),
                "efficiency": float(np.mean(rates) / (actors * alone)),
                "model": model.rate(actors),
                "bound": model.bound(actors),
                **{
                    part: float(np.mean([getattr(each, part) / each.seconds for each in own]))
                    for part in PARTS
                },
            }
        )
    return rows


def _draw(path: Path, name: str, points: Sequence[Throughput], model: ThroughputModel) -> None:
    from matplotlib import rc_context
    from matplotlib.figure import Figure  # without pyplot, which would look for a screen

    numbers = _numbers(points)
    n = np.geomspace(numbers[0], 2 * numbers[-1], 200)
    by_number = [[point.rate for point in points if point.actors == each] for each in numbers]
    means = [np.mean(rates) for rates in by_number]
    with rc_context({"font.size": 12, "axes.grid": True, "grid.alpha": 0.3}):
        figure = Figure(figsize=(8, 5), layout="constrained")
        axes = figure.subplots()
        axes.set(title=f"{name}: environment steps a second", xlabel="actors (log)")
        axes.set(ylabel="steps/s (log)", xscale="log", yscale="log")
        curves: tuple[tuple[Callable[[float], float], str, str, str], ...] = (
            (model.bound, "--", _BOUND, "Amdahl's bound"),
            (model.rate, ":", _MODEL, "model"),
        )
        for function, line, colour, label in curves:
            axes.plot(n, [function(each) for each in n], line, color=colour, label=label)
        ends = [(np.mean(rates) - min(rates), max(rates) - np.mean(rates)) for rates in by_number]
        axes.errorbar(
            numbers, means, np.transpose(ends), fmt="o", color=_MEASURED, capsize=3,
            label="measured: mean, least and most of all seeds",
        )  # fmt: skip
        axes.set_xticks(numbers, [str(each) for each in numbers])
        axes.minorticks_off()
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=11)
        with write_whole(path) as temporary:
            figure.savefig(temporary, dpi=150, format="png")
