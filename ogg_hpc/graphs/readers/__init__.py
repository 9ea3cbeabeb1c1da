"""Readers of graph files: `read_graph` for all formats, one module for each."""

from ogg_hpc.graphs.readers.dispatch import FORMATS, read_graph

__all__ = ["FORMATS", "read_graph"]
