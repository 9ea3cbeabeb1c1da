"""An epoch of a few made-up pairs, for whatever trains them."""

import functools

import numpy as np

from ogg_hpc.embedding.model import Model
from ogg_hpc.embedding.negatives import NegativeSampler
from ogg_hpc.embedding.objective import SGNS
from ogg_hpc.embedding.sampling.pairs import Pairs
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.strategies.registry import strategy_class
from ogg_hpc.embedding.window import make_window, share_of
from ogg_hpc.runtime.clock import Clock

EPOCH = 2
BATCHES, WINDOW = 11, 4  # the last window is shorter
BATCH_ITEMS = 6
ITEMS = BATCHES * BATCH_ITEMS - 2  # the last batch is smaller


def make_model(n=23, dim=5, *, tied=False, negative=3, shared_negatives=7, row_limit=1e9):
    weights = np.random.default_rng(n).integers(0, 9, n) + (np.arange(n) == 0)
    sampler = NegativeSampler(weights, 0.75, seed=4)
    return Model(n, dim, tied, SGNS(), sampler, negative, shared_negatives, row_limit, seed=4)


@functools.cache
def pairs_of_items(n):
    """(sources, contexts) of each item: some have none, and node 0 is a hub."""
    generator = np.random.default_rng([n, 5])
    pairs = []
    for _ in range(ITEMS):
        nodes = generator.integers(0, n, (generator.integers(0, 7), 2))
        nodes[generator.random(nodes.shape) < 0.2] = 0
        pairs.append(nodes.astype(np.int32))
    return pairs


def learning_rates():
    return np.linspace(0.3, 0.1, BATCHES)


def make_strategy(comm, name, model, **settings):
    kind = strategy_class(name)
    settings = EmbedSettings(strategy=name, dim=model.dim, **settings)
    return kind(comm, model, settings, Clock(comm, *kind.phases))


def train(comm, strategy, n, epoch=EPOCH, scale=1.0):
    """Train all batches of an epoch; return their losses and pairs."""
    layout, losses = strategy.layout, []
    for first in range(0, BATCHES, WINDOW):
        batches = min(WINDOW, BATCHES - first)
        share = share_of(layout.worker, len(layout.workers), first, batches, BATCH_ITEMS, ITEMS)
        drawn = [pairs_of_items(n)[item] for item in share.items]
        nodes = np.concatenate([np.empty((0, 2), np.int32), *drawn])
        counts = np.array([len(item) for item in drawn], np.int64)
        rates = scale * learning_rates()[first : first + batches]
        window = make_window(epoch, share, Pairs(nodes[:, 0], nodes[:, 1], counts), rates)
        losses.append(comm.allreduce(strategy.train(window)))
    return np.concatenate(losses)


def gathered(strategy, matrix, n, block=9):
    blocks = [strategy.gather(matrix, lo, min(lo + block, n)) for lo in range(0, n, block)]
    return None if blocks[0] is None else np.concatenate(blocks)
