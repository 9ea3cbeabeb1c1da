import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.runtime.random import hash64, integers, permutation, stream, uniform

MASK = 2**64 - 1
SEEDS = st.integers(-(2**70), 2**70)
ITEMS = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3)


def mix(state: int) -> int:
    """The finaliser of SplitMix64 in Python's own integers."""
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & MASK
    return state ^ (state >> 31)


def expected_hash(seed: int, *items: int) -> int:
    state = mix((seed + 0x9E3779B97F4A7C15) & MASK)
    for item in items:
        state = mix(((state ^ (item & MASK)) * 3 + 0x9E3779B97F4A7C15) & MASK)
    return state


def test_hash_of_a_seed_is_the_first_number_of_splitmix64():
    # Published test vectors of SplitMix64 for the seeds 0 and 1234567.
    assert int(hash64(0)) == 0xE220A8397B1DCDAF
    assert int(hash64(1234567)) == 6457827717110365317


@given(seed=SEEDS, items=ITEMS)
def test_hash_is_the_formula_in_whole_numbers(seed, items):
    assert int(hash64(seed, *items)) == expected_hash(seed, *items)


@given(seed=SEEDS, items=ITEMS)
def test_uniform_is_the_top_53_bits(seed, items):
    assert float(uniform(seed, *items)) == (expected_hash(seed, *items) >> 11) / 2**53


def test_numbers_do_not_depend_on_shape_or_order():
    items = np.arange(60)
    flat = hash64(3, 7, items)
    np.testing.assert_array_equal(hash64(3, 7, items.reshape(3, 4, 5)), flat.reshape(3, 4, 5))
    np.testing.assert_array_equal(hash64(3, 7, items[::-1]), flat[::-1])
    np.testing.assert_array_equal(hash64(3, 7, items[20:30]), flat[20:30])
    np.testing.assert_array_equal(hash64(3, 7, items.astype(np.int32)), flat)
    assert [int(hash64(3, 7, i)) for i in range(60)] == flat.tolist()


def test_items_broadcast():
    table = hash64(1, np.arange(3)[:, None], np.arange(4))
    assert table.shape == (3, 4)
    assert table.dtype == np.uint64
    assert int(table[2, 1]) == expected_hash(1, 2, 1)
    assert hash64(1, np.empty(0, np.int64)).shape == (0,)


def test_coordinates_do_not_commute_and_seeds_are_not_items():
    assert hash64(1, 2, 3) != hash64(1, 3, 2)
    assert hash64(1, 2) != hash64(2, 1)
    assert hash64(1, 0) != hash64(1)
    assert len(np.unique(hash64(5, np.arange(100)[:, None], np.arange(100)))) == 10_000


@pytest.mark.parametrize("bits", [slice(0, 8), slice(24, 32), slice(56, 64)])
@pytest.mark.parametrize(
    ("seed", "items"),
    [
        (0, (np.arange(2**16),)),
        (1, (np.arange(2**8)[:, None], np.arange(2**8))),
        (2, (np.arange(2**16) * 2**20, 5)),
    ],
)
def test_bits_are_uniform_by_chi_square(seed, items, bits):
    values = hash64(seed, *items).ravel() >> np.uint64(bits.start) & np.uint64(255)
    observed = np.bincount(values.astype(np.int64), minlength=256)
    expected = values.size / 256
    statistic = ((observed - expected) ** 2 / expected).sum()
    # 255 degrees of freedom: mean 255, standard deviation 22.6.
    assert abs(statistic - 255) < 4 * 22.6


@pytest.mark.parametrize("bound", [1, 2, 7, 1000])
def test_integers_are_uniform_below_the_bound(bound):
    values = integers(bound, 4, np.arange(70_000))
    observed = np.bincount(values, minlength=bound)
    assert len(observed) == bound
    expected = values.size / bound
    statistic = ((observed - expected) ** 2 / expected).sum()
    assert statistic <= (bound - 1) + 4 * np.sqrt(2 * bound)
    assert values.dtype == np.int64


def test_neighbouring_seeds_and_items_do_not_correlate():
    a = uniform(1, np.arange(50_000))
    for b in (uniform(2, np.arange(50_000)), uniform(1, np.arange(1, 50_001))):
        assert abs(np.corrcoef(a, b)[0, 1]) < 4 / np.sqrt(50_000)


def test_each_bound_may_differ():
    bounds = np.array([1, 10, 100])
    values = integers(bounds, 0, np.arange(1000)[:, None])
    assert values.shape == (1000, 3)
    assert (values >= 0).all()
    assert (values < bounds).all()
    assert values[:, 2].max() > 90


@given(length=st.integers(0, 50), seed=SEEDS, item=st.integers(0, 100))
def test_permutation_holds_each_number_once(length, seed, item):
    order = permutation(length, seed, item)
    assert sorted(order.tolist()) == list(range(length))
    np.testing.assert_array_equal(order, permutation(length, seed, item))


def test_permutations_are_uniform():
    # Each of the 6 orders of three; 1,000 expected each, standard deviation 29.
    orders = [tuple(permutation(3, 0, i).tolist()) for i in range(6000)]
    counts = [orders.count(order) for order in sorted(set(orders))]
    assert len(counts) == 6
    assert max(abs(count - 1000) for count in counts) < 4.5 * 29


def test_streams_have_numbers_of_their_own():
    names = ["explore", "replay", "episode", "graph", "nodes", ""]
    assert len({stream(name) for name in names}) == len(names)
    assert all(0 <= stream(name) < 2**63 for name in names)
    assert stream("a") == (0xAF63DC4C8601EC8C >> 1)  # FNV-1a
