"""What the subcommands of ``ogg-hpc embed-eval`` have in common."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogg_hpc.errors import SettingsError

if TYPE_CHECKING:
    from ogg_hpc.embedding.embedding import Embedding
    from ogg_hpc.graphs.graph import Graph


def add_command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    about: str,
    description: str,
    example: str,
) -> argparse.ArgumentParser:
    """Add a subcommand with its help texts, an example, ``--seed`` and ``--json``."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about,
        description=description,
        epilog=f"example: ogg-hpc embed-eval {name} {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="seed of all draws, e.g. 7 (default: 0)"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object (default: a table)"
    )
    parser.set_defaults(run=run)
    return parser


def add_embedding(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names the embedding."""
    parser.add_argument(
        "embedding",
        metavar="EMB.h5",
        help="what ogg-hpc embed has written, or word2vec's .txt and .bin, or .npy",
    )


def add_directed(parser: argparse.ArgumentParser) -> None:
    """Add the option for embeddings in formats that do not say whether their graph has arcs."""
    parser.add_argument(
        "--directed",
        action="store_true",
        help="take edges as arcs (default: as the embedding says, else undirected)",
    )


def read_rows_graph(path: str, embedding: Embedding, directed: bool) -> Graph:
    """Read a graph file; return it with its nodes numbered as the rows of an embedding."""
    from ogg_hpc.embedding.evaluation.numbering import RowLabels
    from ogg_hpc.graphs.readers import read_graph

    directed = directed or embedding.directed
    graph = read_graph(path, directed=directed, undirected=not directed)
    return RowLabels(embedding.labels).renumber(graph, path)


def check_embedded(embedding: Embedding, graph: Graph, path: str) -> None:
    """Find out by its edges that a graph is not the one that was embedded.

    Raises
    ------
    SettingsError
        The embedding knows of more edges, or fewer: it may have seen those that were held out.
    """
    of = embedding.provenance.get("graph", {})
    edges = of.get("edges", graph.m)
    if graph.directed == embedding.directed and graph.m != edges:
        raise SettingsError(
            f"{path} has {graph.m} edges, but what was embedded is {of['path']} with {edges}; "
            "embed the training graph that embed-eval split has written, and name it by --graph"
        )


def graph_of(embedding: Embedding, given: str | None) -> str:
    """Return the path of the graph that was embedded: as given, or as the embedding says.

    Raises
    ------
    SettingsError
        Neither is there.
    """
    path = given or embedding.provenance.get("graph", {}).get("path")
    if not path:
        raise SettingsError("the embedding does not say which graph it is of; name the graph")
    return str(path)


def print_table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print a table on a terminal, else lines of tabs."""
    if not sys.stdout.isatty():
        print("\n".join("\t".join(row) for row in [columns, *rows]))
        return
    from rich.table import Table

    from ogg_hpc.cli.options import console

    table = Table(title=title, box=None)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*row)
    console().print(table)
