import json
from contextlib import suppress

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.actors.message import MalformedMessageError
from ogg_hpc.actors.schema import Leaf, Schema
from ogg_hpc.errors import SettingsError


class Spaces(gymnasium.Env):
    def __init__(self, observation_space, action_space):
        self.observation_space, self.action_space = observation_space, action_space


BOX = spaces.Box(-1.0, 1.0, (3,), np.float32)
NESTED = spaces.Dict(
    {
        "image": spaces.Box(0, 255, (4, 4), np.uint8),
        "small": spaces.MultiDiscrete([3, 4], dtype=np.uint8, start=[2, 0]),
        "inner": spaces.Dict(
            {"mask": spaces.MultiBinary(5), "choice": spaces.Discrete(3, start=2)}
        ),
        "pair": spaces.MultiDiscrete([3, 4], start=[1, -1]),
        "open": spaces.Box(np.array([0.0, -np.inf]), np.array([np.inf, 2.5]), dtype=np.float64),
        "scalar": spaces.Box(-1.0, 1.0, (), np.float32),
    }
)
SPACES = [BOX, spaces.Discrete(4, start=-1), spaces.MultiDiscrete([[2, 3]]), NESTED]


def test_the_leaves_of_a_nested_space():
    leaves = {leaf.name: leaf for leaf in Schema.of(Spaces(NESTED, BOX)).observations}
    assert leaves == {
        "image": Leaf("image", "uint8", (4, 4), "box", (0.0,), (255.0,)),
        "inner.choice": Leaf("inner.choice", "int64", (), "discrete", n=(3,), start=(2,)),
        "inner.mask": Leaf("inner.mask", "int8", (5,), "multibinary"),
        "open": Leaf("open", "float64", (2,), "box", (0.0, None), (None, 2.5)),
        "pair": Leaf("pair", "int64", (2,), "multidiscrete", n=(3, 4), start=(1, -1)),
        "scalar": Leaf("scalar", "float32", (), "box", (-1.0,), (1.0,)),
        "small": Leaf("small", "uint8", (2,), "multidiscrete", n=(3, 4), start=(2, 0)),
    }
    low, high = leaves["open"].bounds()
    np.testing.assert_array_equal([low, high], [[0, -np.inf], [np.inf, 2.5]])
    assert leaves["scalar"].bounds()[0].shape == ()
    assert leaves["image"].size == 16


@pytest.mark.parametrize("space", SPACES)
@given(seed=st.integers(0, 2**31))
def test_values_of_a_space_go_to_arrays_and_back(space, seed):
    space.seed(seed)
    value = space.sample()
    schema = Schema.of(Spaces(space, space))
    arrays = schema.flatten_observation(value)
    for leaf in schema.observations:
        leaf.check(arrays[leaf.name][np.newaxis], 1)
    back = schema.unflatten_action(arrays)
    assert space.contains(back)
    for mine, theirs in zip(leaves_of(back), leaves_of(value), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def leaves_of(value):
    if not isinstance(value, dict):
        return [value]
    return [leaf for key in sorted(value) for leaf in leaves_of(value[key])]


def test_an_environment_may_write_to_its_action():
    schema = Schema.of(Spaces(BOX, BOX))
    arrays = {"value": np.zeros(3, np.float32)}
    schema.unflatten_action(arrays)[:] = 1
    assert not arrays["value"].any()


@pytest.mark.parametrize("space", SPACES)
def test_a_schema_comes_back_from_json(space):
    schema = Schema.of(Spaces(space, BOX))
    text = json.dumps(schema.to_json(), allow_nan=False)
    back = Schema.from_json(json.loads(text))
    assert back == schema
    assert back.digest() == schema.digest()


def test_digests_tell_schemas_apart():
    schemas = [Schema.of(Spaces(a, b)) for a in SPACES for b in SPACES]
    assert len({schema.digest() for schema in schemas}) == len(schemas)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)


@given(json_values)
def test_another_document_is_refused(document):
    with pytest.raises(MalformedMessageError):
        Schema.from_json(document)


@given(
    entry=st.sampled_from(list(Leaf.__dataclass_fields__)),
    value=json_values,
    which=st.integers(0, 5),
)
def test_a_changed_leaf_is_a_leaf_or_is_refused(entry, value, which):
    document = Schema.of(Spaces(NESTED, BOX)).to_json()
    document["observations"][which][entry] = value
    try:
        schema = Schema.from_json(document)
    except MalformedMessageError:
        return
    assert Schema.from_json(schema.to_json()) == schema
    for leaf in schema.observations:
        leaf.bounds()
        with suppress(MalformedMessageError):  # zeros may be out of the changed bounds
            leaf.check(np.zeros((2, *leaf.shape), leaf.dtype), 2)


@pytest.mark.parametrize(
    "observation",
    [np.zeros(2), np.zeros((3, 1)), np.array([0, np.nan, 0]), "text", None, {"a": 1}],
)
def test_an_observation_outside_of_its_space_is_named(observation):
    with pytest.raises(SettingsError, match="outside of its observation space: value"):
        Schema.of(Spaces(BOX, BOX)).flatten_observation(observation)


def test_a_value_that_a_space_does_not_have_is_named():
    schema = Schema.of(Spaces(spaces.Dict({"a": spaces.Discrete(3)}), BOX))
    assert schema.flatten_observation({"a": 2})["a"] == 2
    for value in (3, -1, 1.5):
        with pytest.raises(SettingsError, match="observation space: a"):
            schema.flatten_observation({"a": value})


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (spaces.Text(5), "value is a Text space"),
        (spaces.Dict({"a": spaces.Tuple([BOX])}), "a is a Tuple space"),
        (spaces.Dict({"a.b": BOX}), "no dots"),
        (spaces.Dict({"value": BOX}), "use the space itself"),
        (spaces.Dict({}), "without spaces"),
    ],
)
def test_a_space_without_fixed_arrays_is_refused(space, message):
    with pytest.raises(SettingsError, match=message):
        Schema.of(Spaces(space, BOX))


@pytest.mark.parametrize(
    ("leaf", "value", "message"),
    [
        (Leaf("a", "float32"), np.nan, "a has a value that is not finite"),
        (Leaf("a", "float64", low=(0.0,), high=(1.0,)), np.inf, "a has a value that is not finite"),
        (Leaf("a", "int8", low=(0.0,), high=(3.0,)), 4, "a has a value that is out of its bounds"),
        (Leaf("a", "int8", low=(0.0,), high=(3.0,)), -1, "a has a value that is out of its bounds"),
    ],
)
def test_numbers_that_would_break_a_learner_are_refused(leaf, value, message):
    array = np.zeros(3, leaf.dtype)
    leaf.check(array, 3)
    array[1] = value
    with pytest.raises(MalformedMessageError, match=message):
        leaf.check(array, 3)


def test_real_numbers_may_leave_the_bounds_that_an_environment_names():
    leaf = Leaf("a", "float32", low=(0.0,), high=(1.0,))
    leaf.check(np.array([1.5], np.float32), 1)
