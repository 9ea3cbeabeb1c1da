import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.cover_reductions import reduce_cover
from ogg_hpc.problems.exact import brute_force
from ogg_hpc.problems.graph_input import read_undirected
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover

MVC = MinimumVertexCover()


@st.composite
def graphs(draw, largest=13):
    """Graphs of few edges, where reductions meet one another, some with self loops."""
    n = draw(st.integers(1, largest))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=3 * n))
    return Graph.from_edges(n, [u for u, _ in edges], [v for _, v in edges])


def check_kernel(graph, reduction):
    """The kernel is a simple graph without loops that no rule of low degree applies to."""
    kernel = reduction.kernel
    assert (kernel.degrees >= 3).all()
    assert not len(kernel.looped)
    again = Graph.from_edges(kernel.n, *kernel.edges())
    assert kernel.row_offsets.tolist() == again.row_offsets.tolist()
    assert kernel.columns.tolist() == again.columns.tolist()
    assert kernel.columns.dtype == graph.columns.dtype
    assert reduce_cover(kernel).kernel.m == kernel.m


@given(graphs())
@settings(max_examples=300)
def test_smallest_cover_of_the_kernel_gives_a_smallest_cover(graph):
    reduction = reduce_cover(graph)
    check_kernel(graph, reduction)
    cover = brute_force(MVC, reduction.kernel)
    lifted = reduction.lift(cover)
    assert MVC.violation(graph, lifted) is None
    assert len(lifted) == len(cover) + reduction.offset == len(brute_force(MVC, graph))


@given(st.integers(0, 2**32), st.integers(20, 300), st.sampled_from([2, 3, 4, 6, 10]))
@settings(max_examples=60)
def test_any_cover_of_the_kernel_is_lifted_to_a_cover(seed, n, mean_degree):
    generator = np.random.default_rng(seed)
    graph = Graph.from_edges(n, *generator.integers(0, n, (2, n * mean_degree // 2)))
    reduction = reduce_cover(graph)
    check_kernel(graph, reduction)
    order = generator.permutation(reduction.kernel.n)
    for cover in (MVC.improve(reduction.kernel, order), order):
        lifted = reduction.lift(cover)
        assert MVC.violation(graph, lifted) is None
        assert len(lifted) == len(cover) + reduction.offset
    assert reduction.offset + MVC.bound(reduction.kernel) >= MVC.bound(graph)


@pytest.mark.parametrize(
    ("graph", "size"),
    [
        (nx.path_graph(9), 4),
        (nx.cycle_graph(9), 5),
        (nx.star_graph(7), 1),
        (nx.complete_graph(6), 5),
        (nx.wheel_graph(8), 5),
        (nx.grid_2d_graph(7, 6), 21),
        (nx.hypercube_graph(6), 32),
        (nx.disjoint_union(nx.grid_2d_graph(5, 5), nx.hypercube_graph(3)), 16),
        (nx.balanced_tree(3, 4), 30),
        (nx.complete_bipartite_graph(4, 5), 4),
        (nx.hypercube_graph(2), 2),
        (nx.karate_club_graph(), 14),
        (nx.empty_graph(3), 0),
        (nx.empty_graph(0), 0),
    ],
)
def test_graphs_that_reductions_solve_alone(graph, size):
    reduction = reduce_cover(Graph.from_networkx(graph))
    assert (reduction.kernel.n, reduction.offset) == (0, size)
    assert len(reduction.lift(np.empty(0, np.int64))) == size


@pytest.mark.parametrize("seed", range(12))
def test_bipartite_part_is_solved_beside_one_that_is_not(seed):
    generator = np.random.default_rng(seed)
    core = nx.random_regular_graph(5, 10, seed=seed)  # halves are its only relaxed optimum
    graph = nx.disjoint_union(core, nx.bipartite.random_graph(15, 15, 0.3, seed=seed))
    for u, v in generator.integers([0, 10], [10, 25], (6, 2)).tolist():
        graph.add_edge(u, v)  # to one side of the other part
    graph = Graph.from_networkx(graph)
    reduction = reduce_cover(graph)
    check_kernel(graph, reduction)
    assert MVC.optimum(graph) == MVC.optimum(reduction.kernel) + reduction.offset
    lifted = reduction.lift(np.arange(reduction.kernel.n))
    assert MVC.violation(graph, lifted) is None
    assert len(lifted) == reduction.kernel.n + reduction.offset


def test_regular_graph_that_no_rule_applies_to_is_its_own_kernel():
    graph = Graph.from_networkx(nx.random_regular_graph(8, 60, seed=1))
    reduction = reduce_cover(graph)
    assert (reduction.kernel.m, reduction.offset) == (graph.m, 0)
    assert reduction.lift(np.array([3, 7])).tolist() == [3, 7]


def test_nodes_with_a_self_loop_are_in_every_lifted_cover():
    reduction = reduce_cover(Graph.from_edges(4, [0, 0, 1], [0, 1, 2]))
    assert reduction.offset == 2
    assert 0 in reduction.lift(np.empty(0, np.int64))


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("karate.graph", 14),
        ("jazz.graph", 158),
        ("email.graph", 594),
        ("power.graph", 2203),
        ("lastfm-asia.txt", 3447),
        ("vc-exact_009.txt", 21348),
    ],
)
def test_real_graphs_are_solved_to_the_proven_optimum(shared_data, name, size):
    graph = read_undirected(str(shared_data / "mvc" / name), None, False)
    reduction = reduce_cover(graph)
    assert (reduction.kernel.n, reduction.offset) == (0, size)
    assert MVC.violation(graph, reduction.lift(np.empty(0, np.int64))) is None


def test_subclass_that_asks_for_something_else_is_not_reduced():
    class OtherRules(MinimumVertexCover):
        def candidates(self, solution, degrees, batch):
            return super().candidates(solution, degrees, batch)

    class Heavy(MinimumVertexCover):
        def objective(self, graph, nodes):
            return float(2 * len(nodes))

    graph = Graph.from_networkx(nx.path_graph(3))
    assert OtherRules().reduce(graph).offset == 1
    assert Heavy().reduce(graph) is None
