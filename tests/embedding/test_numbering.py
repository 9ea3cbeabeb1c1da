import numpy as np
import pytest

from ogg_hpc.embedding.evaluation.numbering import RowLabels
from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import Graph


def test_labels_are_found_in_any_order():
    rows = RowLabels(np.array([7, 3, 5]))
    assert rows.rows_of([3, 5, 7, 4, 8, -1]).tolist() == [1, 2, 0, -1, -1, -1]
    assert rows.rows_of(["3", "05", "7", "x"]).tolist() == [1, -1, 0, -1]
    assert RowLabels(np.arange(3)).rows_of([2, 3]).tolist() == [2, -1]
    assert RowLabels(np.array([], np.int64)).rows_of([2]).tolist() == [-1]


@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_takes_the_numbers_of_the_rows(directed):
    graph = Graph.from_edges(
        3, [0, 1], [1, 2], [0.5, 2], labels=np.array(["a", "b", "c"]), directed=directed
    )
    rows = RowLabels(np.array(["z", "c", "b", "a"]))
    u, v, weights = rows.renumber(graph, "g").edges()
    expected = [(2, 1, 2), (3, 2, 0.5)] if directed else [(1, 2, 2), (2, 3, 0.5)]
    assert list(zip(u.tolist(), v.tolist(), weights.tolist(), strict=True)) == expected
    same = RowLabels(np.array(["a", "b", "c"]))
    assert same.renumber(graph, "g") is graph


def test_a_node_without_a_vector_is_told():
    graph = Graph.from_edges(3, [0, 1], [1, 2], labels=np.array([10, 20, 30]))
    with pytest.raises(InputError, match=r"^g: node 20 has no vector, as 2 of 3 nodes"):
        RowLabels(np.array([10])).renumber(graph, "g")
