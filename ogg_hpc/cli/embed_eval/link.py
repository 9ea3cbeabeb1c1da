"""``ogg-hpc embed-eval link``: link prediction on edges that were held out."""

from __future__ import annotations

import argparse
from typing import Any

from ogg_hpc.cli.embed_eval.command import (
    add_command,
    add_directed,
    add_embedding,
    check_embedded,
    graph_of,
    print_table,
    read_rows_graph,
)
from ogg_hpc.cli.options import print_json

_DESCRIPTION = """\
Predict held-out edges (embed-eval split) from an embedding of the others.

Scores of a pair (u, v): dot X_u.X_v; cosine; source-target X_u.Y_v, of vectors and context;
beside them always preferential attachment, out-degree of u times in-degree of v, which needs
no embedding.
Negatives: uniform, two random nodes; degree, drawn by out-degree and in-degree; reversed, the
held-out arcs turned round where that is no arc (directed graphs), which are compared with those
arcs alone. None is an edge.

AUC, with its 95 % interval, compares all held-out edges with as many negatives. MRR and hits at k
rank each end of an edge among candidates drawn like the negatives; equal scores share their mean
rank. Raw ranks are among all candidates, filtered ones among those that are not known to be
right."""


def add_parser(commands: Any) -> None:
    """Add the subcommand to those of ``embed-eval``."""
    parser = add_command(
        commands,
        "link",
        run,
        "link prediction: AUC, mean reciprocal rank, hits at k",
        _DESCRIPTION,
        "EMB.h5 --held-out split/held-out.h5",
    )
    add_embedding(parser)
    parser.add_argument(
        "--held-out", required=True, metavar="FILE", help="the held-out edges, a graph file"
    )
    parser.add_argument(
        "--graph", metavar="TRAIN", help="graph that was embedded (default: as EMB.h5 says)"
    )
    add_directed(parser)
    parser.add_argument(
        "--candidates",
        type=int,
        default=10_000,
        metavar="C",
        help="nodes that an end of an edge is ranked among; all, each once, where the graph has "
        "no more and they are drawn uniformly (default: 10000)",
    )
    parser.add_argument(
        "--ranked",
        type=int,
        default=10_000,
        metavar="E",
        help="rank at most so many held-out edges, drawn at random (default: 10000)",
    )
    parser.add_argument(
        "--hits",
        type=int,
        nargs="+",
        default=[1, 10, 50],
        metavar="K",
        help="the k of hits at k (default: 1 10 50)",
    )


def run(args: argparse.Namespace) -> int:
    """Predict links; return 0."""
    from ogg_hpc.embedding.evaluation.link import LinkSettings, evaluate_links
    from ogg_hpc.embedding.evaluation.scores import scores_of
    from ogg_hpc.embedding.store import read_embedding

    settings = LinkSettings(args.candidates, args.ranked, tuple(args.hits), args.seed)
    embedding = read_embedding(args.embedding)
    path = graph_of(embedding, args.graph)
    trained = read_rows_graph(path, embedding, args.directed)
    check_embedded(embedding, trained, path)
    held_out = read_rows_graph(args.held_out, embedding, args.directed)
    scores = scores_of(embedding.vectors, embedding.context, trained)
    record = {
        "embedding": args.embedding,
        "graph": path,
        "held_out": args.held_out,
        "seed": args.seed,
        **evaluate_links(scores, trained, held_out, settings),
    }
    if args.json:
        print_json(record)
    else:
        _print(record, settings.hits)
    return 0


def _print(record: dict[str, Any], hits: tuple[int, ...]) -> None:
    ranking = ["mrr", *(f"hits@{k}" for k in hits)]
    columns = [f"{kind} {name}" for kind in ("raw", "filtered") for name in ranking]
    rows = []
    for score, by_negatives in record["scores"].items():
        for negatives, metrics in by_negatives.items():
            low, high = metrics["interval_95"]
            row = [score, negatives, f"{metrics['auc']:.3f}", f"{low:.3f}-{high:.3f}"]
            for column in columns:
                kind, name = column.split()
                row.append(f"{metrics[kind][name]:.3f}" if kind in metrics else "-")
            rows.append(row)
    print_table("Link prediction", ["score", "negatives", "AUC", "95 %", *columns], rows)
