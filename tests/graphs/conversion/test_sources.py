"""Text of any size in pieces of whole lines."""

import bz2
import gzip
import lzma
import tempfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.conversion.source import PlainText, TextStream, text_source
from ogg_hpc.graphs.readers.files import decode, read_bytes, read_text_blocks
from ogg_hpc.runtime.communicator import Communicator


class Rank(Communicator):
    """One of several ranks, for sources whose ranks do not talk."""

    def __init__(self, rank: int, size: int) -> None:
        super().__init__()
        self.rank, self.size = rank, size


def pieces(source, size, start=0, comm=None):
    blocks = source.rounds(comm or Communicator(), start, size, lambda number: True)
    return {block.number: block.read() for block in blocks if block is not None}


texts = st.text("ab\n\r", max_size=40).map(str.encode)


@given(texts, st.integers(1, 9), st.sampled_from([b"", b"\xef\xbb\xbf"]))
def test_lines_that_start_in_a_range_are_its_piece(data, size, mark):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        path.write_bytes(mark + data)
        found = pieces(text_source(path), size)
    assert b"".join(found.values()) == data
    assert [*found] == list(range(max(1, -(-len(data) // size))))
    ends = [i for i in range(1, len(data)) if data[i - 1 : i] == b"\n"]
    ends += [i for i in range(1, len(data)) if data[i - 1] == 13 and data[i] != 10]
    starts = sorted([0, *ends]) if data else []
    for number, piece in found.items():
        low = number * size
        first = next((s for s in starts if s >= low), len(data))
        last = next((s for s in starts if s >= low + size), len(data))
        assert piece == data[first:last]


@given(texts, st.integers(1, 9))
def test_a_stream_is_cut_after_the_line_that_fills_a_piece(data, size):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.gz"
        path.write_bytes(gzip.compress(data))
        found = pieces(text_source(path), size)
    text = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    assert b"".join(found.values()) == text
    for number in range(len(found) - 1):
        assert found[number].endswith(b"\n")
        assert len(found[number]) >= size
        assert b"\n" not in found[number][size - 1 : -1]


def test_pieces_do_not_depend_on_the_number_of_ranks(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"".join(b"line %d\r\n" % i for i in range(50)))
    alone = pieces(PlainText(path, 0), 30)
    for size in (2, 3, 4):
        found = [pieces(PlainText(path, 0), 30, comm=Rank(r, size)) for r in range(size)]
        assert {k: v for part in found for k, v in part.items()} == alone
        rounds = [[*PlainText(path, 0).rounds(Rank(r, size), 0, 30, bool)] for r in range(size)]
        assert len({len(blocks) for blocks in rounds}) == 1
        for rank, part in enumerate(found):
            assert all(number % size == rank for number in part)


COMPRESSIONS = {
    "gzip": gzip.compress,
    "two gzip members and zeros": lambda data: (
        gzip.compress(data[:50]) + gzip.compress(data[50:]) + bytes(20)
    ),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": zstandard.ZstdCompressor().compress,
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "UTF-16 in gzip": lambda data: gzip.compress(data.decode().encode("utf-16")),
    "UTF-32": lambda data: data.decode().encode("utf-32"),
    "mark in gzip": lambda data: gzip.compress(b"\xef\xbb\xbf" + data),
}
TEXT = "".join(f"{i} é{i}\r\n" for i in range(40)).encode()


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_streams_start_anywhere_and_hold_what_the_whole_file_holds(tmp_path, kind):
    path = tmp_path / "text"
    path.write_bytes(COMPRESSIONS[kind](TEXT))
    source = text_source(path)
    assert isinstance(source, TextStream)
    text = decode(path, read_bytes(path))
    assert text == TEXT.replace(b"\r", b"")
    assert source.head(10) == (text[:10], False)
    assert source.head(10_000) == (text, True)
    for start in (0, 5, len(text)):
        assert b"".join(pieces(source, 30, start).values()) == text[start:]


@pytest.mark.parametrize("kind", ["gzip", "bz2", "xz", "zstandard", "UTF-16", "UTF-32"])
@pytest.mark.parametrize("place", [0.3, 0.9])
def test_a_stream_that_is_cut_off_is_refused_alike_by_both_ways_in(tmp_path, kind, place):
    path = tmp_path / "text"
    data = COMPRESSIONS[kind](TEXT)
    path.write_bytes(data[: int(place * len(data)) // 4 * 4 + 1])
    with pytest.raises(InputError, match="damaged") as expected:
        decode(path, read_bytes(path))
    with pytest.raises(InputError) as found:
        pieces(text_source(path), 30)
    assert str(found.value) == str(expected.value)
    assert found.value.collective


@pytest.mark.parametrize("kind", ["gzip", "bz2", "xz", "zstandard"])
def test_what_follows_compressed_data_is_not_passed_over(tmp_path, kind):
    path = tmp_path / "text"
    path.write_bytes(COMPRESSIONS[kind](TEXT) + b"more")
    with pytest.raises(InputError, match="damaged or cut off"):
        read_bytes(path)


def test_line_ends_at_the_bounds_of_blocks_are_kept_whole(monkeypatch, tmp_path):
    from ogg_hpc.graphs.readers import files

    path = tmp_path / "text"
    for data in (b"a\r\nb\rc\n\rd\r", b"\r\n\r\n", b"\r"):
        path.write_bytes(data)
        for size in range(1, 9):
            monkeypatch.setattr(files, "_BLOCK", size)
            assert b"".join(read_text_blocks(path)) == decode(path, data)


def test_a_line_longer_than_many_pieces_is_one(tmp_path):
    path = tmp_path / "text"
    line = b"x" * 200_000
    path.write_bytes(b"a\n" + line + b"\nb\n")
    found = pieces(text_source(path), 1000)
    assert found[0] == b"a\n" + line + b"\n"
    assert found[200] == b"b\n"
    assert not any(found[number] for number in range(1, 200))


def test_pieces_that_are_not_wanted_are_not_read(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"a\nb\nc\n")
    for source in (PlainText(path, 0), TextStream(path)):
        blocks = source.rounds(Communicator(), 0, 2, lambda number: number == 1)
        assert [block and block.number for block in blocks][:3] == [None, 1, None]


def test_a_file_that_goes_away_is_a_message(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"a\nb\n")
    (block, _) = PlainText(path, 0).rounds(Communicator(), 0, 2, lambda number: True)
    path.unlink()
    with pytest.raises(InputError, match="no such file"):
        block.read()
    with pytest.raises(InputError, match="no such file"):
        text_source(path)
