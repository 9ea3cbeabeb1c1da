"""What an environment shows and takes, as arrays of fixed dtypes and shapes.

Spaces of gymnasium become leaves: a ``Dict`` of spaces one leaf for each of its spaces, ``a.b`` for
``b`` in ``a``; any other space one leaf named ``value``. Values of ``Discrete`` and
``MultiDiscrete`` spaces are counted from 0 in arrays, wherever the space begins.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.message import DTYPES, MalformedMessageError
from ogg_hpc.errors import SettingsError

if TYPE_CHECKING:
    import gymnasium

Kind = Literal["box", "discrete", "multidiscrete", "multibinary"]
PLAIN = "value"  # name of the leaf of a space that is no Dict
_MOST_COMPONENTS = 1 << 28


@dataclass(frozen=True)
class Leaf:
    """An array of a fixed dtype and shape.

    Parameters
    ----------
    name
        Its name, ``a.b`` inside a ``Dict``.
    dtype
        In NumPy's words.
    shape
        Of one value.
    kind
        Which space it comes from.
    low, high
        Bounds of a ``box``, in C order, or one pair where all its components have the same; None
        where there is no bound.
    n
        How many values there are: one number for ``discrete``, one for each component in C order
        for ``multidiscrete``.
    start
        First value in the space, as `n`.
    """

    name: str
    dtype: str
    shape: tuple[int, ...] = ()
    kind: Kind = "box"
    low: tuple[float | None, ...] = (None,)
    high: tuple[float | None, ...] = (None,)
    n: tuple[int, ...] = ()
    start: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Number of components."""
        return math.prod(self.shape)

    def bounds(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the bounds of a ``box``, of its shape; infinite where there are none."""
        low = [-math.inf if bound is None else bound for bound in self.low]
        high = [math.inf if bound is None else bound for bound in self.high]
        pair = []
        for bounds in (low, high):
            array = np.array(bounds)
            array = array.reshape(self.shape) if array.size == self.size else array[0]
            pair.append(np.broadcast_to(array, self.shape).copy())
        return pair[0], pair[1]

    def check(self, array: NDArray[Any], rows: int) -> None:
        """Find out whether an array holds so many rows of this leaf.

        Raises
        ------
        MalformedMessageError
            Its dtype or shape is another, a value is none of the `n` there are, a real number is
            not finite, or a whole number is out of its bounds. Real numbers may be: environments
            often name bounds that they do not keep.
        """
        if array.dtype != self.dtype or array.shape != (rows, *self.shape):
            raise MalformedMessageError(
                f"{self.name} has to be {self.dtype}{[rows, *self.shape]}, not"
                f" {array.dtype}{list(array.shape)}"
            )
        if not array.size:
            return
        if self.kind == "box":
            self._check_box(array)
            return
        n = np.array(self.n).reshape(self.shape) if self.n else 2
        if (array < 0).any() or (array >= n).any():
            raise MalformedMessageError(f"{self.name} has a value that is none of its {self.kind}")

    def _check_box(self, array: NDArray[Any]) -> None:
        if np.issubdtype(array.dtype, np.floating):
            if not np.isfinite(array).all():
                raise MalformedMessageError(f"{self.name} has a value that is not finite")
        elif np.issubdtype(array.dtype, np.integer):
            low, high = self.bounds()
            if (array < low).any() or (array > high).any():
                raise MalformedMessageError(f"{self.name} has a value that is out of its bounds")

    def renamed(self, name: str) -> Leaf:
        """Return the leaf under another name."""
        return replace(self, name=name)


@dataclass(frozen=True)
class Schema:
    """What an environment shows and takes.

    Parameters
    ----------
    observations, actions
        The leaves, sorted by name.
    """

    observations: tuple[Leaf, ...]
    actions: tuple[Leaf, ...]

    @classmethod
    def of(cls, env: gymnasium.Env[Any, Any]) -> Schema:
        """Return the schema of an environment.

        Raises
        ------
        SettingsError
            It has a space that has no fixed shape, or a name that is taken.
        """
        return cls(
            _leaves(env.observation_space, "observation_space"),
            _leaves(env.action_space, "action_space"),
        )

    @classmethod
    def from_json(cls, document: Any) -> Schema:
        """Return the schema that `to_json` has described.

        Raises
        ------
        MalformedMessageError
            The document is anything else.
        """
        if not isinstance(document, dict) or set(document) != {"observations", "actions"}:
            raise MalformedMessageError("schema: observations and actions are expected")
        sides = [document[side] for side in ("observations", "actions")]
        if not all(isinstance(side, list) for side in sides):
            raise MalformedMessageError("schema: observations and actions have to be lists")
        observations, actions = (tuple(_leaf_from_json(each) for each in side) for side in sides)
        for leaves in (observations, actions):
            names = [leaf.name for leaf in leaves]
            if names != sorted(set(names)) or not names:
                raise MalformedMessageError("schema: names have to be sorted, and each there once")
        return cls(observations, actions)

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can say of it."""
        document: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return document

    def digest(self) -> str:
        """Return the SHA-256 of its JSON, in hexadecimal."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def flatten_observation(self, observation: Any) -> dict[str, NDArray[Any]]:
        """Return an observation as one array a leaf.

        Raises
        ------
        SettingsError
            The environment has returned what its own observation space does not hold.
        """
        return {leaf.name: _flatten(leaf, observation) for leaf in self.observations}

    def clipped(self, actions: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return (n, ...) actions by leaf with real numbers inside the bounds of their spaces."""
        inside = {name: np.clip(actions[name], *pair) for name, pair in self._real_bounds.items()}
        return {**actions, **inside}

    @cached_property
    def _real_bounds(self) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
        return {leaf.name: leaf.bounds() for leaf in self.actions if leaf.kind == "box"}

    def unflatten_action(self, action: Mapping[str, NDArray[Any]]) -> Any:
        """Return one value a leaf as the environment's ``step`` takes it."""
        if [leaf.name for leaf in self.actions] == [PLAIN]:
            return _unflatten(self.actions[0], action[PLAIN])
        result: dict[str, Any] = {}
        for leaf in self.actions:
            *folders, name = leaf.name.split(".")
            table = result
            for folder in folders:
                table = table.setdefault(folder, {})
            table[name] = _unflatten(leaf, action[leaf.name])
        return result


def _leaves(space: gymnasium.Space[Any], where: str) -> tuple[Leaf, ...]:
    from gymnasium import spaces

    if not isinstance(space, spaces.Dict):
        return (_leaf(space, PLAIN, where),)
    leaves = sorted(_dict_leaves(space, "", where), key=lambda leaf: leaf.name)
    if [leaf.name for leaf in leaves] == [PLAIN]:
        raise SettingsError(f"{where}: a Dict with {PLAIN!r} alone; use the space itself")
    if not leaves:
        raise SettingsError(f"{where}: a Dict without spaces")
    return tuple(leaves)


def _dict_leaves(space: Any, prefix: str, where: str) -> Iterator[Leaf]:
    from gymnasium import spaces

    for key, inner in space.spaces.items():
        if not isinstance(key, str) or not key or "." in key or "/" in key:
            raise SettingsError(f"{where}: {key!r} is no name for a space: no dots, no slashes")
        if isinstance(inner, spaces.Dict):
            yield from _dict_leaves(inner, f"{prefix}{key}.", where)
        else:
            yield _leaf(inner, prefix + key, where)


def _leaf(space: gymnasium.Space[Any], name: str, where: str) -> Leaf:
    from gymnasium import spaces

    dtype = str(np.dtype(space.dtype))
    if isinstance(space, spaces.Box):
        low, high = (_bounds(bounds) for bounds in (space.low, space.high))
        return Leaf(name, dtype, space.shape, "box", low, high)
    if isinstance(space, spaces.Discrete):
        return Leaf(name, dtype, (), "discrete", n=(int(space.n),), start=(int(space.start),))
    if isinstance(space, spaces.MultiDiscrete):
        n, start = (tuple(each.ravel().tolist()) for each in (space.nvec, space.start))
        return Leaf(name, dtype, space.shape, "multidiscrete", n=n, start=start)
    if isinstance(space, spaces.MultiBinary):
        return Leaf(name, dtype, space.shape, "multibinary")
    raise SettingsError(
        f"{where}: {name} is a {type(space).__name__} space; use Box, Discrete, MultiDiscrete,"
        " MultiBinary, or a Dict of these"
    )


def _bounds(bounds: NDArray[Any]) -> tuple[float | None, ...]:
    values = bounds.ravel().tolist()
    if len(set(values)) == 1:
        values = values[:1]
    return tuple(float(value) if math.isfinite(value) else None for value in values)


def _flatten(leaf: Leaf, observation: Any) -> NDArray[Any]:
    value = observation
    try:
        if isinstance(observation, Mapping):
            for key in leaf.name.split("."):
                value = value[key]
        array = np.asarray(value).astype(leaf.dtype, casting="same_kind", copy=False)
        if leaf.start:
            array = array - np.array(leaf.start, leaf.dtype).reshape(leaf.shape)
        if leaf.kind == "box" and np.isnan(array).any():
            raise ValueError("not a number")
        leaf.check(array[np.newaxis], 1)
    except (KeyError, TypeError, ValueError, MalformedMessageError) as error:
        raise SettingsError(
            f"the environment has returned an observation outside of its observation space:"
            f" {leaf.name}: {error}"
        ) from None
    return array


def _unflatten(leaf: Leaf, value: NDArray[Any]) -> Any:
    if leaf.start:
        value = value + np.array(leaf.start).reshape(leaf.shape)
    # A copy, because an environment may write to it; a Discrete space takes a NumPy scalar.
    own = np.array(value, dtype=leaf.dtype)
    return own[()] if leaf.kind == "discrete" else own


def _leaf_from_json(document: Any) -> Leaf:
    try:
        if set(document) != {entry.name for entry in fields(Leaf)}:
            raise ValueError("a leaf with other entries than expected")
        make_leaf: Any = Leaf
        leaf: Leaf = make_leaf(
            **{key: tuple(v) if isinstance(v, list) else v for key, v in document.items()}
        )
        _check_leaf(leaf)
    except (TypeError, ValueError) as error:
        raise MalformedMessageError(f"schema: {error}") from None
    return leaf


def _check_leaf(leaf: Leaf) -> None:
    if not isinstance(leaf.name, str) or not leaf.name or leaf.kind not in get_args(Kind):
        raise ValueError(f"a leaf {leaf.name!r} of kind {leaf.kind!r}")
    if leaf.dtype not in DTYPES:
        raise ValueError(f"{leaf.name}: the dtype {leaf.dtype!r}")
    for numbers in (leaf.shape, leaf.n, leaf.start):
        if not isinstance(numbers, tuple) or not all(type(number) is int for number in numbers):
            raise ValueError(f"{leaf.name}: {numbers!r} are no whole numbers")
    if any(side < 0 for side in leaf.shape) or leaf.size > _MOST_COMPONENTS:
        raise ValueError(f"{leaf.name}: the shape {list(leaf.shape)}")
    counts = {"discrete": 1, "multidiscrete": leaf.size}.get(leaf.kind, 0)
    if len(leaf.n) != counts or len(leaf.start) != counts or any(n < 1 for n in leaf.n):
        raise ValueError(f"{leaf.name}: {len(leaf.n)} counts of values")
    for bounds in (leaf.low, leaf.high):
        if not isinstance(bounds, tuple) or len(bounds) not in (1, leaf.size):
            raise ValueError(f"{leaf.name}: bounds of another shape")
        if not all(bound is None or type(bound) in (int, float) for bound in bounds):
            raise ValueError(f"{leaf.name}: bounds that are no numbers")
