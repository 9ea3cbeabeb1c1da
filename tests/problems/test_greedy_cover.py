import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.greedy_cover import GREEDY, maximum_degree_greedy, minimum_degree_greedy
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover

MVC = MinimumVertexCover()


def residual_neighbours(graph, active):
    return {v: [u for u in graph.neighbours(v).tolist() if u in active] for v in sorted(active)}


def plain_maximum_degree(graph, forced):
    cover, active = list(forced), set(range(graph.n)) - set(forced)
    while True:
        neighbours = residual_neighbours(graph, active)
        best = max(active, key=lambda v: (len(neighbours[v]), -v), default=None)
        if best is None or not neighbours[best]:
            return cover
        cover.append(best)
        active.remove(best)


def plain_minimum_degree(graph, forced):
    cover, active = list(forced), set(range(graph.n)) - set(forced)
    while True:
        neighbours = residual_neighbours(graph, active)
        with_edges = [v for v in neighbours if neighbours[v]]
        if not with_edges:
            return cover
        best = min(with_edges, key=lambda v: (len(neighbours[v]), v))
        cover += neighbours[best]
        active -= {best, *neighbours[best]}


PLAIN = {"max-degree": plain_maximum_degree, "min-degree": plain_minimum_degree}


@pytest.mark.parametrize("name", GREEDY)
@given(seed=st.integers(0, 2**32 - 1))
def test_equals_the_plain_reference(name, seed):
    generator = np.random.default_rng(seed)
    n = int(generator.integers(0, 25))
    pairs = np.argwhere(generator.random((n, n)) < generator.choice([0.03, 0.1, 0.3]))
    graph = Graph.from_edges(n, pairs[:, 0], pairs[:, 1])
    cover = GREEDY[name](graph, graph.looped)
    assert cover.tolist() == PLAIN[name](graph, graph.looped.tolist())
    assert MVC.violation(graph, cover) is None


def test_orders_worked_by_hand():
    path = Graph.from_networkx(nx.path_graph(5))
    assert maximum_degree_greedy(path).tolist() == [1, 3]
    assert minimum_degree_greedy(path).tolist() == [1, 3]
    assert maximum_degree_greedy(path, [4, 0]).tolist() == [4, 0, 2]
    complete = Graph.from_networkx(nx.complete_graph(4))
    assert maximum_degree_greedy(complete).tolist() == [0, 1, 2]
    assert minimum_degree_greedy(complete).tolist() == [1, 2, 3]
    assert maximum_degree_greedy(Graph.from_networkx(nx.empty_graph(3))).tolist() == []


@pytest.mark.parametrize(
    ("name", "greedy", "improved"), [("max-degree", 6578, 6561), ("min-degree", 6540, 6540)]
)
def test_real_graph(shared_data, name, greedy, improved):
    from ogg_hpc.graphs.readers import read_graph

    graph = read_graph(shared_data / "socfb" / "socfb-Vanderbilt48.mtx")
    cover = GREEDY[name](graph, MVC.forced(graph))
    assert MVC.violation(graph, cover) is None
    assert len(cover) == greedy
    assert len(MVC.improve(graph, cover)) == improved
