import json

import numpy as np
import pytest
from one_process_cell import OneProcessCell

from ogg_hpc.actors.dqn import DQN
from ogg_hpc.actors.environments.registry import make_environment
from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.actors.run import run
from ogg_hpc.actors.settings import ActorsSettings, load_actors_settings
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators import barabasi_albert
from ogg_hpc.graphs.shards import write_shards
from ogg_hpc.policies.file import load_policy
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.settings import SolveSettings
from ogg_hpc.search.solve import solve_graph
from ogg_hpc.settings import build

GRAPHS = {"family": "ba", "nodes": [8, 12], "d": 1, "count": 6}


def settings_of(steps=60, problem="mvc", environment=None, network="s2v", width=8, **dqn):
    small = {"batch": 8, "tau": 2, "epsilon_steps": 30, "target_refresh": 5, "ahead": 6}
    document = {
        "algorithm": "dqn",
        "steps": steps,
        "environment": environment
        or {"name": "graph-problem", "options": {"problem": problem, "graphs": [GRAPHS]}},
        "network": {"name": network, "model": {"width": width}},
        "roles": {"processes": 1, "environments": 2},
        "dqn": {
            **small,
            "validation": [{**GRAPHS, "nodes": 14, "seed": 9, "count": 8}],
            "evaluate_every": 20,
            **dqn,
        },
        "output": {"tensorboard": False},
    }
    return build(ActorsSettings, document)


def started(settings, slots=3):
    cell = OneProcessCell(settings, slots)
    made = DQN(Communicator(), settings, cell.schema)
    cell.publish(made.arrays())
    return made, cell


def learned(settings, steps=None, slots=3):
    """Learn for so many steps, or all; return all advances, too."""
    made, cell = started(settings, slots)
    advances, done = [], 0
    while done < (steps or settings.steps):
        advances.append(made.advance(cell))
        done += advances[-1].steps
    return made, cell, advances


def test_held_out_ratios_get_better_and_the_best_policy_is_kept(tmp_path):
    graphs = {"family": "er", "nodes": 20, "p": 0.15, "count": 30}
    environment = {"name": "graph-problem", "options": {"graphs": [graphs]}}
    held_out = [{**graphs, "seed": 7}]
    settings = settings_of(
        100, environment=environment, width=32, validation=held_out, tau=8, batch=32
    )
    made, _, advances = learned(settings)
    ratios = [each.values["score"] for each in advances if "score" in each.values]
    record = made.record()
    assert record["best"]["score"] < ratios[0] - 0.02
    assert record["references"] == {"er20": "optimum"}
    made.save(tmp_path)
    stored = load_policy(str(tmp_path / "best.npz"), "mvc")
    assert stored.training["best"] == record["best"]
    assert stored.policy().settings.width == 32
    assert (tmp_path / "last.npz").exists()


def test_gradient_steps_are_so_many_a_step_and_no_more_than_came_in():
    settings = settings_of(steps=50, tau=3, train_frequency=4, ahead=8)
    made, cell = started(settings)
    granted = []
    top_up = cell.top_up
    cell.top_up = lambda outstanding, fields: (
        granted.append((outstanding, fields["epsilon"])), top_up(outstanding, fields)
    )  # fmt: skip
    done = 0
    while done < 50:
        done += made.advance(cell).steps
        assert made.record()["gradient_steps"] <= 3 * (done // 4)
    assert done == 50
    assert made.record()["gradient_steps"] == 3 * (50 // 4)
    assert max(outstanding for outstanding, _ in granted) == 8
    epsilons = [epsilon for _, epsilon in granted]
    assert epsilons[0] == 0.9
    assert epsilons == sorted(epsilons, reverse=True)
    assert epsilons[-1] == pytest.approx(0.1)


def test_actors_without_credit_wait():
    class Waiting(OneProcessCell):
        def top_up(self, outstanding, fields):
            asked.append(outstanding)

        def arrived(self, seconds):
            waited.append(seconds)
            return []

    asked, waited = [], []
    settings = settings_of()
    cell = Waiting(settings, 2)
    made = DQN(Communicator(), settings, cell.schema)
    cell.publish(made.arrays())
    advance = made.advance(cell)
    assert (advance.steps, made.record()["gradient_steps"]) == (0, 0)
    assert asked == [6]
    assert 0 < waited[0] < 1


def test_what_is_too_old_is_dropped_and_counted():
    settings = settings_of(stale=2, publish_every=1)
    made, cell = started(settings)
    cell.top_up(6, {"epsilon": 1.0, "graphs": made._digest})
    for _ in range(3):
        cell.publish(made.arrays())
    assert made.advance(cell).steps == 0
    assert made.record()["unusable_fragments"] == {"stale": 3}
    made.advance(cell)
    assert made.record()["unusable_fragments"] == {"stale": 3}


def test_steps_after_a_fragment_that_is_missing_do_not_count_as_its_episodes():
    settings = settings_of(ahead=40, steps=400)
    made, cell = started(settings, slots=1)
    made.advance(cell)
    before = made.record()["replay_steps"]
    cell.top_up(2, {"epsilon": 1.0, "graphs": made._digest})
    lost = cell.arrived(0)
    assert [each.steps for each in lost] == [2]
    cell.top_up(6, {"epsilon": 1.0, "graphs": made._digest})
    [found] = cell.arrived(0)
    started_again = int(np.argmax(found.arrays["first"])) if found.arrays["first"].any() else 6
    made._insert(found)
    assert made.record()["replay_steps"] == before + 6 - started_again


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [("graph", 6, "no such graph"), ("graph", -1, "no such graph"), ("action", 12, "no such node")],
)
def test_steps_that_cannot_be_are_dropped_and_counted(name, value, reason):
    made, cell = started(settings_of())
    cell.top_up(3, {"epsilon": 1.0, "graphs": made._digest})
    bad, *good = cell.arrived(0)
    arrays = {**bad.arrays, name: np.full_like(bad.arrays[name], value)}
    answers = [[Fragment(**{**vars(bad), "arrays": arrays}), *good]]
    cell.arrived = lambda seconds: answers.pop() if answers else []
    assert made.advance(cell).steps == sum(each.steps for each in good) == 2
    assert made.record()["unusable_fragments"] == {reason: 1}
    assert made.record()["replay_steps"] == 2


@pytest.mark.parametrize("problem", ["mis", "mds", "maxcut"])
def test_other_problems_are_learned(problem):
    made, _, advances = learned(settings_of(steps=30, problem=problem))
    assert sum(each.steps for each in advances) == 30
    assert made.record()["gradient_steps"] == 60
    losses = [each.values["loss"] for each in advances if each.values["loss"] is not None]
    assert np.isfinite(losses).all()


def test_graphs_may_stay_in_a_store(tmp_path):
    graphs = [barabasi_albert(n, 1, seed=n) for n in range(8, 14)]
    write_shards(tmp_path / "store", graphs, 3, {})
    options = {"graphs": [{"path": str(tmp_path / "store")}], "graph_cache": 0.0}
    settings = settings_of(12, environment={"name": "graph-problem", "options": options})
    made, _, _ = learned(settings)
    assert made.record()["gradient_steps"] == 24
    env = make_environment("graph-problem", options)
    assert env.graphs.stored
    assert env.digest == made._digest
    for number, graph in enumerate(graphs):
        observation, _ = env.reset(options={"graph": number})
        assert observation["nodes"] == graph.n


def test_what_is_restored_goes_on_as_it_was():
    settings = settings_of(steps=60)
    made, _, _ = learned(settings, steps=30)
    other, cell = started(settings)
    other.restore(made.state())
    for name, array in made.arrays().items():
        np.testing.assert_array_equal(other.arrays()[name], array)
    first, second = made.state(), other.state()
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(second[name], array)
    done = 30
    while done < 60:
        done += other.advance(cell).steps
    assert other.record()["gradient_steps"] == 120


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"environment": {"name": "gymnasium:CartPole-v1"}}, "dqn learns graph problems"),
        ({"network": "degree-messages"}, "takes s2v alone"),
    ],
)
def test_what_cannot_be_learned_is_refused(changes, message):
    graphs = OneProcessCell(settings_of(), 1).schema
    with pytest.raises(SettingsError, match=message):
        DQN(Communicator(), settings_of(**changes), graphs)


def test_settings_name_their_table():
    with pytest.raises(SettingsError, match=r"dqn\.tau must be at least 1"):
        settings_of(tau=0)
    with pytest.raises(SettingsError, match=r"dqn\.ahead must be at least 1"):
        settings_of(ahead=0)
    with pytest.raises(SettingsError, match=r"ahead must be at least twice dqn\.train_frequency"):
        settings_of(ahead=7, train_frequency=4)


@pytest.mark.parametrize("ahead", [2, 3, 5, 8])
def test_actors_and_learner_never_wait_for_one_another(ahead):
    settings = settings_of(steps=30, tau=1, train_frequency=ahead // 2, ahead=ahead)
    cell = OneProcessCell(settings, 3)
    made = DQN(Communicator(), settings, cell.schema)
    cell.publish(made.arrays())
    done = idle = 0
    while done < 30:
        came = made.advance(cell).steps
        done, idle = done + came, 0 if came else idle + 1
        assert idle < 3


def test_the_preset_is_the_default_of_train():
    from ogg_hpc.training.settings import load_train_settings

    actors, train = load_actors_settings("mvc-dqn"), load_train_settings("default")
    assert actors.steps == train.learning.steps
    assert actors.network.model == train.model
    assert actors.dqn.validation == train.validation
    shared = set(vars(train.learning)) & set(vars(actors.dqn))
    assert len(shared) > 10
    for name in shared:
        assert getattr(actors.dqn, name) == getattr(train.learning, name), name
    assert actors.dqn.evaluate_every == train.output.evaluate_every


def test_a_run_that_is_resumed_writes_a_policy_that_solves(tmp_path):
    run(Communicator(), settings_of(steps=20), tmp_path / "run", device="cpu")
    settings = settings_of(steps=40)
    record = run(Communicator(), settings, tmp_path / "run", resume=True, device="cpu")
    assert (record["steps"], record["gradient_steps"]) == (40, 80)
    assert record["collection"]["staleness"]
    assert json.loads((tmp_path / "run" / "record.json").read_text())["best"] == record["best"]
    settings = SolveSettings(problem="mvc", policy=str(tmp_path / "run" / "best.npz"))
    found = solve_graph(Communicator(), barabasi_albert(30, 2, seed=1), settings)
    assert found.record["feasible"]
