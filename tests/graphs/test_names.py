from bisect import bisect_left

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.graphs.names import Names

# Few letters, so that names share long beginnings, and the byte that pads a short word.
_ALIKE = st.text(alphabet="ab\0\u00e9\U0001f600", max_size=20)
_STRINGS = st.lists(st.one_of(st.text(max_size=12), _ALIKE), max_size=60)


@given(_STRINGS)
def test_strings_come_back(strings: list[str]) -> None:
    names = Names.from_strings(strings)
    assert len(names) == len(strings)
    assert names.to_strings() == strings


@given(_STRINGS)
def test_order_is_that_of_the_bytes_and_stable(strings: list[str]) -> None:
    expected = sorted(range(len(strings)), key=lambda i: strings[i].encode())
    assert Names.from_strings(strings).order().tolist() == expected


def test_many_names_with_a_common_beginning_are_sorted() -> None:
    rng = np.random.default_rng(5)
    strings = [f"http://example.org/user/{i:x}" for i in rng.integers(0, 2000, 5000).tolist()]
    names = Names.from_strings(strings)
    assert names.order().tolist() == sorted(range(len(strings)), key=strings.__getitem__)


@given(_STRINGS, st.data())
def test_take_slice_and_concatenate_are_those_of_lists(
    strings: list[str], data: st.DataObject
) -> None:
    names = Names.from_strings(strings)
    if strings:
        places = data.draw(st.lists(st.integers(0, len(strings) - 1)))
        assert names.take(np.array(places, np.int64)).to_strings() == [strings[i] for i in places]
    low = data.draw(st.integers(0, len(strings)))
    high = data.draw(st.integers(0, len(strings)))
    part = names[low:high]
    assert part.to_strings() == strings[low:high]
    joined = Names.concatenate([part, names, Names.from_strings([])])
    assert joined.to_strings() == strings[low:high] + strings
    assert (part == names) == (strings[low:high] == strings)


@given(_STRINGS, _STRINGS)
def test_search_and_union_are_those_of_sorted_lists(some: list[str], others: list[str]) -> None:
    first, second = (sorted({x.encode() for x in strings}) for strings in (some, others))
    a, b = (Names.from_strings(x.decode() for x in encoded) for encoded in (first, second))
    assert a.search(b).tolist() == [bisect_left(first, name) for name in second]
    assert [x.encode() for x in a.union(b).to_strings()] == sorted({*first, *second})


def test_slices_of_a_buffer_become_names() -> None:
    buffer = np.frombuffer("a été  b".encode(), np.uint8)
    names = Names.from_slices(buffer, np.array([2, 0, 8]), np.array([7, 1, 8]))
    assert names.to_strings() == ["été", "a", ""]


@given(_STRINGS)
def test_equal_names_have_one_hash_and_few_others_do(strings: list[str]) -> None:
    hashes = Names.from_strings(strings).hashes().tolist()
    assert len(set(zip(strings, hashes, strict=True))) == len(set(strings))
    many = Names.from_strings(str(i) for i in range(10_000)).hashes()
    assert len(np.unique(many)) > 9_990
