"""What the user should know of a run before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ogg_hpc.embedding.output import matrices_of
from ogg_hpc.embedding.settings import CHOICES, EmbedSettings
from ogg_hpc.embedding.store import holds_both
from ogg_hpc.embedding.trainer import Trainer

_DEFAULTS = EmbedSettings()
# Settings that only one method, or strategy, looks at.
_USED_BY = {
    "p": ("method", "node2vec"),
    "q": ("method", "node2vec"),
    "order": ("method", "line"),
    "samples": ("method", "line"),
    "stop_rate": ("method", "app"),
    "parts": ("strategy", "rotate"),
}


def remarks(
    settings: EmbedSettings, graph: dict[str, Any], trainers: list[Trainer], output: Path
) -> Iterator[str]:
    """Yield sentences on graph, settings and ranks that are easily overlooked.

    Parameters
    ----------
    settings
        The run.
    graph
        Facts of the graph, as in the record.
    trainers
        The models.
    output
        The file of the embedding.
    """
    yield from _without_effect(settings)
    if graph["weighted"]:
        yield "walks and edges are drawn by the weights of the edges (--unweighted ignores them)"
    if graph["isolated"]:
        yield (
            f"{graph['isolated']:,} of {graph['nodes']:,} nodes have no edges: their vectors stay "
            "as they are at the start, random and small"
        )
    if graph["directed"] and "context" in matrices_of(trainers) and not holds_both(output):
        yield (
            f"{output} has no room for the vectors of nodes as targets of arcs (context), without "
            "which arcs have no direction; a file .h5 has"
        )
    items, workers = min(t.about()["batch_items"] for t in trainers), trainers[0].workers
    if items < workers:
        yield (
            f"warning: a batch is {items} walks or edges, which {workers} ranks share: the others "
            "have nothing to sample; use fewer ranks, or a larger --batch-pairs"
        )


def _without_effect(settings: EmbedSettings) -> Iterator[str]:
    """Yield warnings of settings that others make pointless; a user's own class may use any."""
    for name, (owner, user) in _USED_BY.items():
        chosen = getattr(settings, owner)
        changed = getattr(settings, name) != getattr(_DEFAULTS, name)
        if changed and chosen in CHOICES[owner] and chosen != user:
            option = name.replace("_", "-")
            yield f"warning: --{option} is for --{owner} {user}: it has no effect on {chosen}"
