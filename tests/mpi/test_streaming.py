"""Learning on graphs that are read when they are needed is learning on graphs in memory."""

import numpy as np
import pytest

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.shards import write_shards
from ogg_hpc.policies.degree_messages import two_messages
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.search.networks import DEGREE_MESSAGES
from ogg_hpc.settings import build
from ogg_hpc.training.fitness import Fitness, Player
from ogg_hpc.training.q_learning import QLearner
from ogg_hpc.training.settings import GraphSource, TrainSettings

STEPS = 16
ALL = 100.0  # megabytes
SOME = 0.01  # of all ranks together


@pytest.fixture(scope="module")
def shards(comm, tmp_path_factory):
    """A folder of graphs of many sizes, in shards."""

    def write():
        folder = tmp_path_factory.mktemp("graphs") / "shards"
        kinds = (lambda n: erdos_renyi(n, 0.3, n), lambda n: barabasi_albert(n, 2, n))
        graphs = [make(n) for n in range(5, 16) for make in kinds]
        write_shards(folder, graphs, graphs_per_shard=4)
        return folder

    return comm.on_root(write)


def learned(comm, shards, cache, **tables):
    """The learning state on rank 0 and the record after some steps."""
    document = {
        "model": {"width": 4},
        "graph_cache": cache,
        "train": [
            {"path": str(shards)},
            {"family": "er", "nodes": 9, "p": 0.3, "count": 3},
        ],
        **tables,
    }
    learning = {"batch": 8, "tau": 2, "epsilon_steps": 20, "target_refresh": 5}
    document["learning"] = {**learning, **tables.get("learning", {})}
    learner = QLearner(comm, build(TrainSettings, document))
    for step in range(STEPS):
        learner.advance(step)
    return learner.state(), learner.record()


VARIANTS = {
    "scalar": {"learning": {"engine": "scalar"}},
    "reference": {"learning": {"engine": "reference"}},
    "stored targets": {"learning": {"targets": "stored", "train_frequency": 3, "tau": 1}},
    "edges": {"parallel": {"balance": "edges"}},
    "groups": {"parallel": {"ranks_per_graph": 1}},
    "maximum cut": {"problem": "maxcut"},
    "messages": {"policy": "degree-messages", "model": {}, "learning": {"reward": "count"}},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_learned_does_not_depend_on_the_cache(comm, shards, variant):
    expected, all_held = learned(comm, shards, ALL, **VARIANTS[variant])
    assert all_held["reading"] is None
    for cache in (0.0, SOME / comm.size):
        found, streamed = learned(comm, shards, cache, **VARIANTS[variant])
        assert streamed["reading"]["reads"] > 0
        assert streamed["training"] == all_held["training"]
        if comm.rank == 0:
            assert found.keys() == expected.keys()
            for name, array in expected.items():
                np.testing.assert_array_equal(found[name], array, err_msg=name)


@pytest.mark.parametrize("problem", ["mvc", "clique"])
def test_how_good_candidates_are_does_not_depend_on_the_cache(comm, alone, shards, problem):
    player = Player(alone, problem_by_name(problem), DEGREE_MESSAGES)
    sources = [GraphSource(path=str(shards)), GraphSource(family="er", nodes=9, p=0.3, count=2)]
    found = []
    for cache in (0.0, SOME, ALL):
        fitness = Fitness(comm, player, sources, cache)
        scores = (np.array([0.0, -2.0]), np.array([0.0, 1.0]))
        forms = [
            two_messages(fitness.largest, 0.0, np.array([1.0, 0, 0]), np.zeros(4), score)
            for score in scores
        ]
        found.append(fitness(forms).tolist())
    assert found[0] == found[1] == found[2]
    assert found[0][0] != found[0][1]


def test_the_cache_saves_reading(comm, shards):
    _, few = learned(comm, shards, SOME / comm.size)
    _, many = learned(comm, shards, 0.0)
    assert few["reading"]["reads"] < many["reading"]["reads"]


def test_a_shard_that_turns_out_damaged_is_an_error_that_names_it(comm, shards, tmp_path):
    if comm.size > 1:
        pytest.skip("one rank's error ends the job")
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for file in shards.iterdir():
        content = bytearray(file.read_bytes())
        if file.name == "shard-00003.h5":
            content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
        (damaged / file.name).write_bytes(content)
    with pytest.raises(InputError, match=r"shard-00003\.h5"):
        learned(comm, damaged, 0.0)
