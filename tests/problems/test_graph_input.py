import numpy as np
import pytest

import ogg_hpc
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.registry import problem_by_name, problem_names

PATH = Graph.from_edges(5, np.arange(4), np.arange(1, 5))


def path_with(edges, nodes):
    u, v, _ = PATH.edges()
    graph = Graph.from_edges(5, u, v, np.array(edges, float))
    return graph.with_node_weights(np.array(nodes, float))


@pytest.mark.parametrize("name", problem_names())
def test_sums_of_weights_that_are_no_number_are_refused_where_they_count(name):
    problem = problem_by_name(name)
    graph = path_with([-1e308, 1e308, 1, 1e308], [1e308, 1, 1e308, 1, 1])
    if problem.uses_weights or problem.uses_node_weights:
        with pytest.raises(SettingsError, match="divide all of them by the same number"):
            ogg_hpc.solve(graph, name)
    else:
        assert ogg_hpc.solve(graph, name).nodes == ogg_hpc.solve(PATH, name).nodes


@pytest.mark.parametrize("name", problem_names())
@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**1000])
def test_weights_may_be_of_any_size(name, unit):
    weights = [1, 3, 2, 1], [1, 2, 3, 1, 2]
    plain, scaled = (
        ogg_hpc.solve(path_with(*(factor * np.array(each) for each in weights)), name)
        for factor in (1.0, unit)
    )
    assert scaled.nodes == plain.nodes
