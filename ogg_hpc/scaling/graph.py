"""The graph of a point: this rank's rows."""

from __future__ import annotations

from typing import Any

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.families import parse_family
from ogg_hpc.graphs.members import is_family
from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.training.rows import training_rows
from ogg_hpc.training.settings import GraphSource


def graph_source(text: str) -> dict[str, Any]:
    """Return what a graph's text means, as a table of the training settings."""
    if not is_family(text):
        return {"path": text}
    family = parse_family(text)
    parameters: dict[str, Any] = dict(family.parameters)
    return {
        "family": family.generator,
        "nodes": parameters.pop("n"),
        **parameters,
        "count": 1,
        "seed": family.seed,
        "lightest": family.lightest,
        "heaviest": family.heaviest,
    }


def graph_rows(comm: Communicator, text: str, balance: str) -> RowBlock:
    """Return this rank's rows (collective).

    Raises
    ------
    OggError
        A file that cannot be read, or that holds more than one graph.
    """
    source = GraphSource(**graph_source(text))
    rows = comm.on_all(lambda: training_rows(comm, [source], balance))
    if len(rows) != 1:
        raise InputError(text, f"one graph is measured, and these are {len(rows)}").shared()
    return rows[0]
