"""Problems without a policy of their own: by covers of another graph, or by a heuristic."""

import networkx as nx
import numpy as np
import pytest

import ogg_hpc
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi, model_rb
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.policies.file import save_policy
from ogg_hpc.policies.registry import make_policy
from ogg_hpc.problems import problem_by_name
from ogg_hpc.search.approach import find_approach


@pytest.fixture(scope="module")
def karate():
    return nx.karate_club_graph()


COVER_POLICIES = ["mvc", "two-message", "inverse-degree", "min-degree"]


@pytest.mark.parametrize("policy", COVER_POLICIES)
@pytest.mark.parametrize("reduce", [False, True])
def test_independent_set_is_the_complement_of_the_cover(karate, policy, reduce):
    cover = ogg_hpc.solve(karate, "mvc", policy=policy, reduce=reduce)
    solved = ogg_hpc.solve(karate, "mis", policy=policy, reduce=reduce)
    assert set(solved.nodes) == set(karate) - set(cover.nodes)
    for key in ("policy", "engine", "steps"):
        assert solved.record[key] == cover.record[key]
    assert solved.record["problem"] == "mis"
    assert solved.record["bound"] == 34 - cover.record["bound"]
    assert solved.record["warnings"] == []


@pytest.mark.parametrize("policy", COVER_POLICIES)
def test_clique_is_the_complement_of_a_cover_of_the_complement(karate, policy):
    solved = ogg_hpc.solve(karate, "clique", policy=policy, reduce=False)
    cover = ogg_hpc.solve(nx.complement(karate), "mvc", policy=policy, reduce=False)
    assert set(solved.nodes) == set(karate) - set(cover.nodes)
    assert solved.record["objective"] <= solved.record["bound"] == 5  # by colours
    assert solved.record["graph"]["edges"] == 78


@pytest.mark.parametrize(
    ("file", "problem", "at_least", "optimum"),
    [
        ("karate.graph", "mis", 20, 20),
        ("jazz.graph", "mis", 40, 40),
        ("karate.graph", "clique", 5, 5),
        ("C125.9.clq", "clique", 34, 34),
        ("brock200_2.clq", "clique", 12, 12),
        ("karate.graph", "mds", 4, 4),
    ],
)
def test_known_numbers_are_approached_out_of_the_box(
    shared_data, tmp_path, file, problem, at_least, optimum
):
    output = tmp_path / "solution.json"
    record = ogg_hpc.solve(shared_data / "mvc" / file, problem, output=output).record
    assert output.exists()
    objective, bound = record["objective"], record["bound"]
    if problem_by_name(problem).maximize:
        assert at_least <= objective <= optimum <= bound
    else:
        assert bound <= optimum <= objective <= at_least


def test_looped_nodes_are_in_no_independent_set():
    graph = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 3), (4, 4)])
    assert ogg_hpc.solve(graph, "mis").nodes == [0, 2]
    assert ogg_hpc.solve(graph, "mis", policy="two-message", reduce=False).nodes == [0, 2]


@pytest.mark.parametrize("problem", ["mis", "clique", "mds"])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_graphs_without_edges_are_solved(problem, n):
    solved = ogg_hpc.solve(Graph.from_edges(n, [], []), problem)
    optimum = min(n, 1) if problem == "clique" else n
    assert (solved.record["objective"], solved.record["bound"]) == (optimum, optimum)


def test_dominating_sets_are_found_by_their_own_policy(karate):
    record = ogg_hpc.solve(karate, "mds").record
    assert (record["policy"], record["engine"], record["objective"]) == ("mds", "scalar", 4)
    assert record["warnings"] == []
    with pytest.raises(SettingsError, match="finds vertex covers"):
        ogg_hpc.solve(karate, "mds", policy="two-message")


@pytest.mark.parametrize("problem", ["mis", "clique", "mds"])
def test_policy_trained_for_the_problem_follows_its_own_rules(karate, problem, tmp_path):
    path = tmp_path / "own.npz"
    save_policy(path, make_policy("s2v", {"width": 4}, 5), "s2v", problem, {})
    own = problem_by_name(problem)
    assert type(find_approach(own, str(path), "auto").rules) is type(own)
    graph = Graph.from_networkx(karate)
    solved = [
        ogg_hpc.solve(graph, problem, policy=str(path), engine=engine)
        for engine in ("frontier", "reference")
    ]
    assert solved[0].nodes == solved[1].nodes
    assert own.violation(graph, np.array(solved[0].nodes)) is None


def test_independent_set_policy_alone_beats_greedy():
    families = [
        [model_rb(450, 15, 0.25, seed) for seed in range(6)],
        [erdos_renyi(250, 0.15, seed) for seed in range(6)],
        [barabasi_albert(250, 4, seed) for seed in range(6)],
    ]
    for graphs in families:
        policy, *others = (
            sum(
                ogg_hpc.solve(g, "mis", policy=name, reduce=False).record["objective"]
                for g in graphs
            )
            for name in (None, "min-degree", "max-degree")
        )
        assert policy > max(others)


def test_clique_policy_alone_beats_greedy_on_dense_random_graphs():
    for n, p in ((80, 0.5), (125, 0.7), (125, 0.9), (200, 0.8)):
        graphs = [erdos_renyi(n, p, seed) for seed in range(10)]
        sizes = [
            sum(
                ogg_hpc.solve(g, "clique", policy=policy, reduce=False).record["objective"]
                for g in graphs
            )
            for policy in (None, "greedy")
        ]
        assert sizes[0] > sizes[1]


@pytest.mark.parametrize(("file", "at_least"), [("C125.9.clq", 33), ("brock200_2.clq", 9)])
def test_clique_policy_alone_is_not_below_greedy_on_known_graphs(shared_data, file, at_least):
    graph = shared_data / "mvc" / file
    record = ogg_hpc.solve(graph, "clique", reduce=False).record
    assert (record["policy"], record["warnings"]) == ("clique", [])
    greedy = ogg_hpc.solve(graph, "clique", policy="greedy", reduce=False).record
    assert record["objective"] >= max(at_least, greedy["objective"])


def test_large_clique_needs_reductions_or_the_greedy_heuristic():
    n = 40_000
    ring = Graph.from_edges(n, np.arange(n), (np.arange(n) + 1) % n)
    record = ogg_hpc.solve(ring, "clique").record
    assert (record["objective"], record["optimal"], record["reduced"]["nodes"]) == (2, True, 0)
    wanted = r"complement .* takes 6\.0 GiB.*--policy greedy does without, and --no-reduce"
    with pytest.raises(SettingsError, match=wanted):
        ogg_hpc.solve(ring, "clique", reduce=False)
    record = ogg_hpc.solve(ring, "clique", policy="greedy", reduce=False).record
    assert (record["objective"], record["engine"]) == (2, "host")


def test_a_problem_that_comes_with_nothing_needs_a_policy(own_problem):
    with pytest.raises(SettingsError, match="no policy comes with the package for far-apart, and"):
        ogg_hpc.solve("no-such-graph.mtx", own_problem)


@pytest.mark.parametrize(
    ("problem", "policy", "message"),
    [
        ("mds", "mvc", "was trained for mvc, not for mds"),
        ("mds", "max-degree", "max-degree finds vertex covers, not mds; choose another, or none"),
        ("mds", "two-message", "by their own rules, not mds; choose another, or none"),
        ("mvc", "greedy", "no such policy"),
    ],
)
def test_what_does_not_solve_a_problem_is_refused(problem, policy, message):
    with pytest.raises(Exception, match=message) as error:
        ogg_hpc.solve("no-such-graph.mtx", problem, policy=policy)
    assert error.value.exit_code == 2
