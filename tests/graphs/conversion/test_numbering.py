import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.graphs.conversion.numbering import number_integers, number_names
from ogg_hpc.graphs.names import Names


@given(
    st.lists(st.integers(-40, 40) | st.integers(-(2**63), 2**63 - 1), max_size=60)
    | st.lists(st.integers(10**15, 10**15 + 200), max_size=60)
)
def test_integers_get_their_places_among_the_sorted(values: list[int]) -> None:
    labels, places = number_integers(np.array(values, np.int64))
    assert labels.tolist() == sorted(set(values))
    assert places.dtype == np.int32
    assert labels[places].tolist() == values


@given(st.lists(st.text("ab\0é", max_size=12) | st.text(max_size=30), max_size=60))
def test_names_are_numbered_as_a_dictionary_does(strings: list[str]) -> None:
    together = Names.from_strings(strings)
    offsets = together.offsets
    names, places = number_names(together.bytes, offsets[:-1], offsets[1:])
    numbers: dict[str, int] = {}
    expected = [numbers.setdefault(string, len(numbers)) for string in strings]
    assert names.to_strings() == list(numbers)
    assert places.tolist() == expected


def test_names_with_one_hash_stay_apart() -> None:
    names = Names.from_strings(f"{i:06}" for i in range(200_000))
    assert len(np.unique(names.hashes())) < len(names), "no two have one hash: take more"
    again = Names.concatenate([names, names])
    distinct, places = number_names(again.bytes, again.offsets[:-1], again.offsets[1:])
    assert distinct == names
    assert np.array_equal(places, np.tile(np.arange(len(names)), 2))
