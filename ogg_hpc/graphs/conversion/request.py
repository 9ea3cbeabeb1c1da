"""What a conversion is asked for, and what it tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ogg_hpc.graphs.building.build import Built

# Bytes of text that are parsed at once. Neither ranks nor memory change it, so that the finished
# pieces of a job serve any later one.
PIECE_BYTES = 1 << 24


@dataclass(frozen=True)
class Request:
    """What is to be converted.

    Attributes
    ----------
    source : Path
        A graph in any format that `read_graph` knows.
    output : Path
        The store; an existing one is replaced.
    format, directed, undirected
        As for `read_graph`.
    node_weights : Path, optional
        A file of weights of the nodes, as `read_node_weights` takes it.
    piece_bytes : int
        Bytes of text in a piece, about.
    attributes : mapping
        Provenance to be stored beside, or in place of, the source's name and SHA-256.
    """

    source: Path
    output: Path
    format: str | None = None
    directed: bool = False
    undirected: bool = False
    node_weights: Path | None = None
    piece_bytes: int = PIECE_BYTES
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Converted:
    """What a conversion has written.

    Attributes
    ----------
    built : Built
        What the store holds, and what was dropped on the way.
    node_weighted : bool
        Whether nodes have weights.
    warnings : tuple of str
        What the user should know about the input.
    seconds : dict of str to float
        By phase, on this rank.
    """

    built: Built
    node_weighted: bool
    warnings: tuple[str, ...]
    seconds: dict[str, float]
