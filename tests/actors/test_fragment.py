import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.actors.fragment import Fragment, Layout, prefixed
from ogg_hpc.actors.message import MalformedMessageError, Message, decode, encode
from ogg_hpc.actors.schema import Leaf

ACTION = Leaf("value", "int64", (), "discrete", n=(3,), start=(0,))
LAYOUT = Layout(
    steps=(Leaf("reward", "float32"), *prefixed("action", [ACTION])),
    episodes=(Leaf("graph", "int32"),),
)


def make_fragment(**changes):
    values = {
        "run": "r", "version": 3, "round": 4, "slot": 5, "incarnation": 1, "sequence": 2,
        "steps": 2, "complete": True, "episodes": [{"return": 1.5, "length": 7, "smiles": "C"}],
        "arrays": {
            "reward": np.array([1, 0.5], np.float32),
            "action/value": np.array([0, 2]),
            "graph": np.array([9], np.int32),
        },
    }  # fmt: skip
    return Fragment(**{**values, **changes})


def test_a_fragment_comes_back_as_it_was_sent():
    sent = make_fragment()
    back = Fragment.of(decode(encode(sent.message())), LAYOUT)
    for name in Fragment.__dataclass_fields__:
        if name != "arrays":
            assert getattr(back, name) == getattr(sent, name)
    for name, array in sent.arrays.items():
        np.testing.assert_array_equal(back.arrays[name], array, strict=True)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("reward", np.zeros(2)),
        ("reward", np.zeros(3, np.float32)),
        ("reward", np.zeros((2, 1), np.float32)),
        ("action/value", np.array([0, 3])),
        ("action/value", np.array([-1, 0])),
        ("graph", np.zeros(2, np.int32)),
        ("other", np.zeros(2)),
    ],
)
def test_an_array_that_does_not_fit_is_refused_by_its_name(name, array):
    fragment = make_fragment()
    with pytest.raises(MalformedMessageError, match=name):
        Fragment.of(make_fragment(arrays={**fragment.arrays, name: array}).message(), LAYOUT)


@pytest.mark.parametrize("ended", [[False, False], [True, True]])
def test_as_many_episodes_are_told_of_as_ended(ended):
    layout = Layout(steps=(Leaf("terminated", "bool"), Leaf("truncated", "bool")))
    arrays = {"terminated": np.array(ended), "truncated": np.array([False, False])}
    with pytest.raises(MalformedMessageError, match="episodes"):
        Fragment.of(make_fragment(arrays=arrays).message(), layout)
    arrays["terminated"] = np.array([False, True])
    Fragment.of(make_fragment(arrays=arrays).message(), layout)


def test_a_missing_array_is_refused():
    arrays = dict(make_fragment().arrays)
    del arrays["graph"]
    with pytest.raises(MalformedMessageError, match="graph"):
        Fragment.of(make_fragment(arrays=arrays).message(), LAYOUT)


@given(
    field=st.sampled_from([name for name in Fragment.__dataclass_fields__ if name != "arrays"]),
    value=st.none() | st.text() | st.integers(max_value=-1) | st.floats() | st.just([{}]),
)
def test_a_field_of_another_type_is_refused(field, value):
    if field == "run" and isinstance(value, str):
        return
    message = make_fragment().message()
    with pytest.raises(MalformedMessageError):
        Fragment.of(Message("fragment", {**message.fields, field: value}, message.arrays), LAYOUT)
