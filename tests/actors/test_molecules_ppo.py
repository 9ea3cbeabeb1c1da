"""Molecules: the graph convolutional policy, PPO and novelty together."""

import pytest
from one_process_cell import OneProcessCell

from ogg_hpc.actors.ppo import PPO
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.settings import build

pytest.importorskip("rdkit", reason="molecules need rdkit")


@pytest.fixture
def learner():
    document = {
        # Few kinds and no rings: the same molecules come again and again.
        "environment": {
            "name": "molecules",
            "options": {"kinds": ["C", "O"], "max_atoms": 4, "max_rings": 0},
        },
        "network": {"name": "gcn", "model": {"width": 8, "layers": 2}},
        "ppo": {
            "round_steps": 128,
            "minibatch": 128,
            "epochs": 1,
            "gamma": 1.0,
            "novelty": {"product": "smiles"},
        },
    }
    settings = build(ActorsSettings, document)
    cell = OneProcessCell(settings, 4)
    made = PPO(Communicator(), settings, cell.schema)
    cell.publish(made.arrays())
    return made, cell, settings


def test_learners_see_the_probabilities_that_actors_acted_by(learner):
    made, cell, _ = learner
    for _ in range(2):
        values = made.advance(cell).values
        assert abs(values["kl"]) < 1e-5
        assert values["clipped"] == 0
        assert 0 < values["return"] < 1  # a QED, whatever was made before


def test_what_was_made_before_a_checkpoint_counts_after_it(learner):
    made, cell, settings = learner
    first, second = made.advance(cell).values, made.advance(cell).values
    assert first["repeated"] < second["repeated"]
    other = PPO(Communicator(), settings, cell.schema)
    other.restore(made.state())
    fragments = cell.collect(128)
    expected, found = made.learn(fragments).values, other.learn(fragments).values
    assert found == expected
    fresh = PPO(Communicator(), settings, cell.schema)
    assert fresh.learn(fragments).values["repeated"] < expected["repeated"]
