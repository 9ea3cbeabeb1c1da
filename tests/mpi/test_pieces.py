"""Pieces of an input on every number of ranks: dealt in turn, all of them, each once."""

import bz2
import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.conversion.inputs import Pieces, open_input
from ogg_hpc.graphs.conversion.piece import WiderDialectError
from ogg_hpc.graphs.conversion.source import PlainText
from ogg_hpc.graphs.names import Names

LINES = [f"{i * i % 97}\t{i % 31}" for i in range(200)]
TEXT = "\n".join(["# FromNodeId ToNodeId", *LINES[:90], "", *LINES[90:]]).encode()
MATRIX = "\n".join(
    ["%%MatrixMarket matrix coordinate integer general", "9 9 99"]
    + [f"{i % 9 + 1} {i * i % 9 + 1} {i % 3}" for i in range(99)]
).encode()
FILES = {
    "plain": TEXT,
    "CRLF": TEXT.replace(b"\n", b"\r\n"),
    "gzip": gzip.compress(TEXT),
    "bz2": bz2.compress(TEXT),
    "UTF-16": TEXT.decode().encode("utf-16"),
    "words": b"\n".join(line.replace(b"\t", b"\tnode ") for line in TEXT.split(b"\n")),
    "late word": TEXT + b"\n1\tx",
    "matrix": MATRIX,
    "matrix in gzip": gzip.compress(MATRIX),
}


@pytest.fixture
def write(comm, tmp_path_factory):
    """Write a file that all ranks see."""

    def write_data(data):
        def write_here():
            path = tmp_path_factory.mktemp("pieces") / "graph"
            if isinstance(data, bytes):
                path.write_bytes(data)
            else:
                pq.write_table(pa.table(data), path, row_group_size=17)
            return path

        return comm.on_root(write_here)

    return write_data


def read(comm, path, size=150):
    """Return what all ranks read together."""
    source = open_input(comm, path)
    while True:
        pieces, mine = Pieces(comm, source, size), {}
        try:
            for numbered in pieces:
                if numbered is not None:
                    number, piece = numbered
                    assert number % comm.size == comm.rank
                    mine[number] = plain(piece)
            warnings = source.judge(pieces.summaries)
        except WiderDialectError as error:
            source = source.wider(error)
            continue
        parts = comm.gather_objects(mine)
        return {k: v for part in parts for k, v in part.items()}, pieces.summaries, warnings


def plain(piece):
    labels = piece.labels
    labels = (
        labels.to_strings()
        if isinstance(labels, Names)
        else None
        if labels is None
        else (labels.tolist())
    )
    arrays = (piece.sources, piece.targets, piece.weights, piece.rows)
    return labels, [None if array is None else array.tolist() for array in arrays]


@pytest.mark.parametrize("name", FILES)
def test_all_ranks_together_read_what_one_reads(comm, alone, write, name):
    path = write(FILES[name])
    found, expected = read(comm, path), read(alone, path)
    assert found == expected
    assert len(expected[0]) > 3


def test_tables_are_read_by_all_ranks(comm, alone, write):
    numbers = np.arange(100)
    path = write({"source": numbers, "target": numbers * 7 % 100})
    assert read(comm, path) == read(alone, path)


# What is wrong, and the line.
FAULTS = {
    "in the middle": ("\n".join([*LINES[:120], "1", *LINES[120:]]), 121),
    "twice": ("\n".join([*LINES[:40], "1", *LINES[40:60], "2", *LINES[60:]]), 41),
    "at the end": ("\n".join([*LINES, "1"]), 201),
}


@pytest.mark.parametrize("case", FAULTS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_all_ranks_raise_the_first_error_of_the_file(comm, write, case, pack):
    text, line = FAULTS[case]
    path = write(pack(text.encode()))
    with pytest.raises(InputError, match=f":{line}: .* found 1 column") as caught:
        read(comm, path)
    assert caught.value.collective


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.95])
def test_a_damaged_stream_is_one_error_on_all_ranks(comm, write, cut):
    lines = np.random.default_rng(1).integers(0, 10**9, (3000, 2))
    data = gzip.compress("\n".join(f"{u} {v}" for u, v in lines.tolist()).encode())
    path = write(data[: int(cut * len(data))])
    with pytest.raises(InputError, match="damaged or cut off") as caught:
        read(comm, path, size=2000)
    assert caught.value.collective


def test_a_file_that_ranks_see_in_different_sizes_is_refused(comm, tmp_path):
    # As on hosts with a file each, or where it grows meanwhile.
    path = tmp_path / f"of rank {comm.rank}"
    path.write_bytes(b"1 2\n" * (100 + 100 * comm.rank))
    source = PlainText(path, 0)
    if comm.size == 1:
        assert len(list(source.rounds(comm, 0, 150, lambda number: True))) == 3
        return
    with pytest.raises(InputError, match=f"some ranks see 400 bytes, others {400 * comm.size}"):
        source.rounds(comm, 0, 150, lambda number: True)
