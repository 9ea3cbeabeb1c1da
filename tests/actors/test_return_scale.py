"""The deviation of discounted returns."""

import numpy as np
import pytest

from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.actors.return_scale import ReturnScale
from ogg_hpc.runtime.communicator import Communicator

ALONE = Communicator()


def fragment(rewards, ended, slot=0, incarnation=0):
    arrays = {
        "reward": np.array(rewards, np.float32),
        "terminated": np.array(ended, bool),
        "truncated": np.zeros(len(ended), bool),
    }
    return Fragment("r", 0, 0, slot, incarnation, 0, len(rewards), True, [], arrays)


@pytest.mark.parametrize(
    ("fragments", "returns"),
    [
        ([fragment([1, 2, 4], [0, 0, 0])], [1, 2.5, 5.25]),
        ([fragment([1, 2, 4], [0, 1, 0])], [1, 2.5, 4]),
        ([fragment([1, 2], [0, 0]), fragment([4], [0])], [1, 2.5, 5.25]),
        ([fragment([1, 2], [0, 1]), fragment([4], [0])], [1, 2.5, 4]),
        ([fragment([1], [0]), fragment([4], [0], slot=1), fragment([2], [0])], [1, 4, 2.5]),
        ([fragment([1], [0]), fragment([4], [0], incarnation=1)], [1, 4]),
    ],
)
@pytest.mark.parametrize("together", [True, False])
def test_returns_are_discounted_sums_of_the_rewards_of_an_episode(fragments, returns, together):
    scale = ReturnScale(0.5)
    for some in [fragments] if together else [[each] for each in fragments]:
        scale.merge(some, ALONE)
    assert scale.moments.count == len(returns)
    np.testing.assert_allclose(scale.moments.mean, np.mean(returns))
    np.testing.assert_allclose(scale.moments.deviation, np.std(returns), rtol=1e-6)
