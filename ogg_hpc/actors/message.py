"""Messages between learners, hosts and environment processes: a kind, JSON fields and arrays.

On the wire a message is a safetensors file whose metadata hold the kind and the fields as JSON.
Nothing is ever unpickled.

What each kind says; `transport` tells when which is sent. From a host to its learner:

============ =====================================================================================
``hello``    ``protocol``, ``package`` (its version), ``host``, ``pid``, ``capacity`` (slots),
             ``schema`` (the digest of the one that it has, or an empty text)
``ready``    ``slots`` {slot: incarnation}, ``schema`` (its JSON)
``fragment`` see `fragment`
``progress`` ``slots`` {slot: steps done of its grant}
``lost``     ``slots`` {slot: new incarnation}, ``reason``
``failed``   ``reason``
``goodbye``
============ =====================================================================================

From a learner to its host:

============ =====================================================================================
``welcome``  ``run`` (id), ``learner`` (number), ``slots`` {slot: incarnation}, ``environment``
             (name), ``options``, ``algorithm``, ``network`` (name), ``model``, ``seed``, ``lease``
             (seconds)
``refuse``   ``reason``
``weights``  see `weights`
``grant``    ``round``, ``version``, ``steps`` {slot: steps}, ``incarnations`` {slot: the one that
             is meant; a grant to one that is gone is void}, and what the algorithm adds
``cut``      ``round``, ``slots`` (a list)
``finish``
============ =====================================================================================

A host speaks with its environment processes in the same kinds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

from ogg_hpc.errors import OggError

PROTOCOL = 1
MESSAGE_LIMIT = 1 << 30  # bytes

# What arrays may be of, by the words of safetensors.
_TYPES = {
    "BOOL": np.dtype("bool"),
    **{f"I{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"U{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{f"F{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
}
DTYPES = frozenset(dtype.name for dtype in _TYPES.values())
_CODES = frozenset(dtype.str[1:] for dtype in _TYPES.values())  # in any order of bytes
_deserialize: Callable[[bytes], list[tuple[str, dict[str, Any]]]] = deserialize  # it has no types


class MalformedMessageError(OggError):
    """Bytes that are no message, or a message that does not say what its kind has to say."""


@dataclass(frozen=True, eq=False)
class Message:
    """A message.

    The methods return a field, or raise `MalformedMessageError` where it is missing or of another
    type; so nobody has to trust what has come from elsewhere.

    Parameters
    ----------
    kind
        What it is, as in the tables above.
    fields
        What JSON can say. The keys of maps are texts there; `slots` returns them as numbers.
    arrays
        Arrays by name.
    """

    kind: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return a text."""
        value = self.fields.get(name)
        if not isinstance(value, str):
            raise self._misfit(name, "a text", value)
        return value

    def integer(self, name: str) -> int:
        """Return a whole number in [0, 2^63)."""
        value: Any = self.fields.get(name)
        if not _is_count(value):
            raise self._misfit(name, "a whole number", value)
        return int(value)

    def number(self, name: str) -> float:
        """Return a finite number."""
        value = self.fields.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < 2**63:
            raise self._misfit(name, "a number", value)
        return float(value)

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self.fields.get(name)
        if not isinstance(value, bool):
            raise self._misfit(name, "true or false", value)
        return value

    def table(self, name: str) -> dict[str, Any]:
        """Return a map with texts as keys."""
        value = self.fields.get(name)
        if not isinstance(value, dict):
            raise self._misfit(name, "a map", value)
        return value

    def slots(self, name: str) -> dict[int, int]:
        """Return a map from slots to whole numbers."""
        table = self.table(name)
        if not all(key.isdecimal() and len(key) < 10 and _is_count(table[key]) for key in table):
            raise self._misfit(name, "a map from slots to whole numbers", table)
        return {int(key): value for key, value in table.items()}

    def numbers(self, name: str) -> list[int]:
        """Return a list of whole numbers."""
        value = self.fields.get(name)
        if not isinstance(value, list) or not all(map(_is_count, value)):
            raise self._misfit(name, "a list of whole numbers", value)
        return value

    def _misfit(self, name: str, wanted: str, value: Any) -> MalformedMessageError:
        found = repr(value)
        short = found if len(found) <= 60 else f"{found[:57]}..."
        return MalformedMessageError(f"{self.kind}: {name} has to be {wanted}, not {short}")


def encode(message: Message) -> bytes:
    """Return the bytes of a message; keys of maps in its fields become texts.

    Raises
    ------
    MalformedMessageError
        It is larger than `MESSAGE_LIMIT`, or an array has a dtype that cannot be sent.
    """
    arrays = {name: np.asarray(array, order="C") for name, array in message.arrays.items()}
    size = sum(array.nbytes for array in arrays.values())
    metadata = {"kind": message.kind, "fields": json.dumps(message.fields, ensure_ascii=False)}
    if size + len(metadata["fields"]) > MESSAGE_LIMIT:
        raise MalformedMessageError(f"{message.kind}: {size} bytes are above {MESSAGE_LIMIT}")
    for name, array in arrays.items():
        if array.dtype.str[1:] not in _CODES:
            raise MalformedMessageError(f"{message.kind}: {name} has the dtype {array.dtype}")
    return save(arrays, metadata)


def decode(data: bytes) -> Message:
    """Return the message of bytes that `encode` has made; its arrays are copies of their own.

    Raises
    ------
    MalformedMessageError
        The bytes are anything else.
    """
    with _refusal():
        _check_size(data)
        # Checks all that there is to the format but what the metadata say.
        tensors = _deserialize(data)
        arrays = {name: _array(tensor) for name, tensor in tensors}
        return replace(_head(data), arrays=arrays)


def decode_head(data: bytes) -> Message:
    """Return a message without its arrays, which are not looked at.

    For those who pass messages on.

    Raises
    ------
    MalformedMessageError
        The bytes are no message.
    """
    with _refusal():
        _check_size(data)
        return _head(data)


@contextmanager
def _refusal() -> Iterator[None]:
    try:
        yield
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise MalformedMessageError(f"not a message: {error or type(error).__name__}") from None


def _check_size(data: bytes) -> None:
    if len(data) > MESSAGE_LIMIT:
        raise ValueError(f"{len(data)} bytes are above {MESSAGE_LIMIT}")


def _head(data: bytes) -> Message:
    metadata = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    kind, text = metadata["kind"], metadata["fields"]
    fields = json.loads(text)
    if not isinstance(kind, str) or not isinstance(fields, dict):
        raise ValueError("the kind has to be a text and the fields a map")
    if "\\u" in text:  # half of a surrogate pair can be escaped, and is no text
        json.dumps(fields, ensure_ascii=False).encode()
    return Message(kind, fields)


def _array(tensor: Mapping[str, Any]) -> NDArray[Any]:
    array = np.frombuffer(tensor["data"], _TYPES[tensor["dtype"]]).reshape(tensor["shape"])
    if array.dtype == np.bool_ and (array.view(np.uint8) > 1).any():
        raise ValueError("a boolean that is neither 0 nor 1")
    return array


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
