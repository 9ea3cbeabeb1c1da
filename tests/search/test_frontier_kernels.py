import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.runtime.device import CPUDevice
from ogg_hpc.search.frontier_kernels import push


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    nodes=st.integers(1, 12),
    rows=st.integers(0, 12),
    copies=st.integers(1, 3),
    width=st.integers(1, 9),
    id_type=st.sampled_from([np.int32, np.int64]),
)
def test_push_is_the_product_with_what_changed(seed, nodes, rows, copies, width, id_type):
    generator = np.random.default_rng(seed)
    block = generator.random((rows, nodes)) < 0.4
    changed = generator.random((nodes, copies)) < 0.5
    deltas = generator.integers(-8, 8, (nodes, copies, width)) * changed[:, :, None] / 4
    listening = generator.random((rows, copies)) < 0.7
    sums = generator.integers(-8, 8, (rows, copies, width)).astype(float)
    touched = np.zeros(rows * copies, bool)

    added = np.einsum("rv,vck->rck", block, deltas) * listening[:, :, None]
    expected = sums + added  # of small multiples of 1/4: exact in any order
    starts = np.concatenate([[0], np.cumsum(block.sum(axis=0))]).astype(id_type)
    columns = np.nonzero(block.T)[1].astype(id_type)
    pairs = np.flatnonzero(changed)
    of_pairs = deltas.reshape(-1, width)[pairs]
    flat = sums.reshape(-1, width)
    push(
        CPUDevice(), starts, columns, copies, pairs, of_pairs, listening.reshape(-1), flat, touched
    )
    np.testing.assert_array_equal(sums, expected)
    reached = (block.astype(int) @ changed.astype(int) > 0) & listening
    np.testing.assert_array_equal(touched, reached.reshape(-1))
