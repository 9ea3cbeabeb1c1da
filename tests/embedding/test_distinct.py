"""The distinct ids of a batch."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ogg_hpc.embedding.distinct import distinct

KINDS = st.sampled_from([np.int32, np.int64])
# Few ids, and ids that collide in tables of any size.
IDS = st.one_of(st.integers(0, 9), st.integers(0, 30).map(lambda bit: 2**bit))


@given(KINDS.flatmap(lambda kind: arrays(kind, array_shapes(min_dims=1, min_side=0), elements=IDS)))
def test_ids_stand_once_in_the_order_of_first_appearance(ids):
    rows, slots = distinct(ids)
    assert rows.dtype == ids.dtype
    assert rows.tolist() == list(dict.fromkeys(ids.ravel().tolist()))
    np.testing.assert_array_equal(rows[slots], ids)


def test_ids_of_the_largest_graphs_are_told_apart():
    ids = np.array([2**62, 2**62 + 1, 2**32, 0, 2**62], np.int64)
    rows, slots = distinct(ids)
    assert rows.tolist() == ids[:4].tolist()
    assert slots.tolist() == [0, 1, 2, 3, 0]
