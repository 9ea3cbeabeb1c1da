"""From a graph file of any size to a store, on any number of ranks.

The input is parsed in pieces, each by one rank; their labels are numbered by a dictionary that the
ranks share; the edges, in ids, are sorted into the store. What is finished is kept beside the
output until the store is there, so that the same command goes on after an interruption. The store
depends on the input alone, never on the number of ranks or on memory.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.building.build import Built
from ogg_hpc.graphs.conversion.digest import Digest
from ogg_hpc.graphs.conversion.in_pieces import build_from_pieces, read_pieces
from ogg_hpc.graphs.conversion.inputs import Input, open_input
from ogg_hpc.graphs.conversion.request import Converted, Request
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.graphs.readers.dispatch import check_options, no_directions
from ogg_hpc.graphs.readers.node_weights import read_node_weights
from ogg_hpc.graphs.shards import write_store
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.files import check_writable, sha256_of_file
from ogg_hpc.runtime.parts import Parts
from ogg_hpc.runtime.signals import Came, none_came, refuse_after


def convert(
    comm: Communicator, request: Request, *, memory: int, came: Came = none_came
) -> Converted:
    """Convert a graph file to a store, whole or not at all (collective).

    Large formats are read in pieces by all ranks, the others as a whole by rank 0. An interrupted
    conversion leaves its finished parts in ``.NAME.parts`` beside the output; the same request
    goes on from there, on any number of ranks and with any memory.

    Parameters
    ----------
    comm
        All ranks.
    request
        What to convert.
    memory
        Bytes that each rank may use.
    came
        Tells which signal has come to this rank, after which all ranks stop.

    Raises
    ------
    InputError
        As by `read_graph`, whatever the number of ranks; the disk is full.
    SettingsError
        As by `read_graph`; or the labels do not fit in memory.
    StoppedError
        A signal has come.
    """
    wanted = comm.on_all(
        lambda: check_options(request.format, request.directed, request.undirected)
    )
    comm.on_root(lambda: check_writable(request.output))
    found = None
    if request.node_weights is None:
        found = open_input(comm, request.source, format=request.format, directed=wanted)
    plan = {
        "input": comm.on_root(lambda: _state(request.source)),
        "format": request.format,
        "directed": wanted,
        "piece_bytes": request.piece_bytes,
        "reading": None if found is None else found.plan,
    }
    parts = Parts.open(comm, request.output, plan)
    converted = None
    try:
        if found is not None:
            with parts.marked_when_stopped(comm):
                converted = _convert_in_pieces(comm, request, found, parts, plan, memory, came)
    except InputError as error:
        # The same input would be wrong again. After other errors, such as a full disk, the same
        # command goes on.
        if error.collective and error.args[0] == str(request.source):
            parts.remove(comm)
        raise
    parts.remove(comm)
    if converted is None:
        converted = comm.on_root(lambda: _convert_whole(request, came))
    return converted


def _convert_in_pieces(
    comm: Communicator,
    request: Request,
    source: Input,
    parts: Parts,
    plan: Mapping[str, Any],
    memory: int,
    came: Came,
) -> Converted | None:
    """Convert an input, or return None where only a reader of the whole file can."""
    if request.directed and source.symmetric:
        raise no_directions(request.source).shared()
    clock = Clock(comm, "read", "number", "sort")
    digest = Digest(comm, request.source)
    with clock("read"):
        reading = read_pieces(comm, request, source, parts, came)
        if reading is None:
            return None
        attributes = {"source": request.source.name, "source_sha256": digest.value()}
        comm.on_root(lambda: _refuse_change(request.source, plan["input"]))
    built = build_from_pieces(
        comm,
        request,
        reading,
        parts,
        directed=plan["directed"],
        attributes={**attributes, **request.attributes},
        memory=memory,
        came=came,
        clock=clock,
    )
    return Converted(built, False, reading.warnings, clock.report())


def _state(source: Path) -> list[object]:
    """Return what changes when a file does."""
    if not os.path.isfile(source):
        return [source.name]
    status = source.stat()
    return [source.name, status.st_size, status.st_mtime_ns]


def _refuse_change(source: Path, before: object) -> None:
    if _state(source) != before:
        raise InputError(source, "has changed while it was read; give the command again")


def _convert_whole(request: Request, came: Came) -> Converted:
    """Convert a graph that one rank reads as a whole."""
    start = time.perf_counter()
    source = request.source
    graph = read_graph(
        source,
        format=request.format,
        directed=request.directed,
        undirected=request.undirected,
    )
    if request.node_weights is not None:
        graph = read_node_weights(request.node_weights, graph)
    refuse_after(came())
    read = time.perf_counter()
    attributes = {"source": source.name}
    if os.path.isfile(source):
        attributes["source_sha256"] = sha256_of_file(source)
    write_store(request.output, [graph], {**attributes, **request.attributes})
    end = time.perf_counter()
    return Converted(
        _built(graph),
        graph.node_weights is not None,
        graph.warnings,
        {"read": read - start, "write": end - read, "total": end - start},
    )


def _built(graph: Graph) -> Built:
    linked = graph.degrees > 0
    linked[graph.columns] = True
    return Built(
        nodes=graph.n,
        edges=graph.m,
        entries=len(graph.columns),
        directed=graph.directed,
        weighted=graph.weights is not None,
        self_loops=graph.self_loops,
        duplicates=graph.duplicates,
        reversed_pairs=graph.reversed_pairs,
        looped=len(graph.looped),
        isolated=graph.n - int(np.count_nonzero(linked)),
    )
