"""Sorted keys: each once, however often it is given and with whatever weights."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.graphs.building.keys import Keys, sort_distinct

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([-2.0, 0.0, 0.5, 7.0])))


@given(PAIRS)
def test_a_key_with_many_weights_keeps_the_least_and_the_largest(pairs):
    keys = np.array([key for key, _ in pairs], dtype=np.uint64)
    weights = np.array([weight for _, weight in pairs], dtype=np.float64)
    found = sort_distinct(Keys(keys, weights))
    of_key = {key: {w for k, w in pairs if k == key} for key, _ in sorted(pairs)}
    expected = [(k, w) for k, given in of_key.items() for w in sorted({min(given), max(given)})]
    assert list(zip(*(part.tolist() for part in found), strict=True)) == expected
    assert sort_distinct(Keys(keys)).keys.tolist() == list(of_key)
