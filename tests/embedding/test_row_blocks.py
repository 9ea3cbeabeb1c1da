import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.embedding.row_blocks import Block, bounds, hand_to_root, open_rows, write_rows
from ogg_hpc.errors import InputError
from ogg_hpc.graphs.store_format import CHUNK_BYTES
from ogg_hpc.runtime.communicator import Communicator


@given(st.integers(0, 10**6), st.integers(1, 5000))
def test_blocks_are_all_rows_in_whole_chunks(n, dim):
    found = list(bounds(n, dim))
    assert [lo for lo, _ in found] == [0, *(hi for _, hi in found)][: len(found)]
    assert (found[-1][1] if found else 0) == n
    chunk = max(1, CHUNK_BYTES // (4 * dim))
    assert all((hi - lo) % chunk == 0 for lo, hi in found[:-1])


def test_rows_are_read_as_they_were_written(tmp_path):
    matrices = {name: np.random.default_rng(1).random((10, 3), np.float32) for name in "ab"}
    blocks = (
        Block(name, (10, 3), rows[lo : lo + 4])
        for name, rows in matrices.items()
        for lo in (0, 4, 8)
    )
    write_rows(tmp_path, blocks)
    for name, rows in matrices.items():
        np.testing.assert_array_equal(open_rows(tmp_path, name), rows)
    with pytest.raises(InputError, match="cannot be read"):
        open_rows(tmp_path, "c")


def test_what_the_root_does_not_take_is_gathered_all_the_same():
    gathered = []

    def pieces():
        for number in range(5):
            gathered.append(number)
            yield number

    def take(found):
        next(found)
        raise InputError("file", "cannot be written")

    with pytest.raises(InputError, match="cannot be written"):
        hand_to_root(Communicator(), pieces(), take)
    assert gathered == [0, 1, 2, 3, 4]
