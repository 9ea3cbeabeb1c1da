"""Link prediction: held-out edges are told from pairs that are no edges by their scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.evaluation.auc import auc
from ogg_hpc.embedding.evaluation.non_edges import (
    DRAWS,
    are_edges,
    draw_non_edges,
    reversed_non_arcs,
)
from ogg_hpc.embedding.evaluation.ranking import Pool, ranking_record, ranks
from ogg_hpc.embedding.evaluation.scores import Score
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random import hash64, stream

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class LinkSettings:
    """How links are predicted.

    Attributes
    ----------
    candidates : int
        Nodes that a true end of an edge is ranked among; all where the graph has no more and
        they are drawn uniformly.
    ranked : int
        At most so many held-out edges are ranked, drawn at random.
    hits : tuple of int
        The k of hits at k.
    seed : int
        Of all draws.
    """

    candidates: int = 10_000
    ranked: int = 10_000
    hits: tuple[int, ...] = (1, 10, 50)
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.candidates, self.ranked, *self.hits) < 1:
            raise SettingsError("candidates, ranked edges and the k of hits at k are at least 1")


def evaluate_links(
    scores: list[Score], trained: Graph, held_out: Graph, settings: LinkSettings
) -> dict[str, Any]:
    """Tell held-out edges from pairs that are no edges, by each of some scores.

    The area under the ROC curve compares all held-out edges with as many negatives: pairs of nodes
    drawn ``uniform`` or by ``degree``. Of a directed graph it compares the held-out arcs whose
    reverse is no arc with their ``reversed`` pairs, too: a symmetric score comes to one half. The
    ranking metrics replace each end of an edge in turn by candidates drawn by the same two rules.

    Parameters
    ----------
    scores
        From `scores_of`.
    trained, held_out
        The edges that were trained on and those that were not, on the same nodes.

    Returns
    -------
    dict
        The protocol, and under ``scores`` by score and negatives the metrics, each with its
        standard error.

    Raises
    ------
    SettingsError
        No edges are held out, some of them were trained on, or only one graph is directed.
    """
    if trained.directed != held_out.directed:
        kinds = ["directed" if graph.directed else "undirected" for graph in (trained, held_out)]
        raise SettingsError(f"the training graph is {kinds[0]}, the held-out edges are {kinds[1]}")
    u, v, _ = held_out.edges()
    if not len(u):
        raise SettingsError("no edges are held out")
    leaked = int(np.count_nonzero(are_edges(trained, u, v)))
    if leaked:
        raise SettingsError(
            f"{leaked} of {len(u)} held-out edges are in the training graph; hold them out before "
            "it is embedded (ogg-hpc embed-eval split)"
        )
    known = _union(trained, held_out)
    # Positives and negatives.
    compared = {
        draw: ((u, v), draw_non_edges(trained, known, draw, len(u), settings.seed))
        for draw in DRAWS
    }
    if held_out.directed:
        targets, sources = reversed_non_arcs(held_out, known)
        compared["reversed"] = (sources, targets), (targets, sources)
    compared = {name: pairs for name, pairs in compared.items() if len(pairs[1][0])}
    ranked = _choose(u.astype(np.int64), v.astype(np.int64), settings)
    whole = Pool(trained, "uniform", settings.candidates, settings.seed).is_whole
    return {
        "nodes": trained.n,
        "directed": trained.directed,
        "training_edges": trained.m,
        "held_out_edges": len(u),
        "negatives": {name: len(negatives[0]) for name, (_, negatives) in compared.items()},
        "ranked_edges": len(ranked[0]),
        "candidates": {
            "uniform": "all nodes" if whole else settings.candidates,
            "degree": min(settings.candidates, trained.n),
        },
        "ends_replaced": "each in turn",
        "scores": {
            score.name: {
                name: auc(score.of_pairs(*positives), score.of_pairs(*negatives)).record()
                | (
                    _rankings(score, trained, known, ranked, name, settings)
                    if name in DRAWS
                    else {}
                )
                for name, (positives, negatives) in compared.items()
            }
            for score in scores
        },
    }


def _union(trained: Graph, held_out: Graph) -> Graph:
    ends = [graph.edges()[:2] for graph in (trained, held_out)]
    u, v = (np.concatenate(parts) for parts in zip(*ends, strict=True))
    return Graph.from_edges(trained.n, u, v, directed=trained.directed)


def _transpose(graph: Graph) -> Graph:
    if not graph.directed:
        return graph
    return Graph.from_edges(graph.n, graph.columns, graph.rows, directed=True)


def _choose(u: NDArray[np.int64], v: NDArray[np.int64], settings: LinkSettings) -> Pairs:
    keys = hash64(settings.seed, stream("ranked edges"), u, v)
    chosen = np.sort(np.argsort(keys, kind="stable")[: settings.ranked])
    return u[chosen], v[chosen]


def _rankings(
    score: Score, trained: Graph, known: Graph, edges: Pairs, draw: str, settings: LinkSettings
) -> dict[str, Any]:
    """Rank both ends of each edge: the target as it is, the source in the reversed graph."""
    u, v = edges
    pool = Pool(trained, draw, settings.candidates, settings.seed)
    targets = ranks(score, known, u, v, pool)
    pool = pool._replace(graph=_transpose(trained))
    sources = ranks(score.reversed(), _transpose(known), v, u, pool)
    return {
        name: ranking_record([getattr(each, name) for each in (targets, sources)], settings.hits)
        for name in ("raw", "filtered")
    }
