"""What the next steps of Q-learning depend on: the learning state of all groups of ranks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.training.q_function import part_of
from ogg_hpc.training.regrouping import regrouped
from ogg_hpc.training.trainer import Trainer

Arrays = dict[str, NDArray[np.generic]]


def trainer_state(trainer: Trainer) -> Arrays | None:
    """Return the learning state of all groups, on rank 0 (collective).

    Parameters, target network, averaged parameters and Adam's moments once, and for each group
    its replay buffer and the number of its episodes.
    """
    group_state = {"episodes": np.array(trainer.episodes), **trainer.replay.state()}
    # One rank of each group speaks for it: its ranks hold the same state.
    states = trainer.world.gather_on_root(group_state if trainer.comm.rank == 0 else None)
    if states is None:
        return None
    arrays = trainer.q.state()
    for number, state in enumerate(state for state in states if state is not None):
        for name, array in state.items():
            arrays[f"group/{number}/{name}"] = array
    return arrays


def restore_trainer(trainer: Trainer, arrays: Arrays | None) -> None:
    """Take over what `trainer_state` returned on rank 0 (collective).

    On another number of groups, what the groups held is shared out anew; see
    `ogg_hpc.training.regrouping`.
    """
    world = trainer.world
    common = None if arrays is None else _without(arrays, "group/")
    common = world.broadcast_object(common)
    assert common is not None
    trainer.q.restore(common)

    group_of = world.gather_objects(trainer.group)
    states = None
    if arrays is not None:
        groups = regrouped(_groups(arrays), trainer.groups)
        states = [groups[group] for group in group_of]
    state = world.scatter_from_root(states)
    episodes = int(state["episodes"])
    trainer.resume(episodes, _without(state, "episodes"))


def _groups(arrays: Arrays) -> list[Arrays]:
    states = part_of(arrays, "group/")
    count = sum(name.endswith("/episodes") for name in states)
    return [part_of(states, f"{number}/") for number in range(count)]


def _without(arrays: Arrays, prefix: str) -> Arrays:
    return {name: value for name, value in arrays.items() if not name.startswith(prefix)}
