"""Checkpoints of a training run: one file, written whole, that resumes the run bit for bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.files import read_arrays, write_whole
from ogg_hpc.training.trainer import Trainer

FORMAT = "ogg-hpc-checkpoint/1"


def save_checkpoint(path: Path, trainer: Trainer, progress: dict[str, Any]) -> None:
    """Write the learning state of all groups (collective).

    The file is an ``.npz`` archive, whose members carry checksums: parameters, target network,
    averaged parameters and Adam's moments once, and for each group its replay buffer and episode
    count.

    Parameters
    ----------
    path
        The file, on rank 0.
    trainer
        The learning state.
    progress
        Plain values that the caller wants back.
    """
    group_state = {"episodes": np.array(trainer.episodes), **trainer.replay.state()}
    # One rank of each group speaks for it: its ranks hold the same state.
    states = trainer.world.gather_objects(group_state if trainer.comm.rank == 0 else None)
    groups = [state for state in states if state is not None]

    def write() -> None:
        arrays: dict[str, NDArray[Any]] = {}
        for network, policy in trainer.networks.items():
            for name, value in policy.state_dict().items():
                arrays[f"{network}/{name}"] = value.cpu().numpy()
        for index, moments in trainer.optimizer.state_dict()["state"].items():
            for name, value in moments.items():
                arrays[f"adam/{index}/{name}"] = value.cpu().numpy()
        for number, state in enumerate(groups):
            for name, value in state.items():
                arrays[f"group/{number}/{name}"] = value
        write_archive(path, {"groups": len(groups), "progress": progress}, arrays)

    trainer.world.on_root(write)


def load_checkpoint(
    path: Path, trainer: Trainer, check: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Restore what `save_checkpoint` wrote and return its `progress` (collective).

    Parameters
    ----------
    path
        The file, on rank 0.
    trainer
        What is restored.
    check
        Raises, on every rank, if this `progress` is not to be resumed.

    Raises
    ------
    InputError
        A missing or damaged file, another format, or another number of groups.
    """
    header, arrays = trainer.world.on_root(lambda: read_archive(path))
    check(header["progress"])
    if header["groups"] != trainer.groups:
        error = InputError(
            path,
            f"was written by {header['groups']} groups of ranks, this job has {trainer.groups}; "
            "choose ranks and parallel.ranks_per_graph to match",
        )
        raise error.shared()

    def part(prefix: str) -> dict[str, NDArray[Any]]:
        return {
            name.removeprefix(prefix): value
            for name, value in arrays.items()
            if name.startswith(prefix)
        }

    for network, policy in trainer.networks.items():
        policy.load_state_dict({k: torch.from_numpy(v) for k, v in part(f"{network}/").items()})
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in part("adam/").items():
        index, _, key = name.partition("/")
        moments.setdefault(int(index), {})[key] = torch.from_numpy(value)
    trainer.optimizer.load_state_dict(trainer.optimizer.state_dict() | {"state": moments})
    state = part(f"group/{trainer.group}/")
    trainer.resume(int(state.pop("episodes")), state)
    progress: dict[str, Any] = header["progress"]
    return progress


def write_archive(path: Path, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a checkpoint file, whole or not at all.

    Parameters
    ----------
    path
        The file.
    header
        Plain values.
    arrays
        The learning state.
    """
    text = np.array(json.dumps({"format": FORMAT, **header}))
    with write_whole(path) as temporary, open(temporary, "wb") as stream:
        np.savez(stream, allow_pickle=False, **{"header": text, **arrays})


def read_archive(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a checkpoint file.

    Raises
    ------
    InputError
        A missing or damaged file, or another format.
    """
    try:
        arrays = read_arrays(path, "a checkpoint")
        header = json.loads(str(arrays.pop("header")))
    except FileNotFoundError:
        raise InputError(path, "no checkpoint: this is no training run, or none was due") from None
    except (KeyError, ValueError):
        raise InputError(path, "an archive, but not a checkpoint") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(path, f"not of format {FORMAT}; use a matching version")
    return header, arrays
