import json

import numpy as np
import pytest

from ogg_hpc.actors.episode import episode_told
from ogg_hpc.errors import SettingsError


def test_what_numpy_says_of_an_episode_is_told_in_plain_values():
    said = {
        "real": np.float32(0.5),
        "whole": np.int64(3),
        "true": np.bool_(True),
        "some": (np.arange(2), [np.float64(1.5)]),
        "text": "CCO",
    }
    told = episode_told(2.0, 7, {"episode": said, "other": object()})
    assert told == {
        "real": 0.5, "whole": 3, "true": True, "some": [[0, 1], [1.5]], "text": "CCO",
        "return": 2.0, "length": 7,
    }  # fmt: skip
    assert {type(value) for value in told.values()} == {float, int, bool, list, str}
    assert json.loads(json.dumps(told)) == told


def test_an_episode_of_which_nothing_is_said_has_a_return_and_a_length():
    assert episode_told(1.0, 2, {}) == {"return": 1.0, "length": 2}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"graph": object()}, "object is nothing that JSON knows"),
        ({(0, 1): 2}, "keys must be"),
        ([1, 2], r"is no map, but \[1, 2\]"),
        (None, "is no map, but None"),
    ],
)
def test_what_cannot_be_told_of_an_episode_is_named(said, message):
    with pytest.raises(SettingsError, match=rf'info\["episode"\] of the environment.*{message}'):
        episode_told(0.0, 1, {"episode": said})
