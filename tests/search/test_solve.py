import json
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

import ogg_hpc
from ogg_hpc.errors import InfeasibleError, InputError, SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.ordering import node_order
from ogg_hpc.graphs.renumbering import renumbered
from ogg_hpc.graphs.reordering import reorder
from ogg_hpc.policies.file import load_policy, save_policy
from ogg_hpc.policies.registry import make_policy
from ogg_hpc.problems.greedy_cover import maximum_degree_greedy
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.problems.solution import read_solution
from ogg_hpc.runtime.communicator import Communicator

RECORD = {
    "problem", "graph", "objective", "feasible", "bound", "gap", "policy", "engine", "select",
    "steps", "seed", "ranks", "device", "seconds", "step_seconds", "collectives", "samples",
    "stopped", "adjacency_bytes", "optimal", "reduced", "peak_memory_bytes", "solution", "warnings",
    "commit", "hosts", "phases", "order",
}  # fmt: skip


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    """A parameter file of an untrained network."""
    path = tmp_path_factory.mktemp("policies") / "mvc.npz"
    save_policy(path, make_policy("s2v", {"width": 8}, seed=2), "s2v", "mvc", {})
    return path


@pytest.fixture(scope="module")
def karate():
    return nx.karate_club_graph()


def is_cover(edges, nodes):
    return all(u in nodes or v in nodes for u, v in edges)


def test_every_kind_of_input_gives_the_same_labels(karate, policy, tmp_path):
    graph = nx.Graph()
    graph.add_nodes_from(sorted(karate.nodes))
    graph.add_edges_from(karate.edges)
    file = tmp_path / "karate.edges"
    file.write_text("".join(f"{u} {v}\n" for u, v in graph.edges))
    inputs = [
        graph,
        nx.to_scipy_sparse_array(graph, weight=None, format="csr"),
        scipy.sparse.coo_matrix(nx.to_numpy_array(graph)),
        file,
        str(file),
        Graph.from_networkx(graph),
    ]
    solved = [
        ogg_hpc.solve(item, policy=str(policy), select="one", reduce=False) for item in inputs
    ]
    assert is_cover(graph.edges, set(solved[0].nodes))
    for item, other in zip(inputs, solved, strict=True):
        assert set(other.nodes) == set(solved[0].nodes), item
        assert other.record["objective"] == len(other.nodes)
        assert (other.record["graph"]["nodes"], other.record["graph"]["edges"]) == (34, 78)


@pytest.mark.parametrize(
    ("problem", "policy"),
    [("mvc", "max-degree"), ("mds", "greedy"), ("maxcut", "sg3"), ("maxcut", None)],
)
def test_record_says_that_one_node_a_step_was_chosen(karate, problem, policy):
    record = ogg_hpc.solve(karate, problem, policy=policy, select="paper", reduce=False).record
    assert record["select"] == "one"


@pytest.mark.parametrize("select", ["one", "paper"])
@pytest.mark.parametrize(
    ("engine", "used"),
    [("auto", "scalar"), ("reference", "reference"), ("frontier", "frontier")],
)
def test_record_has_every_field(karate, policy, select, engine, used, tmp_path):
    output = tmp_path / "cover.json"
    settings = {"select": select, "engine": engine, "seed": 3, "reduce": False}
    solved = ogg_hpc.solve(karate, policy=str(policy), output=output, **settings)
    record = solved.record
    assert set(record) == RECORD
    assert record["graph"] == {
        "path": "Graph", "nodes": 34, "edges": 78, "self_loops": 0, "duplicates": 0,
    }  # fmt: skip
    assert record["problem"] == "mvc"
    assert record["feasible"] is True
    assert (record["policy"], record["engine"]) == (str(policy), used)
    assert (record["select"], record["seed"]) == (select, 3)
    assert (record["samples"], record["stopped"]) == (1, None)
    assert (record["ranks"], record["device"]) == (1, "cpu")
    assert 14 <= record["objective"] == len(solved.nodes)
    assert record["bound"] == 14
    # COO takes 16 bytes an entry, the scalar engine here a bit a pair.
    entries, bits = 2 * 78 * 16 + 35 * 4, 34 * 8 + 8  # and one offset
    assert record["adjacency_bytes"] == (bits if used == "scalar" else entries)
    assert record["gap"] == pytest.approx(1 - 14 / record["objective"])
    assert record["optimal"] == (record["objective"] == 14)
    assert {key: record["reduced"][key] for key in ("nodes", "edges")} == {"nodes": 34, "edges": 78}
    assert set(record["seconds"]) == {
        "read", "reduce", "setup", "policy", "polish", "bound", "verify", "total",
    }  # fmt: skip
    assert set(record["step_seconds"]) == {"median", "mean", "max", "first_100_median"}
    for count in record["collectives"].values():
        assert set(count) == {"calls", "bytes", "seconds", "path"}
        assert (count["bytes"], count["path"]) == (0, "host")
    assert record["peak_memory_bytes"] > 2**20
    assert record["solution"] == str(output)
    if select == "one":
        assert record["steps"] >= record["objective"]
    else:
        assert record["steps"] < record["objective"]
    assert json.loads(json.dumps(record)) == record


@pytest.mark.parametrize("problem", ["mvc", "mis", "clique", "mds", "maxcut"])
@pytest.mark.parametrize("by", ["degree", "bfs", "rcm"])
@pytest.mark.parametrize("reduce", [True, False])
def test_an_order_gives_what_the_reordered_graph_does(karate, problem, by, reduce, tmp_path):
    graph = Graph.from_networkx(nx.relabel_nodes(karate, lambda v: f"member {v}"))
    output = tmp_path / "answer.json"
    solved = ogg_hpc.solve(graph, problem, order=by, reduce=reduce, output=output)
    by_hand = ogg_hpc.solve(renumbered(graph, node_order(graph, by)), problem, reduce=reduce)
    assert set(solved.nodes) == set(by_hand.nodes)
    assert solved.nodes == graph.labels_of(np.sort(graph.ids_of(solved.nodes)))
    assert problem_by_name(problem).violation(graph, read_solution(output, graph).nodes) is None
    for name in ("objective", "bound", "steps", "graph"):
        assert solved.record[name] == by_hand.record[name], name


def test_record_tells_what_an_order_gains(karate):
    graph = Graph.from_networkx(karate)
    record = ogg_hpc.solve(karate, order="rcm", balance="edges").record
    gained = reorder(graph, "rcm", 1, "edges")
    assert record["order"] == {
        "by": "rcm",
        "before": gained.before.summary(),
        "after": gained.after.summary(),
    }
    assert list(record["seconds"])[:3] == ["read", "order", "reduce"]
    assert ogg_hpc.solve(karate).record["order"] is None


def test_loops_and_weights_of_nodes_follow_an_order():
    graph = nx.path_graph(["a", "b", "c", "d", "e"])
    graph.add_edge("e", "e")
    nx.set_node_attributes(graph, {"a": 1, "b": 9, "c": 1, "d": 2, "e": 5}, "weight")
    given = Graph.from_networkx(graph)
    solved = ogg_hpc.solve(given, "mwvc", order="degree")
    assert solved.nodes == ogg_hpc.solve(given, "mwvc").nodes == ["a", "c", "e"]
    assert solved.record["objective"] == 7


def test_a_mistaken_order_is_told_before_the_graph_is_read(tmp_path):
    with pytest.raises(SettingsError, match="order 'random' is unknown"):
        ogg_hpc.solve(tmp_path / "absent.mtx", order="random")


def test_written_solution_verifies_against_the_graph(karate, policy, tmp_path):
    output = tmp_path / "deep" / "cover.json"
    solved = ogg_hpc.solve(karate, policy=str(policy), output=output)
    graph = Graph.from_networkx(karate)
    solution = read_solution(output, graph)
    assert MinimumVertexCover().violation(graph, solution.nodes) is None
    assert graph.labels_of(solution.nodes) == solved.nodes
    assert solution.objective == solved.record["objective"]


def test_greedy_policies_need_no_network(karate):
    record = ogg_hpc.solve(karate, policy="max-degree", reduce=False).record
    graph = Graph.from_networkx(karate)
    order = maximum_degree_greedy(graph)
    assert record["engine"] == "host"
    assert record["steps"] == len(order)
    assert record["objective"] == len(MinimumVertexCover().improve(graph, order))
    assert ogg_hpc.solve(karate, policy="min-degree", reduce=False).record["objective"] == 14


def test_a_problem_without_a_shipped_policy_is_solved_by_its_heuristic(karate, monkeypatch):
    monkeypatch.setattr("ogg_hpc.search.approach.shipped_policies", list)
    solved = ogg_hpc.solve(karate, "maxcut")
    assert (solved.record["policy"], solved.record["engine"]) == ("sg3", "host")
    [warning] = solved.record["warnings"]
    assert warning == "no policy comes with the package for maxcut: solved by sg3"
    named = ogg_hpc.solve(karate, "maxcut", policy="sg3")
    assert named.record["warnings"] == []
    assert named.nodes == solved.nodes
    weight = nx.cut_size(karate, solved.nodes, weight="weight")
    assert weight == solved.record["objective"] <= solved.record["bound"]


def test_labels_are_the_users(policy):
    graph = nx.Graph([("ann", "bob"), ("bob", "cy"), ("cy", "dee"), ("bob", "eve")])
    nodes = ogg_hpc.solve(graph, policy=str(policy)).nodes
    assert is_cover(graph.edges, set(nodes))
    numbered = nx.relabel_nodes(graph, {name: 10 * i for i, name in enumerate(graph)})
    nodes = ogg_hpc.solve(numbered, policy="max-degree").nodes
    assert is_cover(numbered.edges, set(nodes))
    assert all(type(node) is int for node in nodes)


@pytest.mark.parametrize("own", ["max-degree", "network"])
def test_node_with_a_self_loop_is_in_the_cover(policy, own):
    graph = nx.Graph([(0, 1), (1, 2), (3, 3), (2, 2)])
    solved = ogg_hpc.solve(graph, policy=str(policy) if own == "network" else own)
    assert {2, 3} < set(solved.nodes)
    assert solved.record["graph"]["self_loops"] == 2
    assert len(solved.nodes) == 3


@pytest.mark.parametrize("name", ["max-degree", "network"])
@pytest.mark.parametrize(
    "graph",
    [Graph.from_edges(n, [], []) for n in (0, 1, 5)],
    ids=["empty", "one node", "no edges"],
)
def test_graph_with_nothing_to_cover(policy, name, graph):
    solved = ogg_hpc.solve(graph, policy=str(policy) if name == "network" else name)
    assert solved.nodes == []
    record = solved.record
    assert (record["objective"], record["bound"], record["gap"], record["steps"]) == (0, 0, 0, 0)
    assert record["feasible"] is True


def test_weights_reach_the_network_where_they_belong_to_the_problem(tmp_path):
    network = make_policy("s2v", {"width": 1, "layers": 1}, seed=0)
    for name, value in network.named_parameters():
        value.data.fill_(1.0 if name in ("theta2", "theta3", "theta6") else 0.0)
    network.theta7.data[1] = 1.0  # the score is now the sum of positive weights
    save_policy(tmp_path / "sum.npz", network, "s2v", "mvc", {})
    own = tmp_path / "own.py"
    own.write_text(
        "from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover\n"
        "class Weighted(MinimumVertexCover):\n"
        "    uses_weights = True\n"
    )
    for weights, cover in ((None, [1, 2]), ([1, 1, 9], [0, 2])):
        graph = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], weights)
        settings = {"policy": str(tmp_path / "sum.npz"), "select": "one", "reduce": False}
        assert ogg_hpc.solve(graph, f"{own}:Weighted", **settings).nodes == cover
        assert ogg_hpc.solve(graph, **settings).nodes == [1, 2]


def test_directed_graph_is_refused_with_a_remedy(policy, tmp_path):
    arcs = nx.DiGraph([(0, 1), (1, 2)])
    matrix = nx.to_scipy_sparse_array(arcs, format="csr")
    for graph in (arcs, matrix, Graph.from_networkx(arcs)):
        with pytest.raises(SettingsError, match="undirected=True takes every arc as an edge"):
            ogg_hpc.solve(graph, policy="max-degree")
        assert ogg_hpc.solve(graph, policy="max-degree", undirected=True).nodes == [1]
    file = tmp_path / "arcs.mtx"
    file.write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n")
    with pytest.raises(SettingsError, match=r"arcs\.mtx: .*--undirected"):
        ogg_hpc.solve(file, policy="max-degree")
    assert ogg_hpc.solve(file, policy="max-degree", undirected=True).nodes == [2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"policy": "maximum-degree"}, "maximum-degree: no such policy; use max-degree"),
        ({"engine": "quick"}, "engine 'quick' is unknown; use auto, reference"),
        ({"select": "two"}, "cannot read a selection schedule"),
        ({"problem": "tsp"}, "unknown problem 'tsp'; choose one of mvc"),
        ({"problem": "none.py:Class"}, "no such file"),
        ({"collective": "gossip"}, "collective 'gossip' is unknown; use one of allgather"),
        ({"balance": "luck"}, "balance 'luck' is unknown; use one of rows, edges"),
        ({"polish": -1}, "polish takes seconds: a finite number"),
        ({"polish": float("nan")}, "polish takes seconds: a finite number"),
    ],
)
def test_unknown_names_are_refused(karate, policy, settings, message):
    with pytest.raises((InputError, SettingsError), match=message):
        ogg_hpc.solve(karate, **{"policy": str(policy), **settings})


@pytest.mark.parametrize("name", ["inverse-degree", "two-message", "own"])
def test_frontier_engine_is_refused_for_what_it_cannot_follow(karate, tmp_path, name):
    if name == "own":
        name = tmp_path / "own.npz"
        module = tmp_path / "own.py"
        module.write_text(
            "from ogg_hpc.policies.structure2vec import Structure2Vec\n"
            "class Own(Structure2Vec):\n"
            "    def preferences(self, batch, solution, degrees):\n"
            "        return -super().preferences(batch, solution, degrees)\n"
        )
        save_policy(name, make_policy(f"{module}:Own", {"width": 4}, 1), f"{module}:Own", "mvc", {})
        settings = {"policy": str(name), "policy_class": f"{module}:Own"}
        assert ogg_hpc.solve(karate, **settings).record["engine"] == "reference"
    else:
        settings = {"policy": name}
    with pytest.raises(SettingsError, match="the frontier engine needs a structure2vec policy"):
        ogg_hpc.solve(karate, engine="frontier", **settings)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_policies_of_many_layers_are_followed_by_the_frontier_engine(karate, tmp_path, layers):
    path = tmp_path / "deep.npz"
    save_policy(path, make_policy("s2v", {"width": 4, "layers": layers}, 1), "s2v", "mvc", {})
    solved = [
        ogg_hpc.solve(karate, policy=str(path), engine=engine, reduce=False)
        for engine in ("auto", "frontier", "reference")
    ]
    assert solved[0].record["engine"] == ("scalar" if layers < 3 else "frontier")
    assert solved[0].nodes == solved[1].nodes == solved[2].nodes


def test_policy_of_another_problem_is_refused(karate, policy, own_problem):
    with pytest.raises(SettingsError, match="was trained for mvc, not for far-apart"):
        ogg_hpc.solve(karate, own_problem, policy=str(policy))


def test_cover_heuristics_are_refused_for_other_problems(karate, own_problem):
    with pytest.raises(SettingsError, match="max-degree finds vertex covers, not far-apart"):
        ogg_hpc.solve(karate, own_problem, policy="max-degree")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"policy": "nothing"}, "nothing: no such policy"),
        ({"policy": "inverse-degree:-1"}, "exponent must be a number"),
        ({"policy": "two-message", "engine": "frontier"}, "frontier engine needs"),
        ({"policy": "max-degree", "engine": "scalar"}, "max-degree runs on rank 0 without"),
        ({"policy": "two-message", "problem": "own.py:Set"}, "finds vertex covers by their own"),
        ({"policy": "inverse-degree", "problem": "own.py:Heavy"}, "reads no weights"),
        ({"policy": "two-message", "problem": "own.py:Ruled"}, "finds vertex covers by their own"),
    ],
)
def test_what_cannot_be_is_found_before_the_graph_is_read(
    own_problem, tmp_path, monkeypatch, settings, message
):
    monkeypatch.chdir(tmp_path)
    module, _, name = own_problem.rpartition(":")
    (tmp_path / "own.py").write_text(
        Path(module).read_text()
        + f"\nSet = {name}\n"
        + "from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover\n"
        "class Heavy(MinimumVertexCover):\n"
        "    uses_weights = True\n"
        "class Ruled(MinimumVertexCover):\n"
        "    def candidates(self, solution, degrees, batch):\n"
        "        return super().candidates(solution, degrees, batch)\n"
    )
    with pytest.raises((InputError, SettingsError), match=message):
        ogg_hpc.solve("no-such-graph.mtx", **settings)


def test_own_rules_are_not_those_of_the_scalar_engine(karate, policy, tmp_path):
    own = tmp_path / "own.py"
    own.write_text(
        "from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover\n"
        "class Pairs(MinimumVertexCover):\n"
        "    def candidates(self, solution, degrees, batch):\n"
        "        mask = super().candidates(solution, degrees, batch)\n"
        "        low = mask & (degrees <= 3)\n"
        "        return low if low.any() else mask\n"
    )
    settings = {"policy": str(policy), "select": "one", "reduce": False}
    solved = ogg_hpc.solve(karate, f"{own}:Pairs", **settings)
    reference = ogg_hpc.solve(karate, f"{own}:Pairs", engine="reference", **settings)
    assert solved.record["steps"] == reference.record["steps"]
    assert solved.nodes == reference.nodes
    with pytest.raises(SettingsError, match="the rules of vertex cover"):
        ogg_hpc.solve(karate, f"{own}:Pairs", engine="scalar", **settings)


def test_collectives_are_those_of_one_solve(karate, policy):
    comm = Communicator()
    for _ in range(2):
        settings = {"policy": str(policy), "engine": "reference", "reduce": False}
        record = ogg_hpc.solve(karate, comm=comm, **settings).record
        assert record["collectives"]["allgatherv"]["calls"] < 4 * record["steps"]
    assert comm.report()["allgatherv"]["calls"] == 2 * record["collectives"]["allgatherv"]["calls"]
    assert comm.report(comm.report()) == {}


def test_what_is_no_graph_is_refused():
    with pytest.raises(SettingsError, match="cannot take a list as a graph"):
        ogg_hpc.solve([(0, 1)], policy="max-degree")
    with pytest.raises(InputError, match=r"none\.mtx"):
        ogg_hpc.solve("none.mtx", policy="max-degree")


def test_infeasible_result_is_never_written(karate, tmp_path):
    own = tmp_path / "own.py"
    own.write_text(
        "from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover\n"
        "class Careless(MinimumVertexCover):\n"
        "    name = 'careless'\n"
        "    def improve(self, graph, nodes):\n"
        "        return nodes[:-3]\n"
    )
    output = tmp_path / "cover.json"
    with pytest.raises(InfeasibleError, match="ended with no solution: edge") as error:
        ogg_hpc.solve(karate, f"{own}:Careless", policy="max-degree", output=output)
    assert error.value.exit_code == 3
    assert not output.exists()


def test_weights_that_are_no_part_of_the_problem_change_nothing(karate):
    plain = ogg_hpc.solve(nx.Graph(karate.edges), reduce=False)
    heavy = nx.Graph()
    heavy.add_weighted_edges_from((u, v, -1.5 * (u + 1)) for u, v in karate.edges)
    assert ogg_hpc.solve(heavy, reduce=False).nodes == plain.nodes


def test_scalar_engine_needs_no_torch(karate, tmp_path):
    nx.write_edgelist(karate, tmp_path / "karate.txt", data=False)
    code = (
        "import sys, ogg_hpc; solved = ogg_hpc.solve(sys.argv[1]);"
        "print(solved.record['engine'], 'torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "karate.txt")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["scalar", "False"]


def test_own_problem_is_solved_and_verified(karate, own_problem, tmp_path):
    path = tmp_path / "own.npz"
    save_policy(path, make_policy("s2v", {"width": 4}, 5), "s2v", "far-apart", {})
    assert load_policy(str(path), "far-apart").problem == "far-apart"
    output = tmp_path / "set.json"
    graph = nx.compose(karate, nx.empty_graph(range(100, 140)))  # isolated nodes belong to it
    near = {node: {node, *graph[node]} for node in graph}
    solved = ogg_hpc.solve(graph, own_problem, policy=str(path), select="one", output=output)
    chosen = set(solved.nodes)
    assert all(len(chosen & near[node]) <= 1 for node in graph)
    assert all(any(chosen & near[other] for other in near[node]) for node in graph)  # maximal
    assert set(range(100, 140)) < chosen
    assert solved.record["problem"] == json.loads(output.read_text())["problem"]
    assert solved.record["objective"] == len(chosen)
    assert solved.record["bound"] == 44  # karate is dominated by 4 nodes
    assert solved.record["gap"] == pytest.approx((44 - len(chosen)) / len(chosen))


@pytest.mark.parametrize("engine", ["auto", "reference", "scalar"])
@pytest.mark.parametrize("policy", ["two-message", "inverse-degree:2"])
def test_message_policies_find_the_optimum_of_karate_by_every_engine(karate, engine, policy):
    solved = ogg_hpc.solve(karate, policy=policy, engine=engine, select="one", reduce=False)
    assert solved.record["objective"] == 14
    assert solved.record["engine"] == ("reference" if engine == "reference" else "scalar")


@pytest.mark.parametrize("share", [-0.1, float("nan"), float("inf")])
def test_a_share_that_cannot_be_is_refused(karate, share):
    with pytest.raises(SettingsError, match="refresh_above"):
        ogg_hpc.solve(karate, policy="two-message", refresh_above=share)
