import pytest

from ogg_hpc.graphs.families import parse_family
from ogg_hpc.scaling.sizes import graph_at, growth


def test_strong_scaling_keeps_the_graph():
    assert graph_at("er:n=100,p=0.15,seed=3", None, 64) == "er:n=100,p=0.15,seed=3"


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 16, 4096])
def test_constant_work_keeps_p_n_squared_over_ranks(ranks):
    family = parse_family(graph_at("er:n=15000,p=0.15,seed=3", "entries", ranks))
    n = family.parameters["n"]
    assert n**2 / ranks == pytest.approx(15_000**2, rel=1e-4)
    assert (family.parameters["p"], family.seed) == (0.15, 3)


@pytest.mark.parametrize(
    ("graph", "grows", "nodes", "entries"),
    [
        ("er:n=100,p=0.15", "entries", 2, 4),
        ("er:n=100,p=0.15", "nodes", 4, 16),
        ("ba:n=100,d=4", "entries", 4, 4),
        ("ba:n=100,d=4", "nodes", 4, 4),
    ],
)
def test_growth_from_one_rank_to_four(graph, grows, nodes, entries):
    assert (growth(graph, grows, 4).nodes, growth(graph, grows, 4).entries) == (nodes, entries)
    assert parse_family(graph_at(graph, grows, 4)).parameters["n"] == 100 * nodes


def test_what_else_a_graph_is_told_stays():
    grown = parse_family(graph_at("ba:n=10,d=2,seed=7,lightest=2,heaviest=5", "nodes", 3))
    assert grown.parameters == {"n": 30, "d": 2}
    assert (grown.seed, grown.lightest, grown.heaviest) == (7, 2, 5)


def test_a_file_is_named_by_its_absolute_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert graph_at("g.mtx", None, 2) == str(tmp_path / "g.mtx")
