"""Figures as data: curves in panels, drawn to a PNG and written to a CSV beside it."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogg_hpc.runtime.files import write_whole

# How a curve is drawn: measured along x, one value for all x, or as somebody has published it.
MEASURED, LEVEL, PUBLISHED = "measured", "level", "published"
_MARKED = 10  # a measured curve of fewer points shows where they are


@dataclass(frozen=True)
class Curve:
    """One curve of a panel.

    Attributes
    ----------
    panel, name
        Where it is drawn, and its entry in the legend.
    x : (points,) array_like
        A level has one point, whose x is not shown.
    y : (points,) or (runs, points) array_like
        Of several runs the mean is drawn, in a band from the least to the greatest.
    kind
        `MEASURED`, `LEVEL` or `PUBLISHED`.
    """

    panel: str
    name: str
    x: ArrayLike
    y: ArrayLike
    kind: str = MEASURED

    def points(self) -> tuple[NDArray[np.float64], ...]:
        """Return x, and the mean, the least and the greatest y there."""
        runs = np.atleast_2d(np.asarray(self.y, np.float64))
        return np.asarray(self.x, np.float64), runs.mean(0), runs.min(0), runs.max(0)

    def sample(self) -> dict[str, float]:
        """Return mean y by x, of some eleven points from the first to the last."""
        x, mean, _, _ = self.points()
        chosen = np.unique(np.linspace(0, len(x) - 1, min(len(x), 11)).astype(np.int64))
        return {f"{x[i]:g}": float(f"{mean[i]:.5g}") for i in chosen}


@dataclass(frozen=True)
class Figure:
    """Curves that belong together.

    Attributes
    ----------
    title, x_label
        As drawn.
    y_labels
        By panel, in their order.
    curves
        All of them; those of one name have one colour.
    logarithmic
        The panels whose axes have a logarithmic scale.
    """

    title: str
    x_label: str
    y_labels: dict[str, str]
    curves: list[Curve]
    logarithmic: tuple[str, ...] = ()

    def csv(self) -> str:
        """Return every point, with a header."""
        stream = StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["panel", "curve", "kind", "x", "mean", "least", "greatest"])
        for curve in self.curves:
            for point in zip(*curve.points(), strict=True):
                writer.writerow([curve.panel, curve.name, curve.kind, *(f"{v:.6g}" for v in point)])
        return stream.getvalue()

    def sample(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return some points of each curve, by panel and name."""
        return {
            panel: {curve.name: curve.sample() for curve in self.curves if curve.panel == panel}
            for panel in self.y_labels
        }

    def write(self, path: Path) -> None:
        """Write the drawing to ``PATH.png`` and the points to ``PATH.csv``."""
        with write_whole(path.with_suffix(".csv")) as temporary:
            temporary.write_text(self.csv(), encoding="utf-8")
        with write_whole(path.with_suffix(".png")) as temporary:
            self._draw(temporary)

    def _draw(self, path: Path) -> None:
        from matplotlib.figure import Figure as Drawing  # without pyplot, which looks for a screen

        names = list(dict.fromkeys(curve.name for curve in self.curves))
        panels = len(self.y_labels)
        columns = panels if panels < 4 else 2
        rows = -(-panels // columns)
        lines = -(-len(names) // columns)
        size = (5.5 * columns, 3.4 * rows + 0.2 * lines + 0.6)
        drawing = Drawing(figsize=size, layout="constrained")
        grid = drawing.subplots(rows, columns, squeeze=False).ravel()
        for axes, (panel, y_label) in zip(grid, self.y_labels.items(), strict=True):
            axes.set(title=panel, xlabel=self.x_label, ylabel=y_label)
            if panel in self.logarithmic:
                axes.set(xscale="log", yscale="log")
                axes.xaxis.set_major_formatter("{x:g}")
                axes.xaxis.set_minor_formatter("{x:g}")
            for curve in self.curves:
                if curve.panel == panel:
                    _draw_curve(axes, curve, f"C{names.index(curve.name) % 10}")
        entries = {
            label: handle
            for axes in grid
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        drawing.legend(
            entries.values(),
            entries.keys(),
            loc="outside lower center",
            ncols=columns,
            frameon=False,
            fontsize="small",
        )
        drawing.suptitle(self.title)
        drawing.savefig(path, dpi=150)


def _draw_curve(axes, curve: Curve, colour: str) -> None:
    x, mean, least, greatest = curve.points()
    if curve.kind == LEVEL:
        axes.axhline(mean[0], color=colour, linewidth=1, linestyle="--", label=curve.name)
    elif curve.kind == PUBLISHED:
        axes.plot(x, mean, "*", color=colour, markersize=11, markeredgecolor="k", label=curve.name)
    else:
        marker = "o" if len(x) < _MARKED else ""
        axes.plot(x, mean, color=colour, marker=marker, markersize=4, label=curve.name)
        axes.fill_between(x, least, greatest, color=colour, alpha=0.2, linewidth=0)
