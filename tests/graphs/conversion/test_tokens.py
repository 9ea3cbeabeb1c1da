"""Compiled loops over text against plain Python."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.conversion.tokens import (
    find_tokens,
    parse_integers,
    parse_weights,
    rewrite_cells,
)
from ogg_hpc.graphs.readers.edgelist import cells_as_tokens
from ogg_hpc.graphs.readers.text import Text, integers


def places(tokens: list[bytes]):
    """Return tokens in a text, with their starts and ends."""
    lengths = np.array([len(token) for token in tokens], dtype=np.int64)
    ends = np.cumsum(lengths + 1) - 1
    starts = ends - lengths
    return b" ".join(tokens) + b" ", starts, ends


@given(st.text("12ab#% \t,\n", max_size=60).map(str.encode), st.sampled_from([2, 3]))
def test_tokens_are_those_of_split(data, columns):
    lines = data.split(b"\n")
    lines = lines[:-1] if lines[-1] == b"" else lines
    found = find_tokens(data, columns, comments=b"#")
    edges = {
        i: line.split()
        for i, line in enumerate(lines)
        if line.strip() and not line.strip().startswith(b"#")
    }
    if any(len(tokens) != columns for tokens in edges.values()):
        assert found is None
        return
    ends = [token for tokens in edges.values() for token in tokens[:2]]
    cut = zip(found.starts, found.ends, strict=True)
    assert [data[start:end] for start, end in cut] == ends
    cut = zip(found.weight_starts, found.weight_ends, strict=True)
    assert [data[start:end] for start, end in cut] == [t[2] for t in edges.values() if len(t) > 2]
    rows = range(len(edges)) if found.rows is None else found.rows.tolist()
    assert (list(rows), found.lines) == ([*edges], len(lines))


@given(st.lists(st.sampled_from(["1", "b", ",", " ", "\t", "\n"]), max_size=30).map("".join))
def test_commas_stand_between_two_tokens_each(text):
    found = find_tokens(text.encode(), 2, separator=b",")
    rows = [[cell.split() for cell in line.split(",")] for line in text.split("\n") if line.strip()]
    good = all([len(cell) for cell in row] == [1, 1] for row in rows)
    assert (found is not None) == good


@given(st.text('ab #"\t,\n', max_size=40), st.sampled_from([",", "\t"]))
def test_cells_are_rewritten_as_by_the_reader(content, delimiter):
    data = content.encode()
    found = rewrite_cells(data, delimiter.encode(), b"#")
    text = Text(Path("-"), data)
    text = text.without(text.starting_with(b"#"))
    try:
        expected = cells_as_tokens(text, delimiter).buffer.tobytes()
    except InputError:
        assert found is None
        return
    assert (found is not None) or '""' in content
    if found is not None:
        lines = zip(found.split(b"\n"), expected.split(b"\n"), strict=False)
        assert all(ours.split() == theirs.split() for ours, theirs in lines)
        assert found.count(b"\n") == data.count(b"\n")


digits = st.text("0123456789", min_size=1, max_size=22)
near_limits = st.integers(-3, 3).flatmap(
    lambda k: st.sampled_from([2**63 + k, -(2**63) + k, 10**18 + k, 10**19 + k]).map(str)
)
whole = st.builds("{}{}".format, st.sampled_from(["", "+", "-", "--"]), digits) | near_limits
odd = st.sampled_from(["-", "+", "1.0", "1_0", "x", "1e3", "0x1", "\u0661"])


@given(st.lists(whole | odd, min_size=1, max_size=5).map(lambda t: [x.encode() for x in t]))
def test_integers_are_those_of_the_reader(tokens):
    data, starts, ends = places(tokens)
    values, bad = parse_integers(data, starts, ends)
    good = [integers(token, 1) for token in tokens]
    first = next((i for i, value in enumerate(good) if value is None), None)
    assert bad == first
    if first is None:
        assert values.tolist() == [int(value[0]) for value in good]


decimals = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+"]),
    st.text("0123456789", max_size=20),
    st.text("0123456789", max_size=20).map(".{}".format) | st.just(""),
    st.integers(-330, 320).map("e{}".format) | st.sampled_from(["", "", "E+5", "e", "e1000"]),
)
numbers = decimals | st.floats().map(repr) | st.integers().map(str) | odd | st.just("infinity")


@given(st.lists(numbers, min_size=1, max_size=5).map(lambda t: [x.encode() for x in t]))
def test_weights_are_rounded_as_by_float(tokens):
    data, starts, ends = places(tokens)
    values = parse_weights(data, starts, ends)
    try:
        expected = [float(token.decode("ascii")) for token in tokens if b"_" not in token]
    except (UnicodeDecodeError, ValueError):
        expected = [np.nan]
    if len(expected) < len(tokens) or not np.isfinite(expected).all():
        assert values is None
    else:
        assert values.tolist() == expected
        assert np.signbit(values).tolist() == np.signbit(expected).tolist()
