"""Labels get the numbers of their places in sorted order, however they are divided."""

import numpy as np
import pytest

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.conversion.dictionary import BitMap, Ranges, build_dictionary
from ogg_hpc.graphs.names import Names

MEMORY = 1 << 30


def draw(kind, seed, pieces, size):
    """Return lists of labels, each sorted and distinct."""
    rng = np.random.default_rng([seed, pieces, size])
    ranges = {"compact": (-50, 3 * size), "from 0": (0, size), "wide": (-(2**62), 2**62)}
    lists = []
    for _ in range(pieces):
        count = int(rng.integers(0, size + 1))
        if kind == "names":
            # Few beginnings, so that names are compared far into them.
            names = {f"{'äb'[i % 2] * (i % 19)}{i}" for i in rng.integers(0, 2 * size, count)}
            lists.append(sorted(names, key=str.encode))
        elif kind == "from 0":
            lists.append(list(range(size)))
        else:
            lists.append(np.unique(rng.integers(*ranges[kind], count)).tolist())
    return lists


def as_labels(values, kind):
    return Names.from_strings(values) if kind == "names" else np.array(values, np.int64)


def gathered_segments(comm, dictionary):
    segment = dictionary.segment
    values = segment.to_strings() if isinstance(segment, Names) else segment.tolist()
    return [value for each in comm.gather_objects(values) for value in each]


def check(comm, dictionary, lists, kind):
    everything = {label for each in lists for label in each}
    expected = sorted(everything, key=str.encode) if kind == "names" else sorted(everything)
    assert dictionary.nodes == len(expected)
    if kind != "names" and expected == list(range(len(expected))):
        assert dictionary.segment is None
    else:
        assert gathered_segments(comm, dictionary) == expected
    number = {label: i for i, label in enumerate(expected)}
    for start in range(0, len(lists), comm.size):
        piece = start + comm.rank
        mine = lists[piece] if piece < len(lists) else None
        ids = dictionary.ids_of(None if mine is None else as_labels(mine, kind))
        assert ids.tolist() == [number[label] for label in mine or []]


@pytest.mark.parametrize("kind", ["names", "wide", "compact", "from 0"])
@pytest.mark.parametrize(("pieces", "size"), [(1, 7), (2, 60), (7, 60), (9, 1), (5, 6000)])
def test_numbers_are_places_in_sorted_order(comm, kind, pieces, size):
    lists = draw(kind, 1, pieces, size)
    if not any(lists):
        lists[0] = draw(kind, 2, 1, 50)[0]
    labels = [as_labels(each, kind) for each in lists]
    read = labels.__getitem__
    check(comm, Ranges(comm, pieces, read, MEMORY), lists, kind)
    dictionary = build_dictionary(comm, pieces, read, MEMORY)
    assert isinstance(dictionary, BitMap) == (kind in ("compact", "from 0"))
    check(comm, dictionary, lists, kind)


def test_integers_are_divided_where_memory_is_too_short_for_a_map(comm):
    values = np.arange(0, 400_000, 57)
    kinds = [
        type(build_dictionary(comm, 1, lambda piece: values, memory))
        for memory in (400_000, 390_000)
    ]
    assert kinds == [BitMap, Ranges]


def test_ranges_hold_about_equal_numbers_of_labels_however_often_some_are_repeated(comm):
    often = np.arange(1000) ** 3
    rare = [np.arange(10**10 + i, 10**11, 10**8) for i in range(20)]
    lists = [np.concatenate([often, each]) for each in rare]
    dictionary = Ranges(comm, len(lists), lists.__getitem__, MEMORY)
    held = comm.gather_objects(len(dictionary.segment))
    assert sum(held) == dictionary.nodes == 1000 + sum(map(len, rare))
    assert max(held) < 1.3 * dictionary.nodes / comm.size


@pytest.mark.parametrize("kind", ["names", "wide"])
def test_labels_beyond_memory_are_refused_with_a_remedy(comm, kind):
    lists = [as_labels(each, kind) for each in draw(kind, 3, 4, 3000)]
    with pytest.raises(SettingsError, match="more ranks") as error:
        build_dictionary(comm, 4, lists.__getitem__, memory=1 << 12)
    assert error.value.collective
