import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.graphs.graph import Graph

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=60)


@given(PAIRS, st.booleans())
def test_edges_given_in_both_directions_are_counted(
    pairs: list[tuple[int, int]], weighted: bool
) -> None:
    given_pairs = set(pairs)
    expected = sum((v, u) in given_pairs for u, v in given_pairs if u < v)
    ends = [u for u, _ in pairs], [v for _, v in pairs]
    weights = [abs(u - v) + 0.5 for u, v in pairs] if weighted else None
    undirected = Graph.from_edges(7, *ends, weights)
    assert undirected.reversed_pairs == expected
    directed = Graph.from_edges(7, *ends, weights, directed=True)
    assert directed.reversed_pairs == 0
    assert directed.to_undirected().reversed_pairs == expected


@pytest.mark.parametrize("directed", [False, True])
def test_a_format_that_lists_both_directions_reverses_no_pair(directed: bool) -> None:
    graph = Graph.from_edges(3, [0, 1, 1, 2], [1, 0, 2, 1], directed=directed, both_directions=True)
    assert graph.reversed_pairs == 0
    assert graph.duplicates == 0
