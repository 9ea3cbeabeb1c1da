"""Negatives are drawn by degree to a power, and keyed by what they are for."""

import numpy as np
import pytest
from scipy.stats import chisquare

from ogg_hpc.embedding.negatives import NegativeSampler
from ogg_hpc.errors import SettingsError

WEIGHTS = np.array([5, 0, 1, 1, 30, 12, 3, 0, 7, 2.5])


@pytest.mark.parametrize("power", [0.75, 1.0, 0.0])
def test_frequencies_are_those_of_the_power_of_weights(power):
    sampler = NegativeSampler(WEIGHTS, power, seed=3)
    items, places = np.divmod(np.arange(40_000), 100)
    drawn = [sampler.of_pairs(1, items, places, 5).ravel()]
    drawn.append(np.concatenate([sampler.of_batch(1, b, 1000) for b in range(200)]))
    positive = WEIGHTS > 0
    expected = WEIGHTS[positive] ** power
    for ids in drawn:
        counts = np.bincount(ids, minlength=len(WEIGHTS))
        assert counts[~positive].sum() == 0
        expected *= counts.sum() / expected.sum()
        assert chisquare(counts[positive], expected).pvalue > 1e-3


def test_a_draw_depends_on_what_it_is_for_alone():
    sampler = NegativeSampler(WEIGHTS, 0.75, seed=4)
    items, places = np.divmod(np.arange(600), 7)
    together = sampler.of_pairs(2, items, places, 3)
    order = np.random.default_rng(0).permutation(600)
    parts = [sampler.of_pairs(2, items[part], places[part], 3) for part in np.split(order, [50])]
    np.testing.assert_array_equal(np.concatenate(parts), together[order])
    # More negatives begin with the same ones, in a batch as well.
    np.testing.assert_array_equal(sampler.of_pairs(2, items, places, 5)[:, :3], together)
    np.testing.assert_array_equal(sampler.of_batch(2, 9, 50)[:20], sampler.of_batch(2, 9, 20))


def test_draws_of_other_seeds_epochs_items_and_batches_differ():
    def draws(seed, epoch, number):
        sampler = NegativeSampler(np.ones(1000), 0.75, seed)
        numbers = np.full(1, number)
        own = sampler.of_pairs(epoch, numbers, np.zeros(1, int), 20)[0]
        return own.tolist(), sampler.of_batch(epoch, number, 20).tolist()

    base = draws(1, 2, 3)
    assert base == draws(1, 2, 3)
    others = [base, draws(4, 2, 3), draws(1, 4, 3), draws(1, 2, 4)]
    lists = [tuple(drawn) for both in others for drawn in both]
    assert len(set(lists)) == len(lists)


@pytest.mark.parametrize("weights", [[0, 0], [1, -1], [1, np.nan], [1, np.inf]])
def test_weights_without_sense_are_refused(weights):
    with pytest.raises(SettingsError):
        NegativeSampler(np.array(weights), 0.75, seed=0)
