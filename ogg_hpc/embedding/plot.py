"""A picture of an embedding in the plane: its two principal components."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.formats.word2vec import labels_of_texts
from ogg_hpc.errors import InputError, SettingsError
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
    classes: Mapping[int | str, str] | None = None,
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
        Whose edges are drawn; none by default.
    classes
        Classes of nodes by their names, of some or all; each of the most frequent has a colour.

    Raises
    ------
    MissingExtraError
        Matplotlib is not installed.
    SettingsError
        A node of the graph or of the classes that has no vector.
    """
    check_plot()
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure  # without pyplot, which would look for a screen

    rows: dict[object, int] = {label: row for row, label in enumerate(labels.tolist())}
    places = principal_components(vectors)
    figure = Figure(figsize=(_INCHES, _INCHES), layout="constrained")
    axes = figure.subplots()
    if graph is not None:
        own = _rows_of(rows, graph.labels_of(np.arange(graph.n)))
        u, v, _ = graph.edges()
        lines = np.stack([places[own[u]], places[own[v]]], axis=1)
        axes.add_collection(LineCollection(list(lines), colors=_EDGES, linewidths=0.5, zorder=1))
    size = float(np.clip(4000 / max(1, len(places)), 1, 60))
    for name, colour, own in _groups(rows, classes):
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


def _groups(
    rows: Mapping[object, int], classes: Mapping[int | str, str] | None
) -> list[tuple[str | None, str, NDArray[np.int64]]]:
    """Return the name, the colour and the rows of each group, those of no colour first."""
    if classes is None:
        return [(None, _COLOURS[0], np.arange(len(rows)))]
    counts = Counter(classes.values())
    named = sorted(counts, key=lambda name: (-counts[name], name))[: len(_COLOURS)]
    groups = []
    for name, colour in zip(named, _COLOURS, strict=False):
        own = [label for label, given in classes.items() if given == name]
        groups.append((name, colour, _rows_of(rows, own)))
    left = np.setdiff1d(np.arange(len(rows)), np.concatenate([own for *_, own in groups]))
    return [*([("others", _OTHERS, left)] if len(left) else []), *groups]


def _rows_of(rows: Mapping[object, int], labels: Iterable[int | str]) -> NDArray[np.int64]:
    """Return the rows of some nodes."""
    try:
        return np.array([rows[label] for label in labels], dtype=np.int64)
    except KeyError as error:
        raise SettingsError(f"node {error.args[0]!r} has no vector in the embedding") from None


def read_classes(path: str | Path) -> dict[int | str, str]:
    """Return the classes of nodes from lines ``label class``; the class is the last word.

    Labels are integers where all of them are, as in lists of edges. A label of several lines has
    the class of the first.

    Raises
    ------
    InputError
        The file cannot be read, or a line has less than two words.
    """
    names: list[str] = []
    classes: list[str] = []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"cannot be read: {error}") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith(("#", "%")):
            continue
        words = line.rsplit(maxsplit=1)
        if len(words) < 2:
            raise InputError(path, "expected a label and a class", number)
        names.append(words[0].strip())
        classes.append(words[1])
    found: dict[int | str, str] = {}
    for label, name in zip(labels_of_texts(names).tolist(), classes, strict=True):
        found.setdefault(label, name)
    return found
