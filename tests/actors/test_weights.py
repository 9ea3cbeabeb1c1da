from dataclasses import replace

import numpy as np
import pytest

from ogg_hpc.actors.message import MalformedMessageError, decode, encode
from ogg_hpc.actors.weights import Weights


@pytest.fixture
def weights():
    arrays = {"layer.weight": np.ones((2, 3), np.float32), "normaliser/mean": np.zeros(3)}
    return Weights("run", 7, arrays)


def test_weights_come_back_as_they_were_sent(weights):
    back = Weights.of(decode(encode(weights.message())))
    assert (back.run, back.version) == ("run", 7)
    for name, array in weights.arrays.items():
        np.testing.assert_array_equal(back.arrays[name], array, strict=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays["layer.weight"].__setitem__((0, 0), 2),
        lambda arrays: arrays.__setitem__("layer.weight", arrays["layer.weight"].reshape(3, 2)),
        lambda arrays: arrays.__setitem__("normaliser/mean", np.zeros(3, np.int64)),
        lambda arrays: arrays.__setitem__("other", arrays.pop("layer.weight")),
        lambda arrays: arrays.pop("normaliser/mean"),
    ],
)
def test_other_weights_than_were_sent_are_refused(weights, change):
    message = weights.message()
    arrays = {name: array.copy() for name, array in message.arrays.items()}
    change(arrays)
    with pytest.raises(MalformedMessageError, match="checksum"):
        Weights.of(replace(message, arrays=arrays))
