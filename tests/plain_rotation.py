"""The schedule of blocks on whole matrices, one pair after the other: slow, and plainly right."""

import numpy as np

from ogg_hpc.embedding.alias import alias_rows
from ogg_hpc.embedding.initial import initial_vectors
from ogg_hpc.embedding.row_owners import RowOwners
from ogg_hpc.runtime.random import hash64, stream


def train_by_blocks(model, parts, epoch, windows, first_rate):
    """Return the matrices after training, and the summed loss.

    `windows` yields the first batch, the (k, 2) pairs and the learning rates of each window.
    """
    X = initial_vectors(np.arange(model.n), model.dim, model.seed).astype(np.float64)
    Y = np.zeros_like(X)
    part_of = {name: _parts(model, parts, name) for name in ("vectors", "context")}
    longest = max(1, min(3, int(model.row_limit / (first_rate * (1 + model.negative)))))
    loss = 0.0
    for first, pairs, rates in windows:
        blocks = part_of["vectors"][0][pairs[:, 0]], part_of["context"][0][pairs[:, 1]]
        for turn in range(parts):
            rate = rates[turn * len(rates) // parts]
            for i in range(parts):
                j = (i + turn) % parts
                block = pairs[(blocks[0] == i) & (blocks[1] == j)]
                if len(block) == 0:
                    continue
                most = len(block) * max(model.shared_negatives, model.negative)
                drawn = _negatives(model, part_of["context"], j, most, epoch, first, i)
                for u in _in_order(part_of["vectors"], i):
                    contexts = block[block[:, 0] == u, 1]
                    for start in range(0, len(contexts), longest):
                        step = contexts[start : start + longest]
                        loss += _step(model, X, Y, u, step, drawn, rate)
    return X, Y, loss


def _parts(model, parts, name):
    return RowOwners(model.n, range(parts), model.seed, name).find(np.arange(model.n))


def _in_order(of_nodes, part):
    """Return the nodes of a part in the order of their rows."""
    numbers, rows = of_nodes
    nodes = np.flatnonzero(numbers == part)
    return nodes[np.argsort(rows[nodes])]


def _negatives(model, of_nodes, part, count, *key):
    """Yield nodes of a part."""
    nodes = _in_order(of_nodes, part)
    weights = model.negative_sampler.probabilities()[nodes]
    table = alias_rows(np.array([0, len(nodes)]), weights)
    bits = hash64(model.seed, stream("negatives of blocks"), part, *key, np.arange(count))
    return iter(nodes[table.draw(bits)])


def _step(model, X, Y, u, contexts, drawn, rate):
    """Move the rows of one source, some contexts and the negatives they share."""
    k, K = len(contexts), model.negative
    negatives = [next(drawn) for _ in range(model.shared_negatives or K * k)]
    weight = k * K / len(negatives)
    terms = [(v, 1.0, 1.0) for v in contexts] + [(v, -1.0, weight) for v in negatives]
    steps, loss = [], 0.0
    for v, sign, share in terms:
        score = sign * (X[u] @ Y[v])
        loss += share * np.logaddexp(0, -score)
        slope = -sign * share / (1 + np.exp(score))
        steps.append((X[u], slope * Y[v]))
        steps.append((Y[v], slope * X[u]))
    for row, step in steps:
        row -= rate * step
    return loss
