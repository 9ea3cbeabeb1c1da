"""What the gradients of pairs must be on a device, on whichever a subclass gives."""

import numpy as np
import pytest
from pair_batches import draw_batch
from plain_gradients import reference_gradients

from ogg_hpc.embedding.gradients import gradients
from ogg_hpc.embedding.objective import SGNS


class GradientChecks:
    """A subclass has the fixture `on_device`, a communicator."""

    @pytest.mark.parametrize("tied", [False, True])
    @pytest.mark.parametrize("shared", [0, 9])
    @pytest.mark.parametrize("dim", [1, 7, 100, 128])
    def test_gradients_are_those_of_the_reference(self, on_device, dim, shared, tied):
        random = np.random.default_rng([dim, shared])
        X, Y, batch = draw_batch(random, 12, 60, dim, 3, shared, tied).compact()
        expected = reference_gradients(SGNS(), X, Y, batch)
        found = gradients(SGNS(), X, Y, batch, on_device.device)
        assert found.loss == pytest.approx(expected.loss, rel=1e-5)
        for name in expected._fields[1:]:
            one, other = getattr(found, name), getattr(expected, name)
            assert one.dtype == np.float32
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4, err_msg=name)

    @pytest.mark.parametrize("shared", [0, 9])
    def test_a_batch_without_pairs_asks_for_nothing(self, on_device, shared):
        X, Y, batch = draw_batch(np.random.default_rng(1), 5, 0, 8, 3, shared).compact()
        found = gradients(SGNS(), X, Y, batch, on_device.device)
        assert found.loss == 0
        assert not found.context_sums.any()
        assert not found.context_weights.any()
