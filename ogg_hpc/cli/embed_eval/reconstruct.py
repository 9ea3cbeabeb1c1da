"""``ogg-hpc embed-eval reconstruct``: the edges of a graph among the pairs of highest score."""

from __future__ import annotations

import argparse
from typing import Any

from ogg_hpc.cli.embed_eval.command import (
    add_command,
    add_directed,
    add_embedding,
    graph_of,
    print_table,
    read_rows_graph,
)
from ogg_hpc.cli.options import print_json

_DESCRIPTION = """\
Compare the pairs of highest score with the edges of the graph that was embedded.

Scored are all pairs (u, v) of a node u and another node v, for all nodes u of small graphs and a
random sample of large ones. Precision at k is the part of edges among the k best pairs; MAP is
the mean over the nodes u of the average precision of their edges. Scores as in embed-eval link."""


def add_parser(commands: Any) -> None:
    """Add the subcommand to those of ``embed-eval``."""
    parser = add_command(
        commands,
        "reconstruct",
        run,
        "precision of the pairs of highest score as edges",
        _DESCRIPTION,
        "EMB.h5 --at 100 1000",
    )
    add_embedding(parser)
    parser.add_argument(
        "graph",
        nargs="?",
        metavar="GRAPH",
        help="graph that was embedded (default: as EMB.h5 says)",
    )
    add_directed(parser)
    parser.add_argument(
        "--at",
        type=int,
        nargs="+",
        default=[100],
        metavar="K",
        help="the k of precision at k (default: 100)",
    )
    parser.add_argument(
        "--nodes",
        type=int,
        default=0,
        metavar="N",
        help="nodes u, drawn at random, e.g. 1000 (default: as many as make 200 million pairs)",
    )


def run(args: argparse.Namespace) -> int:
    """Reconstruct; return 0."""
    from ogg_hpc.embedding.evaluation.reconstruct import evaluate_reconstruction
    from ogg_hpc.embedding.evaluation.scores import scores_of
    from ogg_hpc.embedding.store import read_embedding

    embedding = read_embedding(args.embedding)
    path = graph_of(embedding, args.graph)
    graph = read_rows_graph(path, embedding, args.directed)
    scores = scores_of(embedding.vectors, embedding.context, graph)
    record = {
        "embedding": args.embedding,
        "graph": path,
        "seed": args.seed,
        **evaluate_reconstruction(scores, graph, args.at, nodes=args.nodes, seed=args.seed),
    }
    if args.json:
        print_json(record)
    else:
        _print(record)
    return 0


def _print(record: dict[str, Any]) -> None:
    print(f"protocol: {record['protocol']}")
    print(
        f"{record['pairs_that_are_edges']} of {record['pairs']} pairs are edges: precision by "
        f"chance {record['precision_by_chance']:.4f}"
    )
    scores = record["scores"]
    columns = list(next(iter(scores.values())))
    rows = [[name, *(f"{each[column]:.4f}" for column in columns)] for name, each in scores.items()]
    print_table("Reconstruction", ["score", *columns], rows)
