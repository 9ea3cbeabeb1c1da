import pytest

from ogg_hpc.embedding.schedule import shared_negatives
from ogg_hpc.embedding.settings import EmbedSettings


def shared(**settings):
    return shared_negatives(EmbedSettings(negative=5, batch_pairs=1000, **settings))


def test_shared_negatives_reach_the_row_limit_at_the_start_at_most():
    for rate, limit in [(0.025, 1.0), (0.1, 4.0), (0.3, 2.0)]:
        S = shared(learning_rate=rate, row_limit=limit)
        assert 0.99 * limit <= rate * 1000 * 5 / S <= limit


@pytest.mark.parametrize("rate", [1.0, 1e3, 1e38, 1e300])
def test_a_batch_shares_no_more_negatives_than_its_pairs_would_have_of_their_own(rate):
    assert shared(learning_rate=rate, row_limit=1.0) == 5000


def test_a_batch_shares_as_many_negatives_as_a_pair_has_at_least():
    assert shared(learning_rate=1e-9, learning_rate_end=0.0) == 5


def test_the_number_of_shared_negatives_may_be_given():
    assert shared(shared_negatives=7) == 7
    assert shared(shared_negatives=7, negatives="pair") == 0
