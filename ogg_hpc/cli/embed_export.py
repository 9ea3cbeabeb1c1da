"""``ogg-hpc embed-export``: an embedding in the formats of other programs, or as a picture."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ogg_hpc.errors import SettingsError

_DESCRIPTION = """\
Write the vectors of an EMB.h5 in the format that the suffix of OUT says:

  .txt .vec       word2vec's text, which gensim's KeyedVectors.load_word2vec_format reads
  .bin            word2vec's binary, the same with binary=True
  .npy            a NumPy matrix, with the names of its rows in OUT.vocab.tsv
  .h5             a copy
  .png .svg .pdf  a picture of a small graph: the two principal components

Rows are in the order of the nodes of the graph, under the user's names. Names with white
space do not fit word2vec's formats and are refused there; .npy holds any."""

_EXAMPLE = """\
examples: ogg-hpc embed-export EMB.h5 vectors.txt
          ogg-hpc embed-export EMB.h5 karate.png --graph karate.graph --classes factions.txt"""

_PICTURES = (".png", ".svg", ".pdf")


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to an argparse subparsers object."""
    parser = subparsers.add_parser(
        "embed-export",
        help="write an embedding in the format of another program",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("embedding", metavar="EMB.h5", help="what ogg-hpc embed has written")
    parser.add_argument("output", metavar="OUT", help="the file; its suffix says the format")
    parser.add_argument(
        "--matrix",
        choices=("vectors", "context"),
        help="which matrix: of nodes (as sources), or of nodes as context (default: vectors)",
    )
    parser.add_argument(
        "--graph", metavar="GRAPH", help="graph whose edges are in the picture (default: none)"
    )
    parser.add_argument(
        "--classes",
        metavar="FILE",
        help="classes that colour the nodes of the picture: lines 'node class', a .mat with a "
        "matrix `group`, or communities as SNAP has them (default: one colour)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Export; return 0.

    Raises
    ------
    InputError, SettingsError, MissingExtraError
        Files or options that do not fit together, or no Matplotlib.
    """
    if Path(args.output).suffix.lower() in _PICTURES:
        _draw(args)
        return 0
    if args.graph or args.classes:
        raise SettingsError(
            f"--graph and --classes are for pictures ({', '.join(_PICTURES)}), not {args.output}"
        )
    from ogg_hpc.embedding.export import export_embedding

    nodes, dim = export_embedding(args.embedding, args.output, args.matrix)
    print(f"{args.output}: {nodes} nodes, {dim} numbers each")
    return 0


def _draw(args: argparse.Namespace) -> None:
    from ogg_hpc.runtime.extras import check_plot

    check_plot()
    from ogg_hpc.embedding.evaluation.classes import read_classes
    from ogg_hpc.embedding.evaluation.numbering import RowLabels
    from ogg_hpc.embedding.plot import write_plot
    from ogg_hpc.embedding.store import read_embedding
    from ogg_hpc.graphs.readers import read_graph

    embedding = read_embedding(args.embedding)
    rows = embedding.vectors if args.matrix != "context" else embedding.context
    if rows is None:
        raise SettingsError(f"{args.embedding} has no context")
    names = RowLabels(embedding.labels)
    graph = classes = None
    if args.graph:
        graph = names.renumber(read_graph(args.graph, undirected=True), args.graph)
    if args.classes:
        classes = read_classes(args.classes, names)
    write_plot(args.output, rows, embedding.labels, graph, classes)
    print(f"{args.output}: {len(rows)} nodes")
