import numpy as np
import pytest

from ogg_hpc.embedding.losses import POINTS, Losses


def test_epochs_and_their_curves_are_means_of_pairs():
    losses = Losses()
    sums = np.column_stack([np.arange(40.0), np.full(40, 2.0)])
    losses.add(0, 0, 40, sums)
    losses.add(1, 0, 40, 2 * sums[:, [0]] * [1, 0] + sums[:, [1]] * [0, 1])
    first, second = losses.report()
    assert first["loss"] == pytest.approx(np.arange(40).sum() / 80)
    assert first["pairs"] == 80
    assert first["curve"] == [(2 * i + 2 * i + 1) / 4 for i in range(POINTS)]
    assert second["loss"] == 2 * first["loss"]
    assert losses.pairs == 160


@pytest.mark.parametrize("batches", [1, 7, 20, 33])
def test_curves_depend_neither_on_windows_nor_on_stops(batches):
    sums = np.random.default_rng(0).integers(1, 9, (batches, 2)).astype(float)
    whole, parts = Losses(), Losses()
    whole.add(0, 0, batches, sums)
    for first in range(0, batches, 3):
        parts.add(0, first, batches, sums[first : first + 3])
        parts = Losses(parts.state())
    assert parts.report() == whole.report()


def test_an_epoch_without_pairs_has_no_loss():
    losses = Losses()
    losses.add(0, 0, 2, np.zeros((2, 2)))
    assert losses.report() == [{"loss": None, "pairs": 0, "curve": []}]
