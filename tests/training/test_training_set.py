import json
import math
import shutil

import numpy as np
import pytest

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs import shards
from ogg_hpc.graphs.shards import GraphStore, check_store
from ogg_hpc.problems.exact import brute_force
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.settings import build, load
from ogg_hpc.training.graphs import generated
from ogg_hpc.training.set_settings import TrainingSetSettings
from ogg_hpc.training.training_set import make_training_set

FAMILIES = [
    {"family": "er", "nodes": [4, 12], "p": [0.2, 0.5], "count": 5, "seed": 3},
    {"family": "ba", "nodes": 9, "d": [1, 3], "count": 6},
]
PROBLEMS = ["mvc", "maxcut", "mis", "mds"]


def settings(**changes):
    document = {"graphs": FAMILIES, "graphs_per_shard": 3, "method": "search", "limit": 0.2}
    return build(TrainingSetSettings, {**document, **changes})


def make(folder, **changes):
    return make_training_set(Communicator(), settings(**changes), folder)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder and its record."""
    folder = tmp_path_factory.mktemp("sets") / "set"
    return folder, make(folder, objectives=PROBLEMS)


def same_graph(first, second):
    return np.array_equal(first.row_offsets, second.row_offsets) and np.array_equal(
        first.columns, second.columns
    )


def test_graphs_are_those_of_the_families_in_their_order(made):
    folder, _ = made
    expected = [generated(source, i) for source in settings().graphs for i in range(source.count)]
    assert check_store(folder) == []
    with GraphStore(folder) as store:
        assert [shard.graphs for shard in store.shards] == [3, 3, 3, 2]
        assert len(store) == len(expected) == 11
        assert all(map(same_graph, store, expected))


def test_objectives_are_those_of_the_best_of_all_sets(made):
    with GraphStore(made[0]) as store:
        assert set(store.problems) == set(PROBLEMS)
        for name in PROBLEMS:
            problem = problem_by_name(name)
            best = [problem.objective(graph, brute_force(problem, graph)) for graph in store]
            values, proven = store.objectives(name)
            np.testing.assert_array_equal(values[proven], np.array(best)[proven])
            sign = -1 if problem.maximize else 1
            assert (sign * values >= sign * np.array(best)).all()
            assert proven.all() or name == "mds"


def test_record_counts_what_is_there(made):
    folder, record = made
    assert record == json.loads((folder / "record.json").read_text())
    assert (record["graphs"], record["made"]) == (11, 11)
    er, ba = record["families"]
    assert (er["family"], er["graphs"], ba["family"], ba["graphs"]) == ("er4-12", 5, "ba9", 6)
    with GraphStore(folder) as store:
        assert er["nodes"] + ba["nodes"] == store.nodes.sum()
        assert er["edges"] + ba["edges"] == store.nnz.sum() // 2
        assert ba["nodes"] == 6 * 9
        for name in PROBLEMS:
            values, proven = store.objectives(name)
            assert er["known"][name] == (~np.isnan(values[:5])).sum()
            assert ba["proven"][name] == proven[5:].sum()
    assert set(record["phases"]) == {"generate", "solve", "write", "total"}


def test_what_a_time_limit_cuts_short_is_not_proven(tmp_path):
    family = {"family": "er", "nodes": 60, "p": 0.5, "count": 1}
    make(tmp_path, graphs=[family], objectives=["maxcut", "mvc"], limit=0.05)
    with GraphStore(tmp_path) as store:
        values, proven = store.objectives("maxcut")
        graph = store.read(0)
    assert not proven[0]
    assert graph.m / 2 < values[0] < graph.m


def test_a_solver_proves_what_takes_longer(tmp_path):
    pytest.importorskip("ortools")
    family = {"family": "er", "nodes": 45, "p": 0.2, "count": 2}
    make(tmp_path, graphs=[family], objectives=["mvc"], method="exact", limit=60.0)
    with GraphStore(tmp_path) as store:
        _, proven = store.objectives("mvc")
    assert proven.all()


def test_objectives_are_of_the_weights_of_the_problem(tmp_path):
    family = {"family": "er", "nodes": 10, "p": 0.4, "count": 3, "heaviest": 9}
    make(tmp_path, graphs=[family], objectives=["mvc", "mwvc"])
    with GraphStore(tmp_path) as store:
        for graph, size, weight in zip(
            store, store.objectives("mvc")[0], store.objectives("mwvc")[0], strict=True
        ):
            plain, weighted = problem_by_name("mvc"), problem_by_name("mwvc")
            assert size == len(brute_force(plain, graph.with_node_weights(None)))
            assert weight == weighted.objective(graph, brute_force(weighted, graph))


def test_a_set_without_objectives_has_none(tmp_path):
    record = make(tmp_path)
    assert record["families"][0]["known"] == {}
    with GraphStore(tmp_path) as store:
        assert store.problems == ()


def test_finished_shards_are_kept_and_others_made(made, tmp_path, monkeypatch):
    class KilledError(Exception):
        pass

    def killed(path, *arguments):
        if path.name == "shard-00002.h5":
            raise KilledError
        return write(path, *arguments)

    write = shards.write_store
    monkeypatch.setattr(shards, "write_store", killed)
    with pytest.raises(KilledError):
        make(tmp_path, objectives=PROBLEMS)
    with pytest.raises(InputError, match=r"no manifest\.json: .*one cut short"):
        GraphStore(tmp_path)
    monkeypatch.undo()
    (tmp_path / "shard-00001.h5").write_bytes(b"damaged")
    before = (tmp_path / "shard-00000.h5").stat()
    record = make(tmp_path, objectives=PROBLEMS)
    assert record["made"] == 8
    assert (tmp_path / "shard-00000.h5").stat().st_mtime_ns == before.st_mtime_ns
    for file in made[0].glob("*.h5"):
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()
    assert (tmp_path / "manifest.json").read_text() == (made[0] / "manifest.json").read_text()


def test_a_finished_set_is_left_as_it_is(made):
    folder, record = made
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert make(folder, objectives=PROBLEMS) == record
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"limit": 3.0}, r"holds a training set with limit = 0\.2, not 3\.0; choose another"),
        (
            {"graphs": [FAMILIES[0], {**FAMILIES[1], "seed": 8}]},
            r"graphs\[1\]\.seed = 1, not 8; choose another folder or delete it",
        ),
        ({"graphs": FAMILIES[:1]}, r"holds a training set with graphs = "),
    ],
)
def test_other_settings_than_those_of_the_folder_are_refused(made, changes, message):
    with pytest.raises(SettingsError, match=message):
        make(made[0], objectives=PROBLEMS, **changes)


def test_a_record_that_is_missing_is_made_again(made, tmp_path):
    folder, record = made
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "record.json").unlink()
    again = make(copy, objectives=PROBLEMS)
    assert (again["made"], again["families"]) == (0, record["families"])


def test_a_folder_of_other_graphs_is_refused(made, tmp_path):
    (tmp_path / "manifest.json").write_text((made[0] / "manifest.json").read_text())
    with pytest.raises(SettingsError, match="already holds graphs"):
        make(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"graphs": []}, r"add a \[\[graphs\]\] table"),
        ({"graphs": [{"path": "x.h5"}]}, r"made of generated graphs: use family"),
        ({"graphs": [*FAMILIES, {"family": "er", "heaviest": 3}]}, "some families have `heaviest`"),
        ({"graphs": [*FAMILIES, {"family": "er", "weights": "signs"}]}, "families have `weights`"),
        ({"graphs": [{"family": "er", "p": [0.3, 0.1]}]}, r"`p` is a number or \[least, most\]"),
        ({"graphs": [{"family": "er", "nodse": 3}]}, r"graphs\[0\]\.nodse; did you mean nodes\?"),
        ({"graphs_per_shard": 0}, "graphs_per_shard must be at least 1"),
        ({"objectives": ["mvc", "mvc"]}, "objectives names a problem twice"),
        ({"method": "guess"}, "method is one of exact, .*, search, not 'guess'"),
        ({"limit": 0}, "limit must be positive and finite"),
        ({"limit": math.inf}, "limit must be positive and finite"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes, message):
    with pytest.raises(SettingsError, match=message):
        settings(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"graphs": [{"family": "tree"}]}, "family 'tree' is unknown; use er"),
        ({"objectives": ["mvcc"]}, "mvcc"),
    ],
)
def test_names_that_are_not_known_are_refused_before_anything_is_made(tmp_path, changes, message):
    with pytest.raises(SettingsError, match=message):
        make(tmp_path, **changes)
    assert list(tmp_path.iterdir()) == []


def test_a_bad_key_is_told_with_its_line(tmp_path):
    path = tmp_path / "set.toml"
    path.write_text('limit = 1.0\n\n[[graphs]]\nfamily = "er"\npath = "x"\n')
    with pytest.raises(InputError, match=r"set\.toml:3: a graph source has either"):
        load(TrainingSetSettings, path)
    path.write_text('limit = 1.0\nmethod = "guess"\n\n[[graphs]]\nfamily = "er"\n')
    with pytest.raises(InputError, match=r"set\.toml:2: method is one of"):
        load(TrainingSetSettings, path)
