"""Several learners of deep Q-learning, each with actors of its own."""

import numpy as np
from one_process_cell import OneProcessCell

from ogg_hpc.actors.dqn import DQN
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.settings import build

GRAPHS = {"family": "ba", "nodes": [8, 12], "d": 2, "count": 6}
DOCUMENT = {
    "algorithm": "dqn",
    "steps": 48,
    "environment": {"name": "graph-problem", "options": {"graphs": [GRAPHS]}},
    "network": {"name": "s2v", "model": {"width": 4}},
    "dqn": {
        "batch": 8, "tau": 2, "ahead": 4, "target_refresh": 6, "averaging": 0.5,
        "validation": [{**GRAPHS, "seed": 9, "count": 3}], "evaluate_every": 24,
    },
}  # fmt: skip


def learners(comm):
    settings = build(ActorsSettings, DOCUMENT)
    cell = OneProcessCell(settings, 2, comm.rank)
    made = DQN(comm, settings, cell.schema)
    cell.publish(made.arrays())
    return made, cell


def learn(made, cell, until, done=0):
    while done < until:
        done += made.advance(cell).steps
    return done


def test_learners_stay_equal_and_share_the_steps_out(comm):
    made, cell = learners(comm)
    done = learn(made, cell, 48)
    assert 48 <= done < 48 + comm.size
    everyone = comm.gather_objects(made.arrays())
    for name, array in everyone[0].items():
        assert all((other[name] == array).all() for other in everyone), name
    record = made.record()
    assert record["gradient_steps"] == 2 * (done // comm.size)
    assert {one["best"]["score"] for one in comm.gather_objects(record)} == {
        record["best"]["score"]
    }


def test_another_number_of_learners_takes_up_what_these_held(comm, alone):
    made, cell = learners(comm)
    done = learn(made, cell, 24)
    state = made.state()
    assert (state is None) == (comm.rank > 0)
    held = sum(comm.gather_objects(made.record()["replay_steps"]))
    state = comm.broadcast_object(state)
    one, _ = learners(alone)
    one.restore(state)
    assert one.record()["replay_steps"] == held
    more, cell = learners(comm)
    more.restore(one.state() if comm.rank == 0 else None)
    assert more.record()["replay_steps"] == held  # each starts with a copy
    for name, array in made.arrays().items():
        np.testing.assert_array_equal(more.arrays()[name], array)
    learn(more, cell, 48, done)
