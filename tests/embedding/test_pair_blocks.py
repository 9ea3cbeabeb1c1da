import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.embedding.pair_blocks import choose_parts, sort_into_blocks
from ogg_hpc.embedding.row_owners import RowOwners


@given(st.integers(1, 40), st.integers(1, 9), st.integers(0, 60), st.data())
def test_pairs_of_a_block_are_those_of_its_parts_in_their_order(n, parts, k, data):
    of_sources = RowOwners(n, range(parts), 1, "vectors")
    of_contexts = RowOwners(n, range(parts), 1, "context")
    own = range(data.draw(st.integers(0, parts - 1)), parts)
    mine = [i for i in range(n) if of_sources.find(np.array([i]))[0][0] in own]
    pairs = np.random.default_rng(k).integers(0, n, (k if mine else 0, 2))
    pairs[:, 0] = np.array(mine, np.int64)[pairs[:, 0] % max(len(mine), 1)]
    blocks = sort_into_blocks(pairs[:, 0], pairs[:, 1], of_sources, of_contexts, own)
    (i, source_rows), (j, context_rows) = (
        of_sources.find(pairs[:, 0]),
        of_contexts.find(pairs[:, 1]),
    )
    for a in own:
        for b in range(parts):
            here = (i == a) & (j == b)
            sources, contexts = blocks.pairs(a, b)
            assert sources.tolist() == source_rows[here].tolist()
            assert contexts.tolist() == context_rows[here].tolist()


@pytest.mark.parametrize("n", [1, 2, 10_312, 100_000, 10**9])
def test_chosen_parts_are_few_or_of_some_thousand_nodes(n):
    parts = choose_parts(n)
    assert 8 <= parts <= 64
    assert parts in (8, 64) or 4096 <= n / parts < 8192


@given(st.integers(1, 30), st.integers(1, 5), st.integers(1, 5))
def test_ranks_share_whole_parts_evenly(n, ranks, more):
    parts = ranks + more
    cut = RowOwners(n, range(parts), 3, "vectors")
    owners = RowOwners(n, range(ranks), 3, "vectors", parts)
    bounds = np.arange(ranks + 1) * parts // ranks
    np.testing.assert_array_equal(owners.starts, cut.starts[bounds])
    # The order of rows is that of the parts.
    part, row = cut.find(np.arange(n))
    rank, slot = owners.find(np.arange(n))
    np.testing.assert_array_equal(cut.starts[part] + row, owners.starts[rank] + slot)
