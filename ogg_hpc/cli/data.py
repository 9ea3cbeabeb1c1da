"""``ogg-hpc data``: make, convert, describe, check and fetch graphs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogg_hpc.cli.options import add_node_weights_option, console, print_json
from ogg_hpc.errors import InputError, SettingsError

if TYPE_CHECKING:
    from ogg_hpc.graphs.graph import Graph

_KINDS = {
    "er": "Erdős-Rényi G(n, p), needs --p",
    "ba": "Barabási-Albert, needs --d",
    "ws": "Watts-Strogatz small world, needs --d (even) and --p",
    "plc": "power-law cluster of Holme and Kim, needs --d and --p",
    "regular": "random regular, needs --d",
    "girg": "geometric inhomogeneous, like a social network, needs --d",
    "torus": "grid on a torus",
    "planar": "union of random planar graphs, needs --d",
    "rb": "model RB, like the frb graphs of BHOSLIB, needs --d and --p",
}
_FILE_SUFFIXES = (".h5", ".hdf5")


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to an argparse subparsers object."""
    data = subparsers.add_parser(
        "data",
        help="make, convert, describe, check and fetch graphs",
        description="Make, convert, describe, check and fetch graphs.",
    )
    commands = data.add_subparsers(metavar="COMMAND", required=True)
    for add in (_add_generate, _add_convert, _add_info, _add_check, _add_fetch):
        add(commands)


def _add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], about: str, example: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about,
        description=about[0].upper() + about[1:] + ".",
        epilog=f"example: ogg-hpc data {name} {example}",
    )
    parser.set_defaults(run=run)
    return parser


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object (default: a table)"
    )


def _add_generate(commands: Any) -> None:
    parser = _add_command(
        commands,
        "generate",
        run_generate,
        "make random graphs",
        "er --nodes 1000 --p 0.15 --count 64 --seed 1 --output train/",
    )
    kinds = "; ".join(f"{kind}: {about}" for kind, about in _KINDS.items())
    parser.add_argument("kind", choices=list(_KINDS), help=kinds)
    parser.add_argument(
        "--nodes", type=int, required=True, metavar="N", help="nodes of each graph, e.g. 1000"
    )
    parser.add_argument(
        "--p",
        type=float,
        help="probability of an edge (er), of rewiring (ws), of a triangle (plc), share of pairs "
        "joined (rb), e.g. 0.15 (default: none)",
    )
    parser.add_argument(
        "--d",
        type=int,
        help="edges of each new node (ba, plc), degree (regular), degree of the ring (ws), mean "
        "degree (girg), number of planar graphs (planar) or nodes of each clique (rb), e.g. 4 "
        "(default: none)",
    )
    parser.add_argument(
        "--count", type=int, default=1, metavar="C", help="number of graphs, e.g. 64 (default: 1)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="S",
        help="graph i is a function of the parameters, S and i, e.g. 7 (default: 0)",
    )
    parser.add_argument(
        "--heaviest",
        type=int,
        default=0,
        metavar="W",
        help="give nodes random whole weights up to W, e.g. 100 (default: no weights)",
    )
    parser.add_argument(
        "--lightest", type=int, default=1, metavar="W", help="least of them, e.g. 20 (default: 1)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="DIR|FILE",
        help="a file if it ends in .h5, e.g. graph.h5, else a folder of shards, e.g. train/",
    )
    parser.add_argument(
        "--graphs-per-shard",
        type=int,
        default=1000,
        metavar="G",
        help="graphs in each file of a folder, e.g. 100 (default: 1000)",
    )
    _add_json(parser)


def _add_convert(commands: Any) -> None:
    parser = _add_command(
        commands,
        "convert",
        run_convert,
        "read a graph in any format and write it as HDF5",
        "socfb-MIT.mtx socfb-MIT.h5",
    )
    parser.add_argument("input", metavar="INPUT", help="the graph, e.g. edges.txt.gz")
    parser.add_argument("output", type=Path, metavar="OUTPUT.h5", help="the file to write")
    parser.add_argument(
        "--format", metavar="NAME", help="format of INPUT, e.g. edgelist (default: by its content)"
    )
    direction = parser.add_mutually_exclusive_group()
    direction.add_argument(
        "--directed",
        action="store_true",
        help="take each line as an arc, e.g. for wiki-Vote.txt (default: as the format says, "
        "an edge list is undirected)",
    )
    direction.add_argument(
        "--undirected",
        action="store_true",
        help="take each arc as an edge, e.g. for Pajek arcs (default: keep directions)",
    )
    add_node_weights_option(parser)
    _add_json(parser)


def _add_info(commands: Any) -> None:
    parser = _add_command(
        commands, "info", run_info, "describe a graph or a store of graphs", "graphs.h5:3"
    )
    parser.add_argument(
        "path",
        metavar="PATH",
        help="a graph in any format, or a store; PATH:INDEX is one graph of a store, e.g. train/:3",
    )
    _add_json(parser)


def _add_check(commands: Any) -> None:
    parser = _add_command(
        commands,
        "check",
        run_check,
        "verify every checksum and invariant of a store; exit code 2 if any fails",
        "train/",
    )
    parser.add_argument("path", metavar="PATH", help="an HDF5 file or a folder of shards")
    _add_json(parser)


def _add_fetch(commands: Any) -> None:
    parser = _add_command(
        commands,
        "fetch",
        run_fetch,
        "download a public graph, check it and write it as HDF5; without NAME, list all",
        "socfb-MIT",
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="name in the catalogue, e.g. G14 (default: list)"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="file to write, e.g. g.h5 (default: NAME.h5)"
    )
    parser.add_argument(
        "--url",
        help="a mirror of the file, e.g. https://mirror.example/G14 (default: the catalogue's)",
    )
    parser.add_argument(
        "--catalogue",
        type=Path,
        metavar="TOML",
        help="a catalogue to use, e.g. site.toml (default: the package's own)",
    )
    _add_json(parser)


def run_generate(args: argparse.Namespace) -> int:
    """Make random graphs; return 0."""
    import inspect

    from ogg_hpc.graphs.generators import GENERATORS, with_random_node_weights
    from ogg_hpc.graphs.shards import write_shards, write_store
    from ogg_hpc.runtime.random import hash64, stream

    generate = GENERATORS[args.kind]
    given = {name: getattr(args, name) for name in ("p", "d") if getattr(args, name) is not None}
    wanted = set(inspect.signature(generate).parameters) & {"p", "d"}
    for name in sorted(wanted ^ set(given)):
        verb = "needs" if name in wanted else "does not take"
        raise SettingsError(f"data generate {args.kind} {verb} --{name}: {_KINDS[args.kind]}")
    if args.count < 1:
        raise SettingsError(f"--count must be at least 1, not {args.count}")

    edges = 0

    def graphs(advance: Callable[[int, int | None], None]) -> Iterator[Graph]:
        nonlocal edges
        for i in range(args.count):
            seed = int(hash64(args.seed, stream("graph"), i))
            graph = generate(args.nodes, **given, seed=seed)
            graph = with_random_node_weights(graph, args.lightest, args.heaviest, seed)
            edges += graph.m
            yield graph
            advance(i + 1, args.count)

    settings = {
        "generator": args.kind,
        "generator_nodes": args.nodes,
        **{f"generator_{name}": value for name, value in given.items()},
        "seed": args.seed,
    }
    if args.heaviest:
        settings |= {"lightest": args.lightest, "heaviest": args.heaviest}
    with _progress("generating") as advance:
        if args.output.suffix in _FILE_SUFFIXES:
            write_store(args.output, graphs(advance), settings)
        else:
            write_shards(args.output, graphs(advance), args.graphs_per_shard, settings)
    record = {"output": str(args.output), "graphs": args.count, "edges": edges, **settings}
    _show(args, record, "Generated")
    return 0


def run_convert(args: argparse.Namespace) -> int:
    """Convert one graph; return 0."""
    from ogg_hpc.graphs.readers import read_graph
    from ogg_hpc.graphs.readers.node_weights import read_node_weights
    from ogg_hpc.graphs.shards import write_store
    from ogg_hpc.runtime.files import sha256_of_file

    if args.output.suffix not in _FILE_SUFFIXES:
        raise SettingsError(f"{args.output}: the output is HDF5, name it with the suffix .h5")
    graph = read_graph(
        args.input, format=args.format, directed=args.directed, undirected=args.undirected
    )
    if args.node_weights is not None:
        graph = read_node_weights(args.node_weights, graph)
    _warn(args.input, graph.warnings)
    source = Path(args.input)
    settings = {"source": source.name}
    if source.is_file():
        settings["source_sha256"] = sha256_of_file(source)
    write_store(args.output, [graph], settings)
    record = {
        "output": str(args.output),
        "nodes": graph.n,
        "edges": graph.m,
        "directed": graph.directed,
        "weighted": graph.weights is not None,
        "node_weighted": graph.node_weights is not None,
        "self_loops": graph.self_loops,
        "duplicates": graph.duplicates,
    }
    _show(args, record, "Converted")
    return 0


def run_info(args: argparse.Namespace) -> int:
    """Describe a graph or a store; return 0."""
    from dataclasses import asdict

    from ogg_hpc.graphs.members import is_store
    from ogg_hpc.graphs.readers import read_graph
    from ogg_hpc.graphs.shards import GraphStore
    from ogg_hpc.graphs.statistics import graph_statistics

    record: dict[str, Any] = {"path": args.path}
    graph = None
    if is_store(args.path):
        with GraphStore(args.path) as store:
            record |= _store_record(store)
            if len(store) == 1:
                graph = store.read(0)
    else:
        graph = read_graph(args.path)
        _warn(args.path, graph.warnings)
    if graph is not None:
        record |= asdict(graph_statistics(graph))
    _show(args, record, "Graph" if graph is not None else "Store")
    return 0


def _store_record(store: Any) -> dict[str, Any]:
    from ogg_hpc.graphs.store_file import FORMAT, VERSION

    record: dict[str, Any] = {
        "format": f"{FORMAT}/{VERSION}",
        "graphs": len(store),
        "shards": len(store.shards) or None,
        "attributes": store.attributes,
    }
    if len(store) > 1:
        edges = store.nnz if store.directed else store.nnz // 2
        record["directed"] = store.directed
        for name, values in (("nodes", store.nodes), ("edges", edges)):
            record[name] = {
                "min": int(values.min()),
                "mean": float(values.mean()),
                "max": int(values.max()),
                "total": int(values.sum()),
            }
    return record


def run_check(args: argparse.Namespace) -> int:
    """Verify a store; return 0 if it is sound, else 2."""
    from ogg_hpc.graphs.members import is_store
    from ogg_hpc.graphs.shards import check_store

    if Path(args.path).exists() and not is_store(args.path):
        raise InputError(args.path, "is no store of graphs; data convert makes one of it")
    faults = check_store(args.path)
    if args.json:
        print_json({"path": args.path, "sound": not faults, "faults": faults})
    else:
        for fault in faults:
            print(fault, file=sys.stderr)
        if not faults:
            print(f"{args.path}: sound")
    return 2 if faults else 0


def run_fetch(args: argparse.Namespace) -> int:
    """Download a graph or list the catalogue; return 0."""
    from ogg_hpc.graphs.catalogue import find_entry, load_catalogue
    from ogg_hpc.graphs.fetch import fetch_graph

    catalogue = load_catalogue(args.catalogue)
    if args.name is None:
        _list(args, catalogue.values())
        return 0
    entry = find_entry(catalogue, args.name)
    output = args.output or Path(f"{entry.name}.h5")
    if output.suffix not in _FILE_SUFFIXES:
        raise SettingsError(f"{output}: the output is HDF5, name it with the suffix .h5")
    with _progress(f"fetching {entry.name}", bytes_=True) as report:
        graph = fetch_graph(entry, output, url=args.url, report=report)
    _warn(entry.name, graph.warnings)
    record = {
        "output": str(output),
        "nodes": graph.n,
        "edges": graph.m,
        "source": args.url or entry.url,
        "licence": entry.licence,
    }
    _show(args, record, "Fetched")
    return 0


def _list(args: argparse.Namespace, entries: Iterable[Any]) -> None:
    from dataclasses import asdict

    if args.json:
        print_json([asdict(entry) for entry in entries])
        return
    columns = ("name", "family", "nodes", "edges", "licence", "page")
    rows = [[str(getattr(entry, column)) for column in columns] for entry in entries]
    if not sys.stdout.isatty():
        print("\n".join("\t".join(row) for row in [list(columns), *rows]))
        return
    from rich.table import Table

    table = Table(*columns, title="Catalogue of public graphs")
    for row in rows:
        table.add_row(*row)
    console().print(table)


def _warn(path: str, warnings: Iterable[str]) -> None:
    for warning in warnings:
        print(f"warning: {path}: {warning}", file=sys.stderr)


def _show(args: argparse.Namespace, record: Mapping[str, Any], title: str) -> None:
    """Print a record: as JSON, as a table on a terminal, else one line an item."""
    if args.json:
        print_json(record)
        return
    rows = [(name, _text(value)) for name, value in _flat(record)]
    if not sys.stdout.isatty():
        print("\n".join(f"{name}: {value}" for name, value in rows))
        return
    from rich.table import Table

    table = Table(title=title, show_header=False)
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, value)
    console().print(table)


def _flat(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{key}", inner) for key, inner in _flat(value))
        elif value is not None:
            yield name, value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@contextmanager
def _progress(
    description: str, *, bytes_: bool = False
) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function that is told how much of how much is done; draws on terminals only."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn

    amount = DownloadColumn() if bytes_ else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amount)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
