"""GraphML files, read by NetworkX."""

from __future__ import annotations

import io
from pathlib import Path
from xml.etree.ElementTree import ParseError

import networkx as nx
import numpy as np

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import Graph, with_attribute_weights
from ogg_hpc.graphs.readers.build import build, labels_from


def read(path: Path, data: bytes, directed: bool | None) -> Graph:
    """Read a GraphML graph; the attributes ``weight`` give the weights of edges and of nodes.

    An edge or a node without the attribute counts 1 where others have it. Weights of nodes that are
    not positive numbers are left out with a warning. Labels are the ids of the nodes.
    """
    try:
        graph = nx.read_graphml(io.BytesIO(data))
    except ParseError as error:
        raise InputError(path, f"damaged XML ({error})", error.position[0]) from None
    except Exception as error:
        # NetworkX checks little: a damaged file raises what its code happens to meet.
        raise InputError(path, f"expected a GraphML graph ({error!r})") from None
    nodes = list(graph.nodes)
    index = {node: i for i, node in enumerate(nodes)}
    ends = np.array([(index[u], index[v]) for u, v in graph.edges()], np.int64).reshape(-1, 2)
    given = [weight for _, _, weight in graph.edges(data="weight")]
    weights = None
    if any(weight is not None for weight in given):
        try:
            weights = np.array([1.0 if weight is None else float(weight) for weight in given])
        except (TypeError, ValueError) as error:
            raise InputError(path, f"an edge weight is not a number ({error})") from None
    built = build(
        path,
        len(nodes),
        ends[:, 0],
        ends[:, 1],
        weights,
        labels=labels_from(nodes),
        directed=directed is not False and bool(graph.is_directed()),
    )
    return with_attribute_weights(built, graph.nodes(data="weight"), f"{path}: ")
