"""structure2vec in plain NumPy on a dense matrix: what the fast engines are tested against.

It reads like equations (1) and (2) of OpenGraphGym-MG, takes O(L N² K) time and O(N² K) memory,
and uses none of the identities of `ogg_hpc.policies.structure2vec`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Parameters = Mapping[str, NDArray[np.float64]]


def _relu(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(x, 0.0)


def embed(
    parameters: Parameters,
    adjacency: NDArray[np.float64],
    selected: NDArray[np.bool_],
    active: NDArray[np.bool_],
    layers: int,
) -> NDArray[np.float64]:
    """Embed the nodes of one graph by equation (1).

    Parameters
    ----------
    parameters
        ``theta1`` to ``theta4``: (K,), (K,), (K, K) and (K, K).
    adjacency
        (N, N) edge weights; zero where there is no edge.
    selected
        (N,) mask of the partial solution: the node property x.
    active
        (N,) mask of the residual graph; rows and columns of other nodes are zeroed.
    layers
        Number of layers L.

    Returns
    -------
    (N, K) ndarray
    """
    weights = np.where(active[:, None] & active, adjacency, 0.0)
    neighbours = (weights != 0).astype(np.float64)
    x = selected.astype(np.float64)

    node_term = np.outer(x, parameters["theta1"])
    edge_term = _relu(weights[:, :, None] * parameters["theta2"]).sum(axis=1)
    edge_term = edge_term @ parameters["theta3"].T
    embedding = np.zeros_like(node_term)
    for _ in range(layers):
        neighbour_term = (neighbours @ embedding) @ parameters["theta4"].T
        embedding = _relu(node_term + edge_term + neighbour_term)
    return embedding


def scores(
    parameters: Parameters,
    adjacency: NDArray[np.float64],
    selected: NDArray[np.bool_],
    active: NDArray[np.bool_],
    layers: int,
    graph_term: str = "mean",
) -> NDArray[np.float64]:
    """Score the nodes of one graph by equation (2).

    Parameters
    ----------
    parameters, adjacency, selected, active, layers
        As for `embed`, and ``theta5`` to ``theta7``: (K, K), (K, K) and (2 K,).
    graph_term
        ``sum`` of the embeddings, as in the paper, or their ``mean``.

    Returns
    -------
    (N,) ndarray
    """
    embedding = embed(parameters, adjacency, selected, active, layers)
    whole = embedding.sum(axis=0)
    if graph_term == "mean":
        whole = whole / len(embedding)
    graph_part = np.broadcast_to(parameters["theta5"] @ whole, embedding.shape)
    node_part = embedding @ parameters["theta6"].T
    return _relu(np.concatenate([graph_part, node_part], axis=1)) @ parameters["theta7"]
