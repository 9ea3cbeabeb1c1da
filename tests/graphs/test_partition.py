import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.graphs.partition import RowPartition

SIZES = st.integers(1, 12)
DEGREES = st.lists(st.integers(0, 50), max_size=60).map(lambda d: np.array(d, np.int64))


def check(partition: RowPartition, n: int, size: int) -> None:
    """Check that each row has one owner, and the owners' ranges lie in rank order."""
    assert partition.offsets.dtype == np.int64
    assert partition.size == size
    assert partition.offsets[0] == 0
    assert partition.offsets[-1] == n
    assert (partition.counts >= 0).all()
    assert partition.counts.sum() == n
    owned = [row for rank in range(size) for row in range(*partition.range(rank))]
    assert owned == list(range(n))


@given(n=st.integers(0, 200), size=SIZES)
def test_equal_rows_differ_by_one_at_the_most(n, size):
    partition = RowPartition.by_rows(n, size)
    check(partition, n, size)
    assert partition.counts.max() - partition.counts.min() <= 1
    assert sorted(partition.counts, reverse=True) == partition.counts.tolist()


def test_more_ranks_than_rows_leaves_ranks_without_rows():
    assert RowPartition.by_rows(2, 4).counts.tolist() == [1, 1, 0, 0]
    assert RowPartition.by_rows(0, 3).counts.tolist() == [0, 0, 0]
    by_edges = RowPartition.by_edges(np.array([1, 1]), 4)
    check(by_edges, 2, 4)
    assert by_edges.counts.max() == 1


@given(degrees=DEGREES, size=SIZES)
def test_no_rank_exceeds_its_share_of_entries_by_more_than_one_row(degrees, size):
    partition = RowPartition.by_edges(degrees, size)
    check(partition, len(degrees), size)
    work = degrees + 1
    share = work.sum() / size
    for rank in range(size):
        mine = work[slice(*partition.range(rank))]
        assert mine.sum() <= share + work.max(initial=0)


def test_skewed_degrees_are_balanced_by_entries_and_not_by_rows():
    degrees = np.array([30] + [1] * 30)
    assert RowPartition.by_edges(degrees, 2).offsets.tolist()[1] < 12
    assert RowPartition.by_rows(31, 2).offsets.tolist()[1] == 16
