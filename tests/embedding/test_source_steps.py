import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.embedding.objective import SGNS
from ogg_hpc.embedding.source_steps import (
    Negatives,
    cut_into_steps,
    longest_step,
    train_plainly,
    train_steps,
)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9))), st.integers(1, 4))
def test_steps_take_pairs_of_one_source_in_their_order(pairs, longest):
    sources, contexts = np.array(pairs, np.int32).reshape(-1, 2).T
    steps = cut_into_steps(sources, contexts, 7, longest)
    sizes = np.diff(steps.offsets)
    assert ((sizes >= 1) & (sizes <= longest)).all()
    in_order = sorted(pairs, key=lambda pair: pair[0])
    again = zip(np.repeat(steps.sources, sizes), steps.contexts, strict=True)
    assert [(int(u), int(v)) for u, v in again] == in_order
    # No source has more steps than it needs.
    wanted = sum(-(-int(count) // longest) for count in np.bincount(sources, minlength=7))
    assert len(steps.sources) == wanted


def test_longest_step_stays_within_the_row_limit():
    assert longest_step(0.025, 5, 0.4) == 2  # 2 * (1 + 5) * 0.025 = 0.3
    assert longest_step(1.0, 5, 1.0) == 1
    assert longest_step(0.025, 5, 1e300) == 3


@pytest.mark.parametrize("dim", [1, 7, 128])
@pytest.mark.parametrize("shared", [1, 3, 20])
def test_compiled_steps_equal_batches_of_the_general_kind(dim, shared):
    generator = np.random.default_rng([dim, shared])
    X, Y = (generator.standard_normal((rows, dim)).astype(np.float32) / 3 for rows in (9, 11))
    # Few contexts, so that some are met twice in a step, also as negatives.
    sources, contexts = (generator.integers(0, rows, 200).astype(np.int32) for rows in (9, 11))
    steps = cut_into_steps(sources, contexts, 9, 4)
    ends = np.arange(len(steps.offsets)) * shared
    negatives = Negatives(ends, generator.integers(0, 11, ends[-1]).astype(np.int32), 5)
    ours, right = (X.copy(), Y.copy()), (X.copy(), Y.copy())
    loss = train_steps(SGNS(), *ours, steps, negatives, 0.02)
    right_loss = train_plainly(SGNS(), *right, steps, negatives, 0.02)
    np.testing.assert_allclose(loss, right_loss, rtol=1e-5)
    for found, expected in zip(ours, right, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert not np.allclose(ours[0], X, atol=1e-2)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_loss_is_not_finite_where_a_vector_is_not(value):
    X, Y = np.ones((1, 16), np.float32), np.ones((2, 16), np.float32)
    X[0, 3] = value
    steps = cut_into_steps(np.zeros(1, np.int32), np.zeros(1, np.int32), 1, 1)
    negatives = Negatives(np.array([0, 1]), np.ones(1, np.int32), 5)
    assert not np.isfinite(train_steps(SGNS(), X, Y, steps, negatives, 0.1))
