"""What a run tells of itself when it is finished."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ogg_hpc.embedding.graph_input import OpenedGraph

# Of the networks whose time is modelled.
_GIGABITS = (1, 10, 100)


def graph_facts(opened: OpenedGraph) -> dict[str, Any]:
    """Return what the record says of the graph."""
    graph = opened.graph
    return {
        "nodes": graph.n,
        "edges": opened.m,
        "directed": graph.directed,
        "weighted": graph.weighted,
        "isolated": int(np.count_nonzero((graph.degrees == 0) & (graph.in_strengths == 0))),
        "self_loops": opened.self_loops,
        "duplicates": opened.duplicates,
    }


def graph_digest(opened: OpenedGraph) -> str:
    """Return a digest of the degrees, by which another graph of the same size is told apart."""
    digest = hashlib.sha256()
    for array in (opened.graph.degrees, opened.graph.strengths, opened.graph.in_strengths):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def network_model(traffic: dict[str, Any], ranks: int) -> dict[str, float]:
    """Return a model, no measurement: seconds that networks would take for what ranks have sent.

    Each rank has a link of its own, which carries its mean share of the bytes at full rate.

    Parameters
    ----------
    traffic
        A report of `Traffic`.
    ranks
        Number of ranks.

    Returns
    -------
    dict
        Seconds by rate, such as ``10 Gb/s``.
    """
    sent = sum(kind["bytes"] for kind in traffic["kinds"].values()) / ranks
    return {f"{rate} Gb/s": sent / (rate * 1e9 / 8) for rate in _GIGABITS}
