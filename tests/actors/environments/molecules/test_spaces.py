from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ogg_hpc.actors.environments.molecules.spaces import (
    largest_orders,
    observation_space,
    pack_orders,
)


@given(arrays(np.uint8, array_shapes(max_dims=3, max_side=10), elements=st.integers(0, 3)))
def test_orders_come_back_from_a_mask(orders):
    mask = pack_orders(orders)
    assert mask.shape == (*orders.shape[:-1], -(-orders.shape[-1] // 4))
    np.testing.assert_array_equal(largest_orders(mask, orders.shape[-1]), orders)


def test_the_first_order_is_in_the_lowest_bits():
    orders = np.array([1, 0, 2, 3, 2], np.uint8)
    assert pack_orders(orders).tolist() == [0b11_10_00_01, 0b10]


def test_an_observation_is_small():
    space = observation_space(max_atoms=38, kinds=11, max_bonds=45)
    assert sum(leaf.dtype.itemsize * int(np.prod(leaf.shape)) for leaf in space.values()) < 1000
