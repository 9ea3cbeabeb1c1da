"""Any graph, solved in any way and stopped at any moment, on one rank."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stopping import AfterQuestions

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems import problem_by_name
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.settings import SolveSettings
from ogg_hpc.search.solve import solve_graph


@pytest.mark.parametrize(
    ("problem", "policy", "engine"),
    [
        ("mvc", "mvc", "scalar"),
        ("mvc", "mvc-s2v", "scalar"),
        ("mvc", "mvc-s2v", "frontier"),
        ("mvc", "mvc-s2v", "reference"),
        ("mis", "mis", "auto"),
        ("mis", "min-degree", "auto"),
        ("clique", "clique", "auto"),
        ("clique", "greedy", "auto"),
        ("mwvc", "mwvc", "scalar"),
        ("mwis", None, "auto"),
        ("mds", "mds", "scalar"),
        ("maxcut", "maxcut", "scalar"),
        ("maxcut", "maxcut", "reference"),
    ],
)
@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 20), density=st.floats(0, 1),
    k=st.integers(0, 25), samples=st.integers(1, 3), reduce=st.booleans(),
    order=st.sampled_from([None, "degree", "rcm"]),
)  # fmt: skip
def test_any_stop_gives_a_verified_answer_and_a_bound(
    problem, policy, engine, seed, n, density, k, samples, reduce, order
):
    rules, generator = problem_by_name(problem), np.random.default_rng(seed)
    drawn = nx.gnp_random_graph(n, density, seed=seed)
    drawn.add_edges_from((v, v) for v in np.flatnonzero(generator.random(n) < 0.1).tolist())
    graph = Graph.from_networkx(drawn)
    if rules.uses_node_weights:
        graph = graph.with_node_weights(generator.integers(1, 9, n))
    if policy in ("min-degree", "greedy", None):
        samples = 1
    how = SolveSettings(
        problem,
        policy,
        engine=engine,
        select="one",
        samples=samples,
        reduce=reduce,
        seed=seed,
        order=order,
    )
    solved = solve_graph(Communicator(), graph, how, stop=AfterQuestions(k))
    nodes, record = np.array(solved.nodes, np.int64), solved.record
    assert rules.violation(graph, nodes) is None
    assert rules.objective(graph, nodes) == record["objective"]
    sign = 1 if rules.maximize else -1
    assert sign * record["objective"] <= sign * record["bound"]
