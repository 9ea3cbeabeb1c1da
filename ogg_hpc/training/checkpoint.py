"""What the next steps of Q-learning depend on: the learning state of all groups of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

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
    arrays: Arrays = {}
    for network, policy in trainer.networks.items():
        for name, value in policy.state_dict().items():
            arrays[f"{network}/{name}"] = value.cpu().numpy()
    for index, moments in trainer.optimizer.state_dict()["state"].items():
        for name, value in moments.items():
            arrays[f"adam/{index}/{name}"] = value.cpu().numpy()
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
    for network, policy in trainer.networks.items():
        parameters = _part(common, f"{network}/")
        policy.load_state_dict({name: torch.from_numpy(v) for name, v in parameters.items()})
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in _part(common, "adam/").items():
        index, _, key = name.partition("/")
        moments.setdefault(int(index), {})[key] = torch.from_numpy(value)
    trainer.optimizer.load_state_dict(trainer.optimizer.state_dict() | {"state": moments})

    group_of = world.gather_objects(trainer.group)
    states = None
    if arrays is not None:
        groups = regrouped(_groups(arrays), trainer.groups)
        states = [groups[group] for group in group_of]
    state = world.scatter_from_root(states)
    episodes = int(state["episodes"])
    trainer.resume(episodes, _without(state, "episodes"))


def _groups(arrays: Arrays) -> list[Arrays]:
    states = _part(arrays, "group/")
    count = sum(name.endswith("/episodes") for name in states)
    return [_part(states, f"{number}/") for number in range(count)]


def _part(arrays: Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    return {
        name.removeprefix(prefix): value
        for name, value in arrays.items()
        if name.startswith(prefix)
    }


def _without(arrays: Arrays, prefix: str) -> Arrays:
    return {name: value for name, value in arrays.items() if not name.startswith(prefix)}
