"""The plain trainer, and what it starts from."""

import networkx as nx
import numpy as np
import pytest
from plain_training import train_serially

from ogg_hpc.embedding.divergence import DivergedError, check_finite
from ogg_hpc.embedding.initial import initial_vectors
from ogg_hpc.embedding.sampling.pairs import Pairs
from ogg_hpc.embedding.schedule import batch_items, learning_rates
from ogg_hpc.embedding.settings import EmbedSettings

CLIQUES = nx.to_numpy_array(nx.connected_caveman_graph(10, 6))
EDGES = np.argwhere(CLIQUES).astype(np.int32)
KINDS = pytest.mark.parametrize("negatives", ["pair", "batch"])


class Edges:
    """Draws each edge of a ring of cliques once an epoch, in both directions."""

    items, pairs_per_item = len(EDGES) // 2, 2.0

    def sample(self, epoch, items):
        chosen = EDGES.reshape(-1, 2, 2)[items].reshape(-1, 2)
        return Pairs(chosen[:, 0], chosen[:, 1], np.full(len(items), 2))

    def negative_weights(self):
        return CLIQUES.sum(axis=1)


def train(tied=False, **options):
    options = {"dim": 8, "epochs": 40, "batch_pairs": 40, "learning_rate": 0.3, **options}
    return train_serially(Edges(), len(CLIQUES), EmbedSettings(**options), tied)


@KINDS
@pytest.mark.parametrize("tied", [False, True])
def test_scores_of_edges_rise_above_those_of_others(negatives, tied):
    found = train(tied, negatives=negatives, shared_negatives=20)
    assert (found.context is found.vectors) == tied
    scores = found.vectors @ found.context.T
    others = (CLIQUES == 0) & ~np.eye(len(CLIQUES), dtype=bool)
    assert scores[CLIQUES > 0].mean() > scores[others].mean() + 1
    if not tied:
        assert found.losses[0] == pytest.approx(6 * np.log(2), rel=1e-5)
        assert found.losses[-20:].mean() < 0.8 * found.losses[0]


@KINDS
def test_a_run_that_diverges_ends_with_its_batch_and_the_remedy(negatives):
    with (
        np.errstate(all="ignore"),
        pytest.raises(DivergedError, match=r"batch \d+ of epoch \d+; .*smaller --learning-rate"),
    ):
        train(negatives=negatives, learning_rate=1e6, row_limit=1e9)


def test_the_first_loss_that_is_not_finite_is_named_on_all_ranks():
    losses, rates = np.array([1.0, np.inf, np.nan]), np.array([0.3, 0.2, 0.1])
    check_finite(losses[:1], 2, 40, rates)
    with pytest.raises(DivergedError, match=r"batch 42 of epoch 3;.*it is 0.2 here") as caught:
        check_finite(losses, 2, 40, rates)
    assert caught.value.collective


def test_initial_vectors_are_keyed_by_node_and_uniform():
    vectors = initial_vectors(np.arange(4000), 16, seed=5)
    assert vectors.dtype == np.float32
    some = np.array([7, 3999, 0], np.int32)
    np.testing.assert_array_equal(initial_vectors(some, 16, seed=5), vectors[some])
    np.testing.assert_array_equal(initial_vectors(some, 4, seed=5) / 4, vectors[some, :4])
    assert not np.array_equal(initial_vectors(some, 16, seed=6), vectors[some])
    scaled = np.sort((16 * vectors).ravel())
    # The largest gap to the uniform distribution on (-0.5, 0.5), as of Kolmogorov and Smirnov.
    assert np.max(np.abs(scaled - (np.linspace(0, 1, scaled.size) - 0.5))) < 2 / scaled.size**0.5


def test_step_sizes_fall_linearly_over_all_batches():
    settings = EmbedSettings(learning_rate=0.4, learning_rate_end=0.1)
    rates = learning_rates(settings, np.arange(3), 3)
    np.testing.assert_allclose(rates, [0.4, 0.3, 0.2])
    np.testing.assert_allclose(learning_rates(settings, np.array([3]), 3), 0.1)


@pytest.mark.parametrize(
    ("pairs", "an_item", "items"), [(100, 10.0, 10), (100, 800.0, 1), (9, 2.0, 4)]
)
def test_batches_take_as_many_items_as_give_their_pairs(pairs, an_item, items):
    assert batch_items(EmbedSettings(batch_pairs=pairs), an_item) == items
