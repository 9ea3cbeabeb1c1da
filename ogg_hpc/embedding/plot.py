"""A picture of an embedding in the plane: its two principal components."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.evaluation.classes import Classes
from ogg_hpc.graphs.graph import Graph, Labels
from ogg_hpc.runtime.extras import check_plot
from ogg_hpc.runtime.files import write_whole

# Of Okabe and Ito (2008), which people with any colour vision tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
_OTHERS = "0.6"  # grey: nodes without a class, and those of the classes beyond the colours
_EDGES = "0.8"
_INCHES = 8.0
_NAMED = 100  # nodes whose names still fit


def principal_components(vectors: NDArray[np.float32], count: int = 2) -> NDArray[np.float64]:
    """Return the (N, count) coordinates of rows along the directions in which they differ most.

    The sign of a direction is such that the coordinate that is largest in size is positive.
    Directions that there are not are zero.
    """
    centred = vectors - vectors.mean(axis=0, dtype=np.float64)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    found = (left * sizes)[:, :count]
    largest = np.take_along_axis(found, np.abs(found).argmax(axis=0)[None], axis=0)
    found = found * np.where(largest < 0, -1.0, 1.0)
    return np.pad(found, ((0, 0), (0, count - found.shape[1])))


def write_plot(
    path: str | Path,
    vectors: NDArray[np.float32],
    labels: Labels,
    graph: Graph | None = None,
    classes: Classes | None = None,
) -> None:
    """Draw the nodes at their two principal components.

    Parameters
    ----------
    path
        The picture; its suffix says the kind.
    vectors
        (N, D) vectors of the nodes.
    labels
        (N,) names of the nodes, which are shown where there are few.
    graph
        With its nodes in the order of the vectors; its edges are drawn. None by default.
    classes
        Of the nodes; each of the most frequent ones has a colour.

    Raises
    ------
    MissingExtraError
        Matplotlib is not installed.
    """
    check_plot()
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure  # without pyplot, which would look for a screen

    places = principal_components(vectors)
    figure = Figure(figsize=(_INCHES, _INCHES), layout="constrained")
    axes = figure.subplots()
    if graph is not None:
        u, v, _ = graph.edges()
        lines = np.stack([places[u], places[v]], axis=1)
        axes.add_collection(LineCollection(list(lines), colors=_EDGES, linewidths=0.5, zorder=1))
    size = float(np.clip(4000 / max(1, len(places)), 1, 60))
    for name, colour, own in _groups(len(places), classes):
        x, y = places[own].T
        axes.scatter(x, y, s=size, color=colour, label=name, linewidths=0, zorder=2)
    if len(places) <= _NAMED:
        for place, label in zip(places, labels.tolist(), strict=True):
            axes.annotate(str(label), place, (3, 3), textcoords="offset points", fontsize=8)
    if classes is not None:
        axes.legend(frameon=False)
    axes.set(xlabel="first principal component", ylabel="second principal component")
    with write_whole(path) as temporary:
        figure.savefig(temporary, dpi=150)


def _groups(nodes: int, classes: Classes | None) -> list[tuple[str | None, str, NDArray[np.bool_]]]:
    """Return the name, the colour and the (N,) nodes of each group, those of no colour first.

    A node of several classes has the colour of the most frequent.
    """
    left = np.ones(nodes, dtype=bool)
    if classes is None:
        return [(None, _COLOURS[0], left)]
    groups: list[tuple[str | None, str, NDArray[np.bool_]]] = []
    frequent = np.argsort(-classes.members.sum(axis=0), kind="stable")
    for number, colour in zip(frequent.tolist(), _COLOURS, strict=False):
        own = left & classes.members[:, number]
        groups.append((classes.names[number], colour, own))
        left = left & ~own
    return [("others", _OTHERS, left), *groups] if left.any() else groups
