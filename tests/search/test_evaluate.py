import dataclasses

import numpy as np
import pytest

from ogg_hpc.errors import InputError, MissingExtraError, SettingsError
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.shards import Objective, SolvedGraph, write_shards, write_store
from ogg_hpc.problems.exact import brute_force
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.collection import listed, stored_objectives
from ogg_hpc.search.evaluate import Evaluation, evaluate
from ogg_hpc.search.evaluation_tables import (
    markdown_table,
    ratio_table,
    read_best_known,
    rows_from_csv,
    rows_to_csv,
    summarise,
    write_plot,
)
from ogg_hpc.search.methods import Found, Search, exact_method, greedy_methods
from ogg_hpc.search.settings import SolveSettings


def by(policy):
    return Search(policy, SolveSettings(policy=policy, reduce=False))


def compare(sources, methods, **options):
    return evaluate(Communicator(), Evaluation("mvc", listed(sources), methods, **options))


@dataclasses.dataclass(frozen=True)
class Claims:
    """A method that claims what it is told to."""

    name: str
    objective: float
    bound: float = 0

    def __call__(self, comm, graph):
        return Found(self.objective, self.bound, 0.0)


@pytest.fixture
def star(tmp_path):
    (tmp_path / "star.edges").write_text("0 1\n0 2\n0 3\n0 4\n")
    return str(tmp_path / "star.edges")


class TestListed:
    def test_store_folder_and_file_are_listed_graph_by_graph(self, tmp_path, star):
        graphs = [erdos_renyi(9, 0.3, seed) for seed in range(2)]
        write_shards(tmp_path / "shards", graphs, 1)
        write_store(tmp_path / "two.h5", graphs)
        (tmp_path / ".hidden").write_text("")
        (tmp_path / "a.b.edges.gz").write_bytes(b"")
        found = listed([str(tmp_path), str(tmp_path / "shards"), star, f"{tmp_path}/two.h5:1"])
        paths = ["a.b.edges.gz", "star.edges", "two.h5:0", "two.h5:1", "shards:0", "shards:1"]
        paths += ["star.edges", "two.h5:1"]
        assert [each.path for each in found] == [f"{tmp_path}/{path}" for path in paths]
        assert [each.name for each in found[:3]] == ["a.b", "star", "two"]
        families = ["", "", "/two.h5", "/two.h5", "/shards", "/shards", "", ""]
        assert [each.family for each in found] == [f"{tmp_path}{end}" for end in families]
        np.testing.assert_array_equal(found[5].read().columns, graphs[1].columns)

    def test_objectives_of_stores_are_found_by_path(self, tmp_path, star):
        graphs = [erdos_renyi(9, 0.3, seed) for seed in range(3)]
        known = [{"mvc": Objective(3, True)}, {"mis": Objective(4, True)}, {"mvc": Objective(5, 0)}]
        solved = [SolvedGraph(*each) for each in zip(graphs, known, strict=True)]
        write_shards(tmp_path / "shards", solved, 2)
        write_store(tmp_path / "one.h5", solved[:1])
        store, one = f"{tmp_path}/shards", f"{tmp_path}/one.h5"
        found = stored_objectives(listed([store, one, star, "er:n=9,p=0.3"]), "mvc")
        assert found.known == {f"{store}:0": 3, f"{store}:2": 5, one: 3}
        assert found.proven == {f"{store}:0": 3, one: 3}
        assert stored_objectives(listed([f"{store}:2"]), "mvc").known == {f"{store}:2": 5}
        assert stored_objectives(listed([f"{store}:2"]), "maxcut").known == {}

    def test_family_is_listed_graph_by_graph(self):
        first, second = listed(["er:n=9,p=0.3,count=2,seed=4"])
        assert second.path == second.name == "er:n=9,p=0.3,count=2,seed=4:1"
        assert (first.family, first.read().n) == ("er:n=9,p=0.3,count=2,seed=4", 9)

    @pytest.mark.parametrize("name", ["none.mtx", "none", "none.h5:3"])
    def test_missing_file_is_named(self, tmp_path, name):
        with pytest.raises(InputError, match=f"{name}: no such file"):
            listed([str(tmp_path / name)])

    def test_empty_folder_is_named(self, tmp_path):
        with pytest.raises(InputError, match="holds no graph file"):
            listed([str(tmp_path)])


class TestEvaluate:
    def test_exact_finds_the_optimum_and_no_ratio_is_below_one(self):
        pytest.importorskip("ortools")
        methods = [by("mvc"), *greedy_methods(SolveSettings(reduce=False)), exact_method("mvc", 10)]
        sources = ["er:n=14,p=0.3,count=2,seed=2", "ba:n=16,d=3"]
        rows = compare(sources, methods)
        assert len(rows) == 3 * 10
        optima = {
            each.path: len(brute_force(MinimumVertexCover(), each.read()))
            for each in listed(sources)
        }
        for row in rows:
            assert row.best == optima[row.graph]
            assert row.best_from == "optimum"
            assert row.bound == row.best
            assert row.ratio == row.objective / row.best >= 1
            assert row.optimal == (row.objective == row.best)
            assert row.seconds >= 0
        assert {row.ratio for row in rows if row.method == "exact"} == {1}

    @pytest.mark.parametrize("problem", ["mis", "clique", "mds", "maxcut"])
    def test_every_problem_has_heuristics_and_an_exact_solver(self, problem):
        pytest.importorskip("ortools")
        settings = SolveSettings(problem=problem, reduce=False)
        methods = [*greedy_methods(settings), exact_method(problem, 10)]
        graphs = listed(["er:n=14,p=0.3,seed=2"])
        rows = evaluate(Communicator(), Evaluation(problem, graphs, methods))
        optima = {each.path: problem_by_name(problem).optimum(each.read()) for each in graphs}
        for row in rows:
            assert row.best == optima[row.graph]
            assert row.best_from == "optimum"
            assert row.ratio >= 1
        assert {row.ratio for row in rows if row.method == "exact"} == {1}

    def test_methods_that_a_problem_has_not_are_refused(self, own_problem):
        with pytest.raises(SettingsError, match="kamis finds vertex covers, not mds"):
            exact_method("mds", 10, "kamis")
        with pytest.raises(SettingsError, match="no heuristic to compare with"):
            greedy_methods(SolveSettings(problem=own_problem))
        with pytest.raises(SettingsError, match="takes a graph of 99 nodes: leave exact out"):
            exact_method(own_problem, 10)(Communicator(), erdos_renyi(99, 0.1, seed=1))

    def test_rows_are_in_the_order_of_graphs_and_methods(self, star):
        rows = compare(["ba:n=9,d=2,count=2", star], [by("min-degree"), by("max-degree")])
        assert [row.method for row in rows] == ["min-degree", "max-degree"] * 3
        assert [row.graph for row in rows[::2]] == [f"ba:n=9,d=2,count=2:{i}" for i in (0, 1)] + [
            star
        ]
        assert (rows[-1].nodes, rows[-1].edges, rows[-1].objective) == (5, 4, 1)

    @pytest.mark.parametrize(
        ("objectives", "bound", "known", "best", "source", "ratio"),
        [
            ((12, 15), 0, None, 12, "found", 1.25),
            ((12, 15), 12, 10, 12, "optimum", 1.25),
            ((12, 15), 0, 10, 10, "file", 1.5),
            ((12, 15), 0, 12, 12, "file", 1.25),
            ((12, 15), 0, 14, 12, "found", 1.25),  # better than what was known
            ((0, 0), 0, None, 0, "optimum", 1.0),
        ],
    )
    def test_ratio_is_to_the_best_value(self, star, objectives, bound, known, best, source, ratio):
        methods = [Claims("a", objectives[0], bound), Claims("b", objectives[1])]
        known_values = {} if known is None else {"star": known}
        row = compare([star], methods, best_known=known_values)[1]
        assert (row.best, row.best_from, row.ratio) == (best, source, ratio)

    @pytest.mark.parametrize(
        ("claimed", "listed_value", "best", "source", "bound"),
        [
            (12, None, [10, 11, 12], ["optimum", "file", "found"], [10, 5, 5]),
            (10, None, [10, 10, 10], ["optimum", "found", "found"], [10, 5, 5]),
            (11, 9, [10, 9, 9], ["optimum", "file", "file"], [10, 5, 5]),
        ],
    )
    def test_ratio_is_to_what_a_store_holds(
        self, tmp_path, claimed, listed_value, best, source, bound
    ):
        graph = erdos_renyi(9, 0.3, 1)
        known = [{"mvc": Objective(10, True)}, {"mvc": Objective(11, False)}, {}]
        write_store(tmp_path / "s.h5", [SolvedGraph(graph, each) for each in known])
        graphs = listed([str(tmp_path / "s.h5")])
        stored = stored_objectives(graphs, "mvc")
        values = {} if listed_value is None else {each.path: listed_value for each in graphs}
        evaluation = Evaluation("mvc", graphs, [Claims("a", claimed, 5)], values, stored=stored)
        rows = evaluate(Communicator(), evaluation)
        assert [row.best for row in rows] == best
        assert [row.best_from for row in rows] == source
        assert [row.bound for row in rows] == bound
        assert [row.optimal for row in rows] == [claimed == 10, False, False]

    def test_ratio_is_turned_where_more_is_better(self, own_problem, star):
        methods = [Claims("a", 4, bound=5), Claims("b", 3, bound=6)]
        evaluation = Evaluation(own_problem, listed([star]), methods)
        rows = evaluate(Communicator(), evaluation)
        assert [row.ratio for row in rows] == [1, pytest.approx(4 / 3)]
        assert {row.bound for row in rows} == {5}

    def test_methods_are_checked_before_a_graph_is_read(self, tmp_path):
        (tmp_path / "damaged.mtx").write_text("%%MatrixMarket what\n")
        with pytest.raises(InputError, match="no such policy"):
            compare([str(tmp_path)], [by("none.npz")])
        with pytest.raises(InputError, match=r"damaged\.mtx"):
            compare([str(tmp_path)], [by("max-degree")])

    @pytest.mark.parametrize("methods", [[], [Claims("a", 1), Claims("a", 2)]])
    def test_methods_need_names_of_their_own(self, star, methods):
        with pytest.raises(SettingsError, match="names of their own"):
            compare([star], methods)


@pytest.fixture
def rows():
    return compare(["ba:n=20,d=2,count=2", "er:n=9,p=0.5"], [by("max-degree"), by("min-degree")])


class TestTables:
    def test_csv_round_trip(self, rows):
        assert rows_from_csv(rows_to_csv(rows)) == rows

    def test_summary_holds_mean_and_worst_of_each_family_and_method(self, rows):
        rows = [dataclasses.replace(row, ratio=1 + i / 8) for i, row in enumerate(rows)]
        values = [(s.family, s.method, s.graphs, s.mean, s.worst) for s in summarise(rows)]
        assert values == [
            ("ba:n=20,d=2,count=2", "max-degree", 2, 1.125, 1.25),
            ("ba:n=20,d=2,count=2", "min-degree", 2, 1.25, 1.375),
            ("er:n=9,p=0.5", "max-degree", 1, 1.5, 1.5),
            ("er:n=9,p=0.5", "min-degree", 1, 1.625, 1.625),
        ]

    def test_markdown_is_the_table_of_ratios(self, rows):
        rows = [dataclasses.replace(row, ratio=1.25, family="a|b") for row in rows]
        assert ratio_table(summarise(rows))[0] == ["graphs", "max-degree", "min-degree"]
        assert markdown_table(summarise(rows)).splitlines() == [
            "| graphs | max-degree | min-degree |",
            "| --- | --- | --- |",
            r"| 3 of a\|b | 1.2500 (1.2500) | 1.2500 (1.2500) |",
        ]

    @pytest.mark.parametrize("suffix", ["png", "svg"])
    def test_plot_is_a_picture(self, rows, tmp_path, suffix):
        pytest.importorskip("matplotlib")
        write_plot(tmp_path / f"plot.{suffix}", summarise(rows))
        start = (tmp_path / f"plot.{suffix}").read_bytes()[:5]
        assert start == {"png": b"\x89PNG\r", "svg": b"<?xml"}[suffix]

    def test_plot_of_an_unknown_format_is_refused(self, rows, tmp_path):
        pytest.importorskip("matplotlib")
        with pytest.raises(InputError, match=r"plot\.mp3: cannot be drawn: .*mp3"):
            write_plot(tmp_path / "plot.mp3", summarise(rows))
        assert list(tmp_path.iterdir()) == []

    def test_plot_without_matplotlib_says_what_to_install(self, rows, tmp_path, monkeypatch):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(MissingExtraError, match=r"pip install 'ogg-hpc\[plot\]'"):
            write_plot(tmp_path / "plot.png", summarise(rows))


class TestBestKnown:
    def test_column_is_that_of_the_problem_or_the_second(self, tmp_path):
        path = tmp_path / "best.csv"
        path.write_text('graph,vertex_cover,mis,source\na,3,4,"x, y"\nb.mtx,5.5,6,\n')
        assert read_best_known(path, "mvc") == {"a": 3, "b.mtx": 5.5}
        assert read_best_known(path, "mis") == {"a": 4, "b.mtx": 6}

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", ":1: expected a header"),
            ("name,mvc\na,3\n", ":1: expected a header"),
            ("graph\na\n", ":1: expected a header"),
            ("graph,mvc\na,3\nb,many\n", ":3: expected a number in column mvc, not 'many'"),
            ("graph,mvc\na\n", ":2: expected a number in column mvc, not None"),
        ],
    )
    def test_fault_is_named_with_its_line(self, tmp_path, text, message):
        (tmp_path / "best.csv").write_text(text)
        with pytest.raises(InputError) as error:
            read_best_known(tmp_path / "best.csv", "mvc")
        assert message in str(error.value)

    def test_missing_file_is_named(self, tmp_path):
        with pytest.raises(InputError, match="no such file"):
            read_best_known(tmp_path / "best.csv", "mvc")
