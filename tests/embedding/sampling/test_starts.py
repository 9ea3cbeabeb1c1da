import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.embedding.sampling.starts import starts


@given(n=st.integers(1, 300), seed=st.integers(0, 2**64), epoch=st.integers(0, 100))
def test_each_round_starts_at_each_node_once(n, seed, epoch):
    nodes = starts(n, seed, epoch, np.arange(3 * n)).reshape(3, n)
    assert np.array_equal(np.sort(nodes, axis=1), np.tile(np.arange(n), (3, 1)))


def test_rounds_epochs_and_seeds_have_orders_of_their_own():
    n = 50
    orders = {
        starts(n, seed, epoch, np.arange(n * turn, n * turn + n)).tobytes()
        for seed in (0, 1)
        for epoch in (0, 1)
        for turn in (0, 1)
    }
    assert len(orders) == 8


def test_first_nodes_are_spread_evenly(fits):
    first = [starts(10, seed, 0, np.arange(1))[0] for seed in range(5000)]
    assert fits(np.bincount(first, minlength=10), np.full(10, 0.1))


def test_there_may_be_more_items_than_32_bits_count():
    n = 3_000_000_000
    items = 7 * n + np.arange(100)
    nodes = starts(n, 0, 0, items)
    assert ((nodes >= 0) & (nodes < n)).all()
    assert nodes.max() > 2**31
