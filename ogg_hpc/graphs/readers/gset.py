"""Gset graphs: a header ``n m`` and lines ``u v weight``."""

from __future__ import annotations

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers.headed import read_edges, read_header
from ogg_hpc.graphs.readers.text import Text


def read(text: Text, directed: bool | None) -> Graph:
    """Read a Gset graph; ids are 1 … n, or 0 … n - 1 if id 0 occurs."""
    n, m, header = read_header(text)
    return read_edges(text, n, m, header, directed, "'u v weight'", zero_based=True)
