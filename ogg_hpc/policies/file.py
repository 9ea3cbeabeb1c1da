"""Parameter files: a policy, the problem it was trained for, and how.

An ``.npz`` archive with one array a parameter and a JSON text ``metadata``: format and version,
problem, network, its settings, the record of the training, and a SHA-256 of all parameters.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.runtime.files import read_arrays, write_whole

if TYPE_CHECKING:
    from ogg_hpc.policies.policy import Policy

FORMAT = "ogg-hpc-policy/1"


@dataclass(frozen=True)
class StoredPolicy:
    """The content of a parameter file.

    Attributes
    ----------
    path : Path
        Where it was read from.
    network : str
        What `policy_class` makes the network from.
    model : dict
        Settings of the network.
    arrays : dict of str to ndarray
        Parameters by name.
    problem : str
        The problem it was trained for.
    training : dict
        How it was trained.
    """

    path: Path
    network: str
    model: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    problem: str
    training: dict[str, Any]

    def policy(self, own_class: str | None = None) -> Policy:
        """Return the network with these parameters (imports torch).

        Parameters
        ----------
        own_class
            ``FILE.py:CLASS`` of the user's own network that the file was written with. A
            parameter file alone never causes code to be loaded.

        Raises
        ------
        SettingsError
            The file belongs to a user's own network and `own_class` is not given.
        InputError
            The parameters do not fit the network.
        """
        import torch

        from ogg_hpc.policies.registry import make_policy

        network = self.network
        if ":" in network:
            if own_class is None:
                raise SettingsError(f"{self.path} needs its network: add --policy-class {network}")
            network = own_class
        policy = make_policy(network, self.model, seed=0)
        try:
            policy.load_state_dict({k: torch.from_numpy(v) for k, v in self.arrays.items()})
        except RuntimeError as error:
            raise InputError(self.path, f"its parameters do not fit {network}: {error}") from None
        return policy


def save_policy(
    path: str | Path, policy: Policy, spec: str, problem: str, training: dict[str, Any]
) -> None:
    """Write a parameter file, whole or not at all.

    Parameters
    ----------
    path
        Its name.
    policy
        The network.
    spec
        What `policy_class` makes the network from.
    problem
        The problem it was trained for.
    training
        How it was trained: plain values.
    """
    arrays = {name: value.cpu().numpy() for name, value in policy.state_dict().items()}
    save_parameters(path, spec, policy.describe(), arrays, problem, training)


def save_parameters(
    path: str | Path,
    network: str,
    model: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    problem: str,
    training: dict[str, Any],
) -> None:
    """Write the parameter file of a policy that may have no torch network, as `save_policy` does.

    The arguments are the fields of `StoredPolicy`.
    """
    metadata = {
        "format": FORMAT,
        "problem": problem,
        "policy": network,
        "model": model,
        "training": training,
        "sha256": _digest(arrays),
    }
    with write_whole(path) as temporary, open(temporary, "wb") as stream:
        content: dict[str, Any] = {"metadata": np.array(json.dumps(metadata)), **arrays}
        np.savez(stream, **content)


def shipped_policies() -> list[str]:
    """Return the names of the policies that come with the package."""
    folder = files("ogg_hpc.policies") / "shipped"
    if not folder.is_dir():
        return []
    return sorted(entry.name[:-4] for entry in folder.iterdir() if entry.name.endswith(".npz"))


def load_policy(spec: str, *problems: str) -> StoredPolicy:
    """Read a policy from a file, or one that comes with the package by its name.

    Parameters
    ----------
    spec
        Name or path.
    problems
        The problems it may have been trained for.

    Raises
    ------
    InputError
        The file is missing, damaged, or of another format or version.
    SettingsError
        The policy was trained for another problem.
    """
    path = Path(spec)
    if spec in shipped_policies():
        path = Path(str(files("ogg_hpc.policies") / "shipped" / f"{spec}.npz"))
    try:
        arrays = read_arrays(path, "a parameter file")
        metadata = json.loads(str(arrays.pop("metadata")))
    except FileNotFoundError:
        heuristics = ("max-degree", "min-degree", "inverse-degree", "two-message")
        names = ", ".join([*heuristics, *shipped_policies()])
        raise InputError(path, f"no such policy; use {names}, or a parameter file") from None
    except (KeyError, ValueError):
        raise InputError(path, "an archive, but not a parameter file") from None
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        found = metadata.get("format") if isinstance(metadata, dict) else metadata
        raise InputError(path, f"format {found!r} is not {FORMAT}; use a matching version")
    missing = {"policy", "model", "problem", "training", "sha256"} - set(metadata)
    if missing:
        raise InputError(path, f"its metadata lacks {', '.join(sorted(missing))}")
    for key, kind in (("policy", str), ("problem", str), ("model", dict), ("training", dict)):
        if not isinstance(metadata[key], kind):
            raise InputError(path, f"its metadata has {metadata[key]!r} as {key}")
    if not all(array.dtype.kind in "fiu" for array in arrays.values()):
        raise InputError(path, "some parameters are no real numbers")
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise InputError(path, "some parameters are not finite: the training had diverged")
    if metadata["sha256"] != _digest(arrays):
        raise InputError(path, "checksum mismatch: the file is damaged; restore or train it again")
    if metadata["problem"] not in problems:
        wanted = " or ".join(problems)
        raise SettingsError(
            f"{path} was trained for {metadata['problem']}, not for {wanted}; "
            "without a policy named, the best that comes with the package is taken"
        )
    return StoredPolicy(
        path,
        metadata["policy"],
        metadata["model"],
        arrays,
        metadata["problem"],
        metadata["training"],
    )


def _digest(arrays: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name}{arrays[name].dtype.str}{arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()
