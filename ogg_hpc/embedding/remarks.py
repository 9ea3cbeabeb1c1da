"""What the user should know of a run before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.trainer import Trainer


def remarks(
    settings: EmbedSettings, graph: dict[str, Any], trainers: list[Trainer]
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
    """
    if graph["weighted"]:
        yield "walks and edges are drawn by the weights of the edges (--unweighted ignores them)"
    if graph["isolated"]:
        yield (
            f"{graph['isolated']:,} of {graph['nodes']:,} nodes have no edges: their vectors stay "
            "as they are at the start, random and small"
        )
    items, workers = min(t.about()["batch_items"] for t in trainers), trainers[0].workers
    if items < workers:
        yield (
            f"warning: a batch is {items} walks or edges, which {workers} ranks share: the others "
            "have nothing to sample; use fewer ranks, or a larger --batch-pairs"
        )
