import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import write_store
from ogg_hpc.policies.degree_messages import NETWORK, message_form, two_messages
from ogg_hpc.policies.file import load_policy, save_parameters
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.run_folder import resume_settings
from ogg_hpc.search.networks import DEGREE_MESSAGES
from ogg_hpc.search.settings import SolveSettings
from ogg_hpc.search.solve import solve_graph
from ogg_hpc.settings import build
from ogg_hpc.training.fitness import Fitness, Player
from ogg_hpc.training.run import train
from ogg_hpc.training.settings import (
    EvolutionSettings,
    GraphSource,
    ParallelSettings,
    TrainSettings,
)
from ogg_hpc.training.strategy import Strategy


@pytest.fixture
def settings():
    def make(**evolution):
        return build(
            TrainSettings,
            {
                "policy": "degree-messages",
                "method": "evolution",
                "train": [
                    {"family": "er", "nodes": [30, 40], "p": 0.2, "count": 4},
                    {"family": "ba", "nodes": 40, "d": 3, "count": 3},
                ],
                "validation": [{"family": "er", "nodes": 40, "p": 0.2, "count": 4, "seed": 9}],
                "evolution": {"generations": 6, "population": 5, **evolution},
                "output": {"evaluate_every": 2, "checkpoint_every": 3, "tensorboard": False},
            },
        )

    return make


def run(settings, folder, resume=False):
    return train(Communicator(), settings, folder, resume=resume)


def numbers(path):
    return np.concatenate(list(load_policy(str(path), "mvc").arrays.values()))


def rows(folder):
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]


@pytest.mark.parametrize("graphs", ["fixed", "fresh"])
def test_interrupted_run_ends_with_the_bits_of_an_undisturbed_one(settings, tmp_path, graphs):
    whole = run(settings(graphs=graphs), tmp_path / "whole")
    run(settings(graphs=graphs, generations=3), tmp_path / "part")
    longer = resume_settings(TrainSettings, tmp_path / "part", ["evolution.generations=6"])
    again = run(longer, tmp_path / "part", resume=True)
    for name in ("best.npz", "last.npz"):
        np.testing.assert_array_equal(
            numbers(tmp_path / "whole" / name), numbers(tmp_path / "part" / name)
        )
    assert again["best"] == whole["best"]
    generations = [row for row in rows(tmp_path / "part") if "spread" in row]
    assert generations == [row for row in rows(tmp_path / "whole") if "spread" in row]
    assert [row["step"] for row in generations] == list(range(6))


def test_learned_file_solves_and_first_evaluation_is_of_the_start(settings, tmp_path):
    record = run(settings(), tmp_path)
    assert (record["method"], record["steps"], record["groups"]) == ("evolution", 6, 1)
    assert record["best"]["score"] <= record["first"]["score"]
    first = rows(tmp_path)[0]
    assert first["ratio"] == record["first"]["ratios"]
    stored = load_policy(str(tmp_path / "best.npz"), "mvc")
    assert stored.training["step"] == record["best"]["step"]
    graph = erdos_renyi(40, 0.2, 1)
    found = solve_graph(Communicator(), graph, SolveSettings(policy=str(tmp_path / "best.npz")))
    assert found.record["feasible"]
    assert message_form(stored, 40, 0.05) is not None


def test_runs_of_other_settings_are_not_resumed(settings, tmp_path):
    run(settings(generations=3), tmp_path)
    with pytest.raises(
        SettingsError, match=r"with evolution\.sigma = 0\.3, not 0\.1; only evolution\.generations"
    ):
        run(
            resume_settings(TrainSettings, tmp_path, ["evolution.sigma=0.1"]), tmp_path, resume=True
        )
    with pytest.raises(SettingsError, match=r"beyond evolution\.generations = 2"):
        run(
            resume_settings(TrainSettings, tmp_path, ["evolution.generations=2"]),
            tmp_path,
            resume=True,
        )


@pytest.mark.parametrize("cache", [0, 0.01, 100])
def test_fitness_is_the_mean_ratio_of_covers_solved_one_by_one(tmp_path, cache):
    write_store(tmp_path / "a.h5", [erdos_renyi(n, 0.2, n) for n in (20, 35)])
    write_store(tmp_path / "b.h5", [erdos_renyi(30, 0.1, 30), Graph.from_edges(2, [], [])])
    sources = [GraphSource(path=str(tmp_path / name)) for name in ("a.h5", "b.h5")]
    comm = Communicator()
    fitness = Fitness(comm, Player(comm, MinimumVertexCover(), DEGREE_MESSAGES), sources, cache)
    parameters = {
        "first": np.array([1.0, 0, 0]),
        "second": np.zeros(4),
        "score": np.array([0.0, -2.0]),
    }
    own = str(tmp_path / "own.npz")
    save_parameters(own, NETWORK, {}, parameters, "mvc", {})

    def size(graph, policy):
        settings = SolveSettings(policy=policy, select="one", refresh_above=0.0, reduce=False)
        return solve_graph(comm, graph, settings).record["objective"]

    def ratio(graph):
        least = min(size(graph, f"inverse-degree:{exponent}") for exponent in (1.25, 1.5, 2))
        return size(graph, own) / least

    a, b, c = (ratio(erdos_renyi(n, p, n)) for n, p in ((20, 0.2), (35, 0.2), (30, 0.1)))
    assert max(a, b, c) > 1
    expected = ((a + b) / 2 + (c + 1) / 2) / 2  # nothing covers no edges
    form = two_messages(35, 0.0, **parameters)
    np.testing.assert_allclose(fitness([form, form]), [expected, expected])


def test_policy_whose_search_stops_early_is_the_worst(tmp_path, monkeypatch):
    graph = erdos_renyi(20, 0.3, 1)
    write_store(tmp_path / "a.h5", [graph])
    comm, problem = Communicator(), MinimumVertexCover()
    player = Player(comm, problem, DEGREE_MESSAGES)
    fitness = Fitness(comm, player, [GraphSource(path=str(tmp_path / "a.h5"))])
    monkeypatch.setattr(problem, "violation", lambda graph, nodes: "an edge is not covered")
    assert fitness._objectives([two_messages(20, 0.0, np.zeros(3), np.zeros(4), np.zeros(2))]) == [
        [20]
    ]


def test_strategy_finds_the_least_of_a_quadratic_and_restores_from_values():
    target = np.array([1.0, -2.0, 0.5])
    strategy = Strategy(Communicator(), np.zeros(3), 0.5, 10, seed=1)
    for _ in range(40):
        strategy.tell(((strategy.draw() - target) ** 2).sum(axis=1))
    np.testing.assert_allclose(strategy.mean, target, atol=1e-2)
    again = Strategy(Communicator(), np.zeros(3), 0.5, 10, seed=1)
    again.restore(np.array(strategy.history))
    np.testing.assert_array_equal(again.draw(), strategy.draw())
    other = Strategy(Communicator(), np.zeros(3), 0.5, 10, seed=2)
    assert not np.array_equal(other.draw(), strategy.draw())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"generations": 0}, "generations must be at least 1"),
        ({"population": 3}, "population must be at least 4"),
        ({"sigma": 0.0}, "sigma must be positive"),
        ({"start": (float("nan"),) * 9}, "start is finite numbers"),
        ({"graphs": "new"}, "fixed or fresh"),
    ],
)
def test_bad_settings_are_refused(values, message):
    with pytest.raises(SettingsError, match=message):
        EvolutionSettings(**values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("method=genetic", "q-learning or evolution"),
        ("policy=s2v", "evolution learns policy = 'degree-messages'"),
        ("problem=maxcut", "'degree-messages' finds vertex covers .*; use 'cut-messages'"),
        ("problem=mds", "'degree-messages' finds vertex covers .*; use 'coverage-messages'"),
        ("problem=mwis", "'degree-messages' finds .*; use 'weighted-degree-messages'"),
        ("problem=mwvc", "'degree-messages' .* no weights; use 'weighted-degree-messages'"),
    ],
)
def test_method_problem_and_policy_have_to_fit(settings, tmp_path, change, message):
    key, value = change.split("=")
    with pytest.raises(SettingsError, match=message):
        run(replace(settings(), **{key: value}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_ranks_share_no_graph(settings, tmp_path):
    shared = replace(settings(), parallel=ParallelSettings(ranks_per_graph=1))
    with pytest.raises(SettingsError, match=r"leave out parallel\.ranks_per_graph"):
        run(shared, tmp_path / "run")


def test_start_needs_as_many_numbers_as_the_policy_has(settings, tmp_path):
    with pytest.raises(SettingsError, match="start of degree-messages is 9 numbers, not 2"):
        run(settings(start=[1.0, 2.0]), tmp_path / "run")


@pytest.mark.parametrize("problem", ["mis", "clique"])
def test_complements_of_covers_are_learned_and_solved_by_the_learned_file(
    settings, tmp_path, problem
):
    record = run(replace(settings(generations=2), problem=problem), tmp_path)
    assert record["problem"] == problem
    graph, own = erdos_renyi(40, 0.2, 1), str(tmp_path / "best.npz")
    found = solve_graph(Communicator(), graph, SolveSettings(problem=problem, policy=own))
    assert found.record["feasible"]
    # The optimum of held-out graphs of 40 nodes is known; ratios are of it to what is found.
    ratios = [ratio for row in rows(tmp_path) for ratio in row.get("ratio", {}).values()]
    assert ratios
    assert all(1 <= ratio < 1.5 for ratio in ratios)


def test_run_is_the_same_on_one_and_three_ranks(run_ranks, tmp_path):
    script = Path(__file__).with_name("evolution_equality.py")
    done = run_ranks(4, [script, tmp_path], limit=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["P1"] == found["P3"]
    assert len(found["P1"]["curves"]) > 4
