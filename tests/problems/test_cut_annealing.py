from itertools import islice

import numpy as np
import pytest

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.cut_annealing import anneal_cut
from ogg_hpc.problems.maximum_cut import MaximumCut

CUT = MaximumCut()
NOTHING = np.empty(0, np.int64)


def random_cut_graph(seed, n=14, p=0.4, weights="signs"):
    generator = np.random.default_rng(seed)
    u, v = np.nonzero(np.triu(generator.random((n, n)) < p, 1))
    values = {
        "none": None,
        "signs": generator.choice([-1, 1], len(u)),
        "real": generator.normal(size=len(u)) * 1e3,
    }
    return Graph.from_edges(n, u, v, values[weights])


@pytest.mark.parametrize("weights", ["none", "signs", "real"])
def test_finds_the_optimum_of_small_graphs(weights):
    for seed in range(6):
        graph = random_cut_graph(seed, weights=weights)
        [*_, best] = islice(anneal_cut(graph, NOTHING, seed), 6)
        assert CUT.objective(graph, best) == pytest.approx(CUT.optimum(graph))


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**1000])
def test_unit_of_the_weights_makes_no_difference(unit):
    graph = random_cut_graph(3, n=100, p=0.1, weights="real")
    u, v, weights = graph.edges()
    scaled = Graph.from_edges(graph.n, u, v, weights * unit)
    items = (islice(anneal_cut(each, NOTHING, 7), 4) for each in (graph, scaled))
    assert all(np.array_equal(a, b) for a, b in zip(*items, strict=True))


def test_is_a_function_of_its_arguments_and_never_gets_worse():
    graph = random_cut_graph(3, n=400, p=0.03)
    start = CUT.greedy(graph)
    first = list(islice(anneal_cut(graph, start, 7), 12))
    values = [CUT.objective(graph, nodes) for nodes in first]
    assert values == sorted(values)
    assert CUT.objective(graph, start) <= values[0] < values[-1]
    again = islice(anneal_cut(graph, start, 7), 12)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    [*_, other] = islice(anneal_cut(graph, start, 8), 12)
    assert not np.array_equal(first[-1], other)


@pytest.mark.parametrize("n", [0, 3])
def test_ends_at_once_without_weight(n):
    assert list(anneal_cut(Graph.from_edges(n, [], []), NOTHING, 1)) == []


@pytest.mark.parametrize(("name", "value"), [("G22", 13346), ("G43", 6654)])
def test_real_graph_within_a_thousandth_of_the_best_known(shared_data, name, value):
    from ogg_hpc.graphs.readers import read_graph

    graph = read_graph(shared_data / "gset" / f"{name}.txt")
    for nodes in islice(anneal_cut(graph, CUT.greedy(graph), 1), 500):
        reached = CUT.objective(graph, nodes)
        if reached >= value:
            break
    assert reached >= value
