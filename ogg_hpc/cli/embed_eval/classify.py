"""``ogg-hpc embed-eval classify``: multi-label classification of nodes."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ogg_hpc.cli.embed_eval.command import add_command, add_embedding, print_table
from ogg_hpc.cli.options import add_host_run_options, print_json, start_ranks

_DESCRIPTION = """\
Predict the classes of nodes from their vectors, by one-vs-rest logistic regression on a random
part of the labelled nodes. As in the literature, the number k of classes of each test node is
known: its k most probable classes are predicted. Nothing else of the test nodes is used.

FILE: a MATLAB file with a matrix 'group' (a row for each node); a text of communities as SNAP has
them (a line lists the nodes of one); or a text of lines 'node class [class ...]'.

Under mpiexec the splits are shared out among the ranks."""


def add_parser(commands: Any) -> None:
    """Add the subcommand to those of ``embed-eval``."""
    parser = add_command(
        commands,
        "classify",
        run,
        "multi-label node classification: micro and macro F1",
        _DESCRIPTION,
        "EMB.h5 --labels blogcatalog.mat --fractions 0.5 0.9 --shuffles 20",
    )
    add_embedding(parser)
    parser.add_argument("--labels", required=True, metavar="FILE", help="classes of the nodes")
    parser.add_argument(
        "--labels-format",
        choices=("mat", "communities", "lines"),
        help="format of FILE (default: mat for .mat, communities for names with .cmty, else lines)",
    )
    parser.add_argument(
        "--fractions",
        type=float,
        nargs="+",
        default=[0.1, 0.5, 0.9],
        metavar="F",
        help="parts of the labelled nodes to train on (default: 0.1 0.5 0.9)",
    )
    parser.add_argument(
        "--shuffles",
        type=int,
        default=10,
        metavar="N",
        help="random splits at each fraction (default: 10)",
    )
    parser.add_argument(
        "--normalise",
        choices=("l2", "none", "standard"),
        default="l2",
        help="vectors at length 1, as they are, or each column at mean 0 and deviation 1 of the "
        "training part (default: l2)",
    )
    parser.add_argument(
        "--C",
        type=float,
        default=1.0,
        help="inverse strength of the regularisation, e.g. 10 (default: 1)",
    )
    parser.add_argument(
        "--solver",
        choices=("lbfgs", "liblinear", "newton-cholesky"),
        default="lbfgs",
        help="of scikit-learn; programs of the literature use liblinear, which is slower "
        "(default: lbfgs)",
    )
    add_host_run_options(parser)


def run(args: argparse.Namespace) -> int:
    """Classify nodes (collective); return 0."""
    comm = start_ranks(args)
    from ogg_hpc.embedding.evaluation.classes import read_classes
    from ogg_hpc.embedding.evaluation.classify import (
        ClassifySettings,
        check_classifier,
        evaluate_classes,
    )
    from ogg_hpc.embedding.evaluation.numbering import RowLabels
    from ogg_hpc.embedding.store import read_embedding

    settings = comm.on_all(
        lambda: ClassifySettings(
            tuple(args.fractions),
            args.shuffles,
            args.normalise,
            args.C,
            args.solver,
            args.seed,
        )
    )
    comm.on_all(check_classifier)
    embedding = comm.on_all(lambda: read_embedding(args.embedding))
    classes = comm.on_all(
        lambda: read_classes(args.labels, RowLabels(embedding.labels), args.labels_format)
    )
    evaluated = evaluate_classes(comm, embedding.vectors, classes.members, settings)
    if comm.rank == 0:
        if classes.without_vector:
            print(
                f"warning: {args.labels}: {classes.without_vector} labelled nodes have no vector "
                "and are left out",
                file=sys.stderr,
            )
        record = {
            "embedding": args.embedding,
            "labels": args.labels,
            "without_vector": classes.without_vector,
            "ranks": comm.size,
            **evaluated,
        }
        if args.json:
            print_json(record)
        else:
            _print(record)
    return 0


def _print(record: dict[str, Any]) -> None:
    print(f"{record['labelled_nodes']} labelled nodes, {record['classes']} classes")
    print(f"protocol: {record['protocol']}")
    print(
        f"normalise {record['normalise']}, C {record['C']:g}, solver {record['solver']}; mean ± "
        f"deviation of {record['shuffles']} splits, in percent"
    )
    rows = [
        [f"{result['fraction']:.0%}"]
        + [
            f"{100 * result[f'{mean}_f1']:.2f} ± {100 * result[f'{mean}_f1_deviation']:.2f}"
            for mean in ("micro", "macro")
        ]
        for result in record["results"]
    ]
    print_table("Node classification", ["trained on", "micro F1", "macro F1"], rows)
