import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.embedding.sampling.pairs import Pairs
from ogg_hpc.embedding.window import make_window, share_of


@given(
    workers=st.integers(1, 7),
    items=st.integers(1, 60),
    batch_items=st.integers(1, 20),
    first=st.integers(0, 3),
    batches=st.integers(1, 5),
)
def test_workers_share_the_items_of_each_batch(workers, items, batch_items, first, batches):
    shares = [
        share_of(worker, workers, first, batches, batch_items, items) for worker in range(workers)
    ]
    for batch in range(batches):
        parts = [np.split(share.items, np.cumsum(share.counts)[:-1])[batch] for share in shares]
        start = (first + batch) * batch_items
        assert np.concatenate(parts).tolist() == [
            item for item in range(start, start + batch_items) if item < items
        ]
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_server_has_no_items():
    share = share_of(None, 3, 0, 2, 5, 10)
    assert len(share.items) == 0
    assert share.counts.tolist() == [0, 0]


def test_pairs_are_cut_into_batches_and_keep_their_keys():
    share = share_of(0, 1, 1, 2, 3, 8)  # items 3, 4, 5 and 6, 7
    counts = np.array([2, 0, 1, 0, 3])
    pairs = Pairs(np.arange(6), np.arange(6) + 10, counts)
    window = make_window(4, share, pairs, np.array([0.2, 0.1]))
    assert (window.epoch, window.first, window.batches) == (4, 1, 2)
    assert window.offsets.tolist() == [0, 3, 6]
    assert window.items.tolist() == [3, 3, 5, 7, 7, 7]
    assert window.places.tolist() == [0, 1, 0, 0, 1, 2]
