import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.embedding.row_owners import RowOwners


@given(n=st.integers(1, 3000), ranks=st.integers(1, 9), first=st.integers(0, 3), seed=st.integers())
def test_every_row_has_one_place_in_blocks_of_equal_length(n, ranks, first, seed):
    owners = RowOwners(n, range(first, first + ranks), seed, "vectors")
    ranks_of, slots = owners.find(np.arange(n, dtype=np.int32))
    places = set(zip(ranks_of.tolist(), slots.tolist(), strict=True))
    assert places == {(r, s) for r in owners.ranks for s in range(owners.rows_of(r))}
    assert len(places) == n
    sizes = [owners.rows_of(rank) for rank in owners.ranks]
    assert max(sizes) - min(sizes) <= 1
    assert owners.rows_of(first + ranks) == 0


@given(n=st.integers(1, 3000), ranks=st.integers(1, 5))
def test_held_rows_are_listed_in_the_order_of_their_numbers(n, ranks):
    owners = RowOwners(n, range(ranks), 7, "context")
    for rank in range(ranks):
        held = owners.held_by(rank)
        found, slots = owners.find(held)
        np.testing.assert_array_equal(found, np.full(len(held), rank))
        np.testing.assert_array_equal(slots, np.arange(len(held)))


@given(n=st.integers(2, 3000), ranks=st.integers(2, 9))
def test_the_order_of_rows_is_the_same_for_any_owners(n, ranks):
    one = RowOwners(n, range(1), 3, "vectors").find(np.arange(n))[1]
    owners = RowOwners(n, range(ranks), 3, "vectors")
    found, slots = owners.find(np.arange(n))
    np.testing.assert_array_equal(owners.starts[found] + slots, one)


@pytest.mark.parametrize("step", [1, 2, 3, 64, 1000, 4096])
def test_rows_at_regular_distances_are_spread_as_at_random(step):
    n, ranks, rows = 10_000_019, 8, 2000
    ids = np.arange(rows) * step
    counts = np.bincount(RowOwners(n, range(ranks), 0, "vectors").find(ids)[0], minlength=ranks)
    # Chi-square with 7 degrees of freedom exceeds 30 once in ten thousand times.
    assert ((counts - rows / ranks) ** 2 / (rows / ranks)).sum() < 30


def test_a_node_has_different_owners_in_different_tables():
    ids, ranks = np.arange(4000), range(4)
    found = [RowOwners(4000, ranks, 0, name).find(ids)[0] for name in ("vectors", "context")]
    assert np.mean(found[0] == found[1]) == pytest.approx(1 / 4, abs=0.05)


def test_rows_of_more_than_32_bits_are_found():
    n = 2**40 + 3
    ids = np.array([0, 1, 2**31, 2**32, n - 1])
    owners = RowOwners(n, range(3), 0, "vectors")
    found, slots = owners.find(ids)
    assert (slots >= 0).all()
    assert (slots < np.diff(owners.starts)[found]).all()
    assert len(set(zip(found.tolist(), slots.tolist(), strict=True))) == len(ids)
