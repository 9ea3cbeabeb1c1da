import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ogg_hpc.embedding.alias import AliasTables, alias_rows, alias_table
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.random import hash64


def probabilities(tables: AliasTables) -> np.ndarray:
    """What one table draws in the limit, from its entries."""
    k = len(tables.thresholds)
    result = tables.thresholds.astype(np.float64) / k
    np.add.at(result, tables.aliases, (1 - tables.thresholds.astype(np.float64)) / k)
    return result


weights = hnp.arrays(
    np.float64, st.integers(1, 40), elements=st.just(0.0) | st.floats(1e-3, 1e3)
).filter(lambda values: values.max() > 0)


@given(weights, st.sampled_from([1e-300, 1e-9, 1, 1e9, 1e300]))
def test_outcomes_have_the_probabilities_of_weights_of_any_scale(values, scale):
    expected = values / values.sum()
    found = probabilities(alias_table(values * scale))
    assert found == pytest.approx(expected, abs=2.0**-23)
    assert not found[values == 0].any()


@given(st.lists(weights, min_size=1, max_size=5))
def test_each_row_has_a_table_of_its_own(rows):
    offsets = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    together = alias_rows(offsets, np.concatenate(rows))
    for row, lo, hi in zip(rows, offsets, offsets[1:], strict=False):
        alone = alias_table(row)
        assert np.array_equal(together.thresholds[lo:hi], alone.thresholds)
        assert np.array_equal(together.aliases[lo:hi], alone.aliases)


def test_draws_come_in_proportion_to_weights():
    values = np.array([3.0, 0.0, 1.0, 6.0])
    drawn = alias_table(values).draw(hash64(5, np.arange(200_000)))
    counts = np.bincount(drawn, minlength=4)
    expected = 200_000 * values / values.sum()
    assert counts[1] == 0
    kept = values > 0
    chi_square = ((counts - expected)[kept] ** 2 / expected[kept]).sum()
    assert chi_square < 13.8  # 0.1 % of 2 degrees of freedom


@pytest.mark.parametrize("bad", [[-1.0, 2.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_weights_that_are_negative_or_not_finite_are_refused(bad):
    with pytest.raises(SettingsError, match="finite and not negative"):
        alias_table(np.array(bad))


@pytest.mark.parametrize("bad", [[], [0.0, 0.0]])
def test_nothing_is_drawn_where_no_weight_is_positive(bad):
    with pytest.raises(SettingsError, match="no weight is positive"):
        alias_table(np.array(bad))
