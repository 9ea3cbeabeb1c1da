import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import GraphStore, write_store
from ogg_hpc.graphs.statistics import WeightStatistics, graph_statistics, stored_outline


def test_numbers_of_a_small_graph() -> None:
    graph = Graph.from_edges(7, [0, 0, 1, 4, 6], [1, 2, 2, 5, 6], [1.0, -1.0, 1.0, 3.0, 9.0])
    numbers = graph_statistics(graph)
    assert (numbers.nodes, numbers.edges, numbers.self_loops) == (7, 4, 1)
    assert numbers.density == pytest.approx(4 / 21)
    assert (numbers.degree_min, numbers.degree_median, numbers.degree_max) == (0, 1.0, 2)
    assert numbers.degree_mean == pytest.approx(8 / 7)
    assert (numbers.isolated, numbers.components, numbers.largest_component) == (2, 4, 3)
    assert numbers.node_weights is None
    assert numbers.weights == WeightStatistics(min=-1.0, mean=1.0, max=3.0, negative=1, distinct=3)


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20),
        min_size=1,
        max_size=3,
    ),
    st.booleans(),
)
def test_the_outline_of_a_stored_graph_is_that_of_its_statistics(
    tmp_path_factory: pytest.TempPathFactory, edges: list[list[tuple[int, int]]], directed: bool
) -> None:
    graphs = [
        Graph.from_edges(7, [u for u, _ in pairs], [v for _, v in pairs], directed=directed)
        for pairs in edges
    ]
    path = tmp_path_factory.mktemp("store") / "graphs.h5"
    write_store(path, graphs)
    with GraphStore(path) as store:
        for index, graph in enumerate(graphs):
            outline, whole = vars(stored_outline(store, index)), vars(graph_statistics(graph))
            if directed and graph.m:
                assert outline.pop("isolated") is None
            assert outline == {name: whole[name] for name in outline}
            assert whole["degree_median"] == np.median(graph.degrees)
            assert whole["degree_mean"] == pytest.approx(graph.degrees.mean())


def test_weights_of_nodes_are_described() -> None:
    graph = Graph.from_edges(3, [0], [1]).with_node_weights([2, 0.5, 0.5])
    expected = WeightStatistics(min=0.5, mean=1.0, max=2.0, negative=0, distinct=2)
    assert graph_statistics(graph).node_weights == expected


def test_a_node_with_only_incoming_arcs_is_not_isolated() -> None:
    numbers = graph_statistics(Graph.from_edges(4, [0, 1], [1, 2], directed=True))
    assert (numbers.isolated, numbers.components) == (1, 2)
    assert numbers.density == pytest.approx(2 / 12)


def test_components_do_not_depend_on_weights_of_zero() -> None:
    assert graph_statistics(Graph.from_edges(2, [0], [1], [0.0])).components == 1


@pytest.mark.parametrize("n", [0, 1, 3])
def test_graphs_without_edges(n: int) -> None:
    numbers = graph_statistics(Graph.from_edges(n, [], [], np.empty(0)))
    assert (numbers.nodes, numbers.edges, numbers.isolated, numbers.components) == (n, 0, n, n)
    assert (numbers.density, numbers.degree_max, numbers.weights) == (0.0, 0, None)
