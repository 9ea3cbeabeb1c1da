import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.embedding.counting_sort import order_of


@given(st.lists(st.integers(0, 9), max_size=50))
def test_order_is_that_of_a_stable_sort(keys):
    keys = np.array(keys, np.int32)
    np.testing.assert_array_equal(order_of(keys, 10), np.argsort(keys, kind="stable"))
