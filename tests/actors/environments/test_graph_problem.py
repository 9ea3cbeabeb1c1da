import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.actors.environments.registry import make_environment
from ogg_hpc.actors.schema import Schema
from ogg_hpc.errors import SettingsError
from ogg_hpc.problems.exact import brute_force
from ogg_hpc.problems.registry import problem_by_name, problem_names
from ogg_hpc.training.graphs import whole_graphs
from ogg_hpc.training.settings import GraphSource

SMALL = {"family": "er", "nodes": [4, 7], "p": 0.4, "count": 6, "seed": 3}


def options(problem, **source):
    table = {**SMALL, **source}
    if problem.uses_weights:
        table["weights"] = "signs"
    if problem.uses_node_weights:
        table["heaviest"] = 7
    return {"problem": problem.name, "graphs": [table]}


@pytest.fixture(params=problem_names())
def problem(request):
    return problem_by_name(request.param)


def test_gymnasium_finds_no_fault(problem):
    env = make_environment("graph-problem", options(problem))
    check_env(env, skip_render_check=True)
    assert Schema.of(env).actions[0].kind == "discrete"


def played(env, graph, choose):
    """Play an episode; return its return, info, and the nodes of the solution."""
    observation, _ = env.reset(options={"graph": graph})
    total = 0.0
    while True:
        action = choose(np.flatnonzero(observation["action_mask"]))
        observation, reward, terminated, truncated, info = env.step(action)
        assert observation in env.observation_space
        total += reward
        if terminated or truncated:
            assert terminated
            return total, info["episode"], np.flatnonzero(observation["selected"])


def test_returns_are_objectives_and_reach_the_best(problem):
    env = make_environment("graph-problem", options(problem))
    table = options(problem)["graphs"][0]
    source = GraphSource(**{**table, "nodes": tuple(table["nodes"])})
    generator = np.random.default_rng(0)
    sign = 1 if problem.maximize else -1
    reached = 0
    for number, graph in enumerate(whole_graphs(source)):
        best = problem.objective(graph, brute_force(problem, graph))
        found = []
        for _ in range(40):
            total, episode, nodes = played(env, number, generator.choice)
            assert problem.violation(graph, nodes) is None
            assert total == pytest.approx(sign * problem.objective(graph, nodes))
            assert episode == {"objective": pytest.approx(sign * total), "invalid": 0}
            found.append(total)
        assert max(found) <= sign * best + 1e-9
        reached += max(found) == pytest.approx(sign * best)
    assert reached >= 5  # of 6: random play finds the best of graphs as small as these


def test_an_action_that_cannot_be_taken_changes_nothing_and_costs(problem):
    env = make_environment("graph-problem", {**options(problem), "penalty": 0.25})
    before, _ = env.reset(options={"graph": 0})
    allowed = np.flatnonzero(before["action_mask"])
    before, *_ = env.step(allowed[0])
    forbidden = np.flatnonzero(before["action_mask"] == 0)
    for invalid in range(1, before["nodes"] + 1):
        after, reward, terminated, truncated, info = env.step(forbidden[-1])
        assert (reward, terminated) == (-0.25, False)
        for name, value in before.items():
            np.testing.assert_array_equal(after[name], value)
        assert truncated == (invalid == before["nodes"])
    assert info["episode"]["invalid"] == before["nodes"]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_an_observation_tells_the_graph(seed):
    env = make_environment("graph-problem", options(problem_by_name("maxcut")))
    observation, info = env.reset(seed=seed)
    again, _ = env.reset(seed=seed)
    source = GraphSource(**{**SMALL, "nodes": (4, 7)}, weights="signs")
    graph = list(whole_graphs(source))[info["graph"]]
    sources, targets, weights = graph.edges()
    edges, padding = np.split(observation["edges"], [graph.m], axis=1)
    np.testing.assert_array_equal(edges, [sources, targets])
    assert (padding == env.observation_space["nodes"].n - 1).all()
    np.testing.assert_array_equal(observation["edge_weights"][: graph.m], weights)
    assert observation["nodes"] == graph.n == observation["active"].sum()
    for name, value in observation.items():
        np.testing.assert_array_equal(again[name], value)


def test_a_large_sparse_graph_takes_what_its_edges_take():
    table = {"family": "ba", "nodes": 20_000, "d": 2, "count": 1}
    env = make_environment("graph-problem", {"problem": "mvc", "graphs": [table]})
    observation, _ = env.reset(seed=1)
    assert sum(np.asarray(value).nbytes for value in observation.values()) < 60 * 20_000
    assert not env.step(np.argmax(observation["action_mask"]))[2]


def test_graphs_without_edges_are_passed_over_or_refused():
    def make(**source):
        table = {"family": "er", "nodes": 5, "count": 4, **source}
        return make_environment("graph-problem", {"problem": "mvc", "graphs": [table]})

    with pytest.raises(SettingsError, match="no graph has a candidate node"):
        make(p=0.0).reset(seed=0)
    with pytest.raises(SettingsError, match="graph 2 has no candidate node"):
        make(p=0.0).reset(options={"graph": 2})
    sparse = make(p=0.07, count=20)
    for seed in range(20):
        assert sparse.reset(seed=seed)[0]["action_mask"].any()
    with pytest.raises(SettingsError, match=r"\[\[environment.options.graphs\]\]"):
        make_environment("graph-problem", {"problem": "mvc"})
    with pytest.raises(SettingsError, match=r"environment.options.graphs.famly; did you mean"):
        make_environment("graph-problem", {"graphs": [{"famly": "er"}]})


def test_environments_of_a_process_share_their_graphs():
    mvc = options(problem_by_name("mvc"))
    first, second = (make_environment("graph-problem", mvc) for _ in range(2))
    other = make_environment("graph-problem", options(problem_by_name("mvc"), seed=4))
    assert isinstance(first, gymnasium.Env)
    assert first.graphs is second.graphs
    assert first.digest == second.digest != other.digest
