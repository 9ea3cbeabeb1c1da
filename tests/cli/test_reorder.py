import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from ogg_hpc.graphs.generators import watts_strogatz
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.ordering import ORDERS, node_order
from ogg_hpc.graphs.renumbering import renumbered
from ogg_hpc.graphs.reordering import reorder
from ogg_hpc.graphs.shards import (
    GraphStore,
    Objective,
    SolvedGraph,
    check_store,
    read_store_graph,
    write_store,
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ring(here):
    """A scrambled ring of 400 nodes in ring.h5."""
    graph = watts_strogatz(400, 4, 0.0, 1)
    graph = renumbered(graph, np.random.default_rng(1).permutation(graph.n))
    write_store("ring.h5", [graph], {"source": "a ring"})
    return graph


@pytest.mark.parametrize("by", ORDERS)
def test_a_store_is_renumbered_with_its_labels_and_source(ogg, one_object, ring, by):
    code, out, err = ogg(
        "data", "reorder", "ring.h5", "new.h5", "--by", by, "--parts", 3, "--balance", "edges",
        "--json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    expected = reorder(ring, by, 3, "edges")
    assert one_object(out) == {
        "output": "new.h5", "order": by, "parts": 3, "balance": "edges",
        "before": expected.before.record(), "after": expected.after.record(),
    }  # fmt: skip
    assert check_store("new.h5") == []
    new = read_store_graph("new.h5")
    assert new.labels.tolist() == ring.labels_of(node_order(ring, by, 3, "edges"))
    assert np.array_equal(new.columns, expected.graph.columns)
    how = {"parts": 3, "balance": "edges"} if by == "metis" else {}
    with GraphStore("new.h5") as store:
        assert store.attributes == {"source": "a ring", "order": by, **how}


def test_known_objectives_and_counts_of_the_input_stay(ogg, here):
    graph = Graph.from_edges(4, [0, 1, 1, 2, 3], [1, 0, 2, 3, 3])
    known = {"mvc": Objective(3, True), "mis": Objective(1, False)}
    write_store("g.h5", [SolvedGraph(graph, known)])
    assert ogg("data", "reorder", "g.h5", "new.h5", "--by", "degree")[0] == 0
    with GraphStore("new.h5") as store:
        assert store.objectives_of(0) == known
        new = store.read(0)
    assert new.labels_of(new.looped) == [3]
    counts = ("self_loops", "duplicates", "reversed_pairs")
    assert [getattr(new, name) for name in counts] == [getattr(graph, name) for name in counts]
    assert graph.reversed_pairs == 1


def test_the_table_tells_what_is_gained(ogg, ring):
    code, out, _ = ogg("data", "reorder", "ring.h5", "new.h5", "--by", "rcm")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    gained = reorder(ring, "rcm", 4, "rows")
    assert lines[0] == ["over", "4", "ranks", "as", "given", "rcm"]
    assert ["halo", "max", str(gained.before.halo.max()), str(gained.after.halo.max())] in lines
    assert ["row", "imbalance", "1.00", "1.00"] in lines


def test_a_solution_of_the_new_store_is_one_of_the_old(ogg, here):
    graph = Graph.from_networkx(nx.relabel_nodes(nx.karate_club_graph(), lambda v: f"m{v}"))
    write_store("club.h5", [graph])
    assert ogg("data", "reorder", "club.h5", "new.h5", "--by", "bfs")[0] == 0
    assert ogg("solve", "new.h5", "--output", "cover.json")[0] == 0
    code, out, _ = ogg("verify", "club.h5", "cover.json")
    assert (code, out) == (0, "cover.json: feasible mvc solution with objective 14\n")


def test_solve_shows_the_order_and_its_answer_verifies(ogg, ring):
    code, out, _ = ogg("solve", "ring.h5", "--order", "metis", "--balance", "edges")
    assert code == 0
    [line] = [line for line in out.splitlines() if line.startswith(" order")]
    assert line.split()[1:5] == ["metis:", "largest", "halo", "from"]
    assert ogg("verify", "ring.h5", "ring.mvc.json")[0] == 0
    assert json.loads(Path("ring.mvc.json").read_text())["graph"]["path"] == "ring.h5"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ring.h5", "new.h5", "--by", "size"], "order 'size' is unknown"),
        (["ring.h5", "new.h5", "--by", "rcm", "--parts", "0"], "--parts must be at least 1"),
        (["ring.h5", "new.h5", "--by", "rcm", "--balance", "x"], "balance 'x' is unknown"),
        (["ring.h5", "new.txt", "--by", "rcm"], "name it with the suffix .h5"),
        (["text.txt", "new.h5", "--by", "rcm"], "text.txt: is no store of graphs"),
        (["absent.h5", "new.h5", "--by", "rcm"], "absent.h5: "),
        (["two.h5", "new.h5", "--by", "rcm"], "two.h5: holds 2 graphs; expected a store of one"),
    ],
)
def test_mistakes_are_one_message(ogg, ring, arguments, message):
    write_store("two.h5", [ring, ring])
    Path("text.txt").write_text("1 2\n")
    code, out, err = ogg("data", "reorder", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert not Path("new.h5").exists()
