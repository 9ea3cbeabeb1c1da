import json
import subprocess
import sys

import numpy as np
import pytest

from ogg_hpc.actors.collectors.episodes import EpisodeCollector
from ogg_hpc.actors.environments.registry import make_environment
from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.actors.message import Message, decode, encode
from ogg_hpc.actors.weights import Weights
from ogg_hpc.errors import SettingsError
from ogg_hpc.policies.registry import make_policy
from ogg_hpc.problems.problem import Problem
from ogg_hpc.problems.registry import problem_by_name, problem_names
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.training.graphs import whole_graphs
from ogg_hpc.training.reference_engine import ReferenceEngine
from ogg_hpc.training.rows import training_rows
from ogg_hpc.training.settings import GraphSource

TABLE = {"family": "er", "nodes": [5, 12], "p": 0.3, "count": 5, "seed": 2}
MODEL = {"width": 6, "layers": 2}


def table_for(problem):
    weights = {"weights": "signs"} if problem.uses_weights else {}
    return {**TABLE, **weights, **({"heaviest": 9} if problem.uses_node_weights else {})}


def source_of(problem):
    return GraphSource(**{**table_for(problem), "nodes": (5, 12)})


def collector(slots, problem="mvc", incarnation=0, seed=3, network="s2v", **changes):
    problem = problem_by_name(problem)
    fields = {
        "run": "r", "seed": seed, "learner": 0,
        "slots": {str(slot): incarnation for slot in slots},
        "environment": "graph-problem", "network": network, "model": MODEL,
        "options": {"problem": problem.name, "graphs": [table_for(problem)]}, **changes,
    }  # fmt: skip
    made = EpisodeCollector(Message("welcome", fields))
    made.load(Weights("r", 0, arrays()))
    return made


def arrays():
    return {name: each.numpy() for name, each in make_policy("s2v", MODEL, 1).state_dict().items()}


def digest(problem):
    options = {"problem": problem, "graphs": [table_for(problem_by_name(problem))]}
    return make_environment("graph-problem", options).digest


def collect(made, steps, epsilon=0.5, cut=lambda: False, problem="mvc", told=None):
    fields = {
        "round": 0, "version": 0, "epsilon": epsilon, "graphs": digest(problem),
        "steps": {str(slot): count for slot, count in steps.items()},
    }  # fmt: skip
    progress = (lambda done: None) if told is None else (lambda done: told.append(dict(done)))
    grant = decode(encode(Message("grant", fields)))
    layout = made.layout(made.schema)
    found = [
        Fragment.of(decode(encode(each.message())), layout)
        for each in made.collect(grant, cut, progress)
    ]
    assert [each.slot for each in found] == sorted(steps)
    return {each.slot: each for each in found}


def joined(fragments):
    return {
        name: np.concatenate([each.arrays[name] for each in fragments]).tolist()
        for name in fragments[0].arrays
    }


def test_a_slot_makes_the_same_steps_however_it_is_asked_and_with_whom():
    whole = collect(collector([0, 1, 2]), {0: 30, 1: 30, 2: 30})
    in_parts = collector([0, 1, 2])
    parts = [
        collect(in_parts, steps) for steps in ({0: 7, 1: 12, 2: 1}, {1: 18}, {0: 23, 2: 4}, {2: 25})
    ]
    for slot in range(3):
        alone = collect(collector([slot]), {slot: 30})[slot]
        own = [part[slot] for part in parts if slot in part]
        assert joined([whole[slot]]) == joined([alone]) == joined(own)
        assert [each.sequence for each in own] == list(range(len(own)))
        ended = [episode for each in own for episode in each.episodes]
        assert ended == list(whole[slot].episodes) != []
    assert joined([whole[0]]) != joined([whole[1]])
    again = collect(collector([0], incarnation=1), {0: 30})[0]
    assert joined([again]) != joined([whole[0]])


@pytest.mark.parametrize("problem", problem_names())
def test_greedy_episodes_are_those_of_training(problem):
    rules = problem_by_name(problem)
    found = collect(collector([0], problem), {0: 40}, epsilon=0.0, problem=problem)[0]
    assert found.complete
    rows = training_rows(Communicator(), [source_of(rules)], "rows", rules.uses_weights)
    engine, policy = ReferenceEngine(Communicator(), rows, rules), make_policy("s2v", MODEL, 1)
    starts = np.flatnonzero(found.arrays["first"])
    assert len(found.episodes) == len(starts) - 1 > 0  # an episode ends where the next begins
    for start, stop, episode in zip(starts, starts[1:], found.episodes, strict=False):
        environment = engine.environment(int(found.arrays["graph"][start]), np.empty(0, np.int64))
        for step in range(start, stop):
            action, reward = environment.step(policy)
            assert action == found.arrays["action"][step]
            assert reward == pytest.approx(found.arrays["reward"][step])
        assert environment.step(policy) is None
        assert episode["length"] == stop - start
        assert episode["return"] == pytest.approx(found.arrays["reward"][start:stop].sum())


@pytest.mark.parametrize("problem", problem_names())
def test_random_episodes_are_solutions_and_worth_what_they_earn(problem):
    rules: Problem = problem_by_name(problem)
    graphs = list(whole_graphs(source_of(rules)))
    found = collect(collector([0], problem), {0: 60}, epsilon=1.0, problem=problem)[0]
    starts = np.flatnonzero(found.arrays["first"])
    sign = 1 if rules.maximize else -1
    for start, stop, episode in zip(starts, starts[1:], found.episodes, strict=False):
        nodes, sides = np.divmod(found.arrays["action"][start:stop], rules.sides)
        graph, inside = graphs[found.arrays["graph"][start]], nodes[sides == rules.sides - 1]
        assert rules.violation(graph, inside) is None
        assert episode["return"] == pytest.approx(sign * rules.objective(graph, inside))
    assert len(starts) > 3


def test_random_actions_are_a_share_of_epsilon():
    greedy, mixed, random = (
        joined([collect(collector([0]), {0: 1}, epsilon)[0]]) for epsilon in (0.0, 0.0, 1.0)
    )
    assert greedy == mixed
    differing = 0
    for seed in range(60):
        first, second = (
            joined([collect(collector([0], seed=seed), {0: 1}, epsilon)[0]])["action"]
            for epsilon in (0.0, 0.5)
        )
        differing += first != second
    assert 12 <= differing <= 36  # half of them, less those that hit the best node
    assert random["graph"] == greedy["graph"]


def test_a_cut_ends_a_grant_at_the_next_step():
    told = []
    found = collect(collector([0, 1]), {0: 9, 1: 5}, cut=lambda: len(told) == 3, told=told)
    assert told == [{0: 1, 1: 1}, {0: 2, 1: 2}, {0: 3, 1: 3}]
    assert [(each.steps, each.complete) for each in found.values()] == [(3, False)] * 2
    none = collect(collector([0]), {0: 4}, cut=lambda: True)[0]
    assert (none.steps, none.complete, len(none.arrays["action"])) == (0, False, 0)


def test_graphs_that_differ_are_refused():
    fields = {"round": 0, "version": 0, "epsilon": 0.0, "graphs": "other", "steps": {"0": 1}}
    with pytest.raises(SettingsError, match="the graphs here are others than the learner's"):
        list(collector([0]).collect(Message("grant", fields), lambda: False, lambda done: None))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network": "mlp"}, "takes s2v alone"),
        ({"environment": "gymnasium:CartPole-v1", "options": {}}, "learns graph problems"),
        ({"model": {"depth": 3}}, r"unknown key network\.model\.depth"),
    ],
)
def test_what_cannot_be_collected_is_refused(changes, message):
    with pytest.raises(SettingsError, match=message):
        collector([0], **changes)


def test_acting_imports_no_torch():
    program = f"""
import sys
import numpy as np
from ogg_hpc.actors.collectors.registry import collector_class
from ogg_hpc.actors.message import Message
from ogg_hpc.actors.weights import Weights
fields = {{"run": "r", "seed": 0, "learner": 0, "slots": {{"0": 0}},
    "environment": "graph-problem", "options": {{"graphs": [{json.dumps(TABLE)}]}},
    "network": "s2v", "model": {{"width": 2}}}}
made = collector_class("dqn")(Message("welcome", fields))
theta = {{f"theta{{i}}": np.ones(shape) for i, shape in
    enumerate([(2,), (2,), (2, 2), (2, 2), (2, 2), (2, 2), (4,)], 1)}}
made.load(Weights("r", 0, theta))
grant = {{"round": 0, "version": 0, "epsilon": 0.5, "steps": {{"0": 9}},
    "graphs": {digest("mvc")!r}}}
[found] = made.collect(Message("grant", grant), lambda: False, lambda done: None)
print(found.steps, "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["9", "False"], done.stderr
