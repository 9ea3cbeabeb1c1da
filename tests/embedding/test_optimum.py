"""What training comes to, where theory says it in closed form."""

import networkx as nx
import numpy as np

from ogg_hpc.embedding.batch import CompactBatch
from ogg_hpc.embedding.gradients import gradients
from ogg_hpc.embedding.initial import initial_vectors
from ogg_hpc.embedding.objective import SGNS
from ogg_hpc.embedding.update import apply

K, WINDOW = 5, 3


def test_scores_become_the_shifted_pointwise_mutual_information():
    # Levy and Goldberg, NeurIPS 2014, with a column for each node and so every matrix of scores:
    # the score of (u, v) is log of #(u, v) / (#u K P(v)). Of walks on the karate club, counts are
    # the expected ones; negatives are all nodes, each as often as P has it.
    adjacency = nx.to_numpy_array(nx.karate_club_graph(), weight=None)
    n, degrees = len(adjacency), adjacency.sum(axis=1).astype(int)
    step = adjacency / degrees[:, None]
    visits = sum(np.linalg.matrix_power(step, t) for t in range(1, WINDOW + 1))
    counts = np.ceil(4 * degrees[:, None] * visits).astype(int)
    nodes = np.arange(n, dtype=np.int32)
    u, v = (
        np.repeat(one.ravel(), counts.ravel()) for one in np.meshgrid(nodes, nodes, indexing="ij")
    )
    negatives = np.repeat(nodes, degrees)
    batch = CompactBatch(u, v, negatives, K / len(negatives))

    X, Y = initial_vectors(nodes, n, seed=1) * n, np.zeros((n, n), np.float32)
    for _ in range(2000):
        found = gradients(SGNS(), X, Y, batch)
        apply(X, nodes, *found[1:3], 1.0, 1.5)
        apply(Y, nodes, *found[3:], 1.0, 1.5)

    met = counts > 0
    expected = np.log(counts[met] / np.outer(counts.sum(axis=1), K * degrees / degrees.sum())[met])
    off = np.abs((X @ Y.T)[met] - expected)
    assert off.max() < 0.05
