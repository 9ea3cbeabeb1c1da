import json
import struct
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from ogg_hpc.actors.message import (
    DTYPES,
    MalformedMessageError,
    Message,
    decode,
    decode_head,
    encode,
)

names = st.text(max_size=8).filter(lambda name: name != "__metadata__")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
arrays = arrays_of.arrays(
    st.sampled_from(sorted(DTYPES)).map(np.dtype), arrays_of.array_shapes(min_dims=0, min_side=0)
)
messages = st.builds(
    Message,
    st.text(max_size=10),
    st.dictionaries(st.text(), json_values, max_size=3),
    st.dictionaries(names, arrays, max_size=3),
)


@given(messages)
def test_a_message_comes_back_as_it_was_sent(message):
    back = decode(encode(message))
    assert (back.kind, back.fields) == (message.kind, message.fields)
    head = decode_head(encode(message))
    assert (head.kind, head.fields, head.arrays) == (message.kind, message.fields, {})
    assert set(back.arrays) == set(message.arrays)
    for name, array in message.arrays.items():
        assert back.arrays[name].dtype == array.dtype
        assert back.arrays[name].shape == array.shape
        assert back.arrays[name].tobytes() == array.tobytes()


def test_arrays_of_any_order_are_sent_by_their_values():
    array = np.arange(12.0).reshape(3, 4)
    sent = {"columns": array.T, "every other": array[:, ::2], "big": array.astype(">f8")}
    back = decode(encode(Message("x", {}, sent))).arrays
    for name, values in sent.items():
        np.testing.assert_array_equal(back[name], values)
        back[name] += 1  # and belong to who has received them


def decode_or_refuse(data):
    for read in (decode, decode_head):
        with suppress(MalformedMessageError):
            read(data)


@given(st.binary(max_size=200))
def test_other_bytes_are_refused(data):
    decode_or_refuse(data)


@given(messages, st.data())
def test_changed_bytes_are_a_message_or_are_refused(message, data):
    changed = bytearray(encode(message))
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(changed)))
    decode_or_refuse(bytes(changed))
    decode_or_refuse(bytes(changed[:end]))
    decode_or_refuse(bytes(changed) + b"more")


def with_header(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "__metadata__": st.fixed_dictionaries(
                {}, optional={"kind": json_values, "fields": json_values | st.text()}
            ),
            "a": st.fixed_dictionaries(
                {},
                optional={
                    "dtype": st.sampled_from(["F32", "BOOL", "BF16", "F8_E4M3", "C64", "x", 3]),
                    "shape": st.lists(st.integers(-1, 2**64), max_size=3),
                    "data_offsets": st.lists(st.integers(-1, 2**64), max_size=3),
                },
            ),
        },
    ),
    st.binary(max_size=16),
)
def test_any_header_is_a_message_or_is_refused(header, body):
    decode_or_refuse(with_header(header, body))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        struct.pack("<Q", 2**63) + b"{}",
        with_header({}),
        with_header({"__metadata__": {"kind": "x"}}),
        with_header({"__metadata__": {"kind": "x", "fields": "[]"}}),
        with_header({"__metadata__": {"kind": "x", "fields": "{"}}),
        with_header({"__metadata__": {"kind": "x", "fields": '{"a": "\\ud800"}'}}),
        with_header({"__metadata__": {"kind": "x", "fields": "[" * 100_000}}),
        with_header({"__metadata__": {"kind": "x", "fields": '{"a": ' + "9" * 5000 + "}"}}),
        with_header(b'{"__metadata__":' + b"[" * 100_000),
        with_header(
            {
                "__metadata__": {"kind": "x", "fields": "{}"},
                "flags": {"dtype": "BOOL", "shape": [1], "data_offsets": [0, 1]},
            },
            b"\2",
        ),
        with_header(
            {
                "__metadata__": {"kind": "x", "fields": "{}"},
                "other": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]},
            },
            b"\0\0",
        ),
    ],
)
def test_what_is_no_message_is_refused(data):
    with pytest.raises(MalformedMessageError):
        decode(data)


def test_what_cannot_be_sent_is_refused_where_it_is_made(monkeypatch):
    with pytest.raises(MalformedMessageError, match="complex128"):
        encode(Message("x", {}, {"a": np.zeros(1, np.complex128)}))
    monkeypatch.setattr("ogg_hpc.actors.message.MESSAGE_LIMIT", 100)
    with pytest.raises(MalformedMessageError, match="above 100"):
        encode(Message("x", {}, {"a": np.zeros(13)}))
    with pytest.raises(MalformedMessageError, match="above 100"):
        decode(b" " * 101)


def test_fields_are_read_by_their_types():
    message = decode(
        encode(Message("x", {"t": "a", "i": 3, "n": 0.5, "b": True, "s": {2: 7}, "l": [1]}))
    )
    assert (message.text("t"), message.integer("i"), message.number("n")) == ("a", 3, 0.5)
    assert message.flag("b")
    assert message.slots("s") == {2: 7}
    assert message.table("s") == {"2": 7}
    assert message.numbers("l") == [1]


@pytest.mark.parametrize("read", ["text", "integer", "number", "flag", "table", "slots", "numbers"])
@given(value=json_values)
def test_a_field_of_another_type_is_refused(read, value):
    message = Message("x", {"a": value})
    with suppress(MalformedMessageError):
        getattr(message, read)("a")
    with pytest.raises(MalformedMessageError, match="missing has to be"):
        getattr(message, read)("missing")
