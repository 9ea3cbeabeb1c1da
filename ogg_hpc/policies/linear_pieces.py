"""structure2vec of up to two layers on vertex cover, from two integers a node.

Where chosen nodes leave the graph, every active node has x = 0. With d its residual degree, s the
sum of its neighbours' and u the unit of sums, equation (1) is

    embed = relu(u d e + u² s f),    e = θ3 relu(θ2),  f = θ4 relu(e), or 0 with one layer,

and a chosen node's embedding is relu(θ1). Which of the K components are positive depends on
r = u s / d alone, and changes at up to K values of r. Between two of them the embedding is linear,
so that the sum of a graph's embeddings needs the sums of d and s over the nodes of each piece, and
the hidden layer of equation (2) is linear in d and s, too. Both cost O(K) a node, instead of K²,
and O(K³) when parameters have changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch.nn.functional import relu

from ogg_hpc.policies.structure2vec import Structure2Vec


@dataclass(frozen=True)
class LinearPieces:
    """What a node's score is on each of I pieces of the ratio r = u s / d.

    Attributes
    ----------
    starts : (I,) float64
        Where each piece starts; the first at 0.
    positive : (I, K) float64
        1 for the components of the embedding that are positive on the piece, else 0.
    by_degree, by_sum : (I, K) float64
        The hidden layer is ``relu(u d by_degree + u² s by_sum)``.
    output : (K,) float64
        Weights of the hidden layer.
    """

    starts: NDArray[np.float64]
    positive: NDArray[np.float64]
    by_degree: NDArray[np.float64]
    by_sum: NDArray[np.float64]
    output: NDArray[np.float64]

    @property
    def arrays(self) -> tuple[NDArray[np.float64], ...]:
        """What `score` takes."""
        return self.starts, self.by_degree, self.by_sum, self.output


def linear_pieces(policy: Structure2Vec) -> LinearPieces:
    """Return the pieces of a policy as it is now."""
    with torch.no_grad():
        edge, message = (part.cpu().numpy() for part in embedding_basis(policy))
        hidden, output = policy.theta6.cpu().numpy(), policy.theta7.cpu().numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        kinks = -edge / message
    kinks = np.unique(kinks[(kinks > 0) & (kinks < np.inf)])
    starts = np.append(0.0, kinks)
    inside = np.append((starts[:-1] + starts[1:]) / 2, 2 * starts[-1] + 1)
    positive = (edge + message * inside[:, None] > 0).astype(np.float64)
    return LinearPieces(
        starts,
        positive,
        (positive * edge) @ hidden.T,
        (positive * message) @ hidden.T,
        output[policy.settings.width :],
    )


def embedding_basis(policy: Structure2Vec) -> tuple[torch.Tensor, torch.Tensor]:
    """Return e and f, (K,) each, of an active node's embedding relu(u d e + u² s f)."""
    edge = policy.theta3 @ relu(policy.theta2)
    if policy.settings.layers == 1:
        return edge, torch.zeros_like(edge)
    return edge, policy.theta4 @ relu(edge)


@njit(nogil=True, cache=True)
def piece_of(ratio: Any, starts: Any) -> Any:
    """Return the number of the piece that a ratio is on."""
    piece = 0
    for i in range(1, len(starts)):
        piece += starts[i] <= ratio
    return piece


# Sums may be reordered: scores are rounded before they are compared.
@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def score(degree: Any, total: Any, pieces: Any) -> Any:
    """Return a candidate's score, up to the term that all nodes of the graph share.

    Parameters
    ----------
    degree, total
        u d, positive, and u² s.
    pieces
        `LinearPieces.arrays`.
    """
    starts, by_degree, by_sum, output = pieces
    piece = piece_of(total / degree, starts)
    result = 0.0
    for k in range(len(output)):
        hidden = by_degree[piece, k] * degree + by_sum[piece, k] * total
        result += output[k] * (0.0 if hidden < 0.0 else hidden)
    return result
