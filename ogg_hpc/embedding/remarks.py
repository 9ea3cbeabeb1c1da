"""What the user should know of a run before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ogg_hpc.embedding.output import matrices_of
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.store import holds_both
from ogg_hpc.embedding.trainer import Trainer


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
