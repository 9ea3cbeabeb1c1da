"""Environments by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import gymnasium

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.plugins import load_class

Environment = gymnasium.Env[Any, Any]

# Imported when they are asked for, because of the libraries that they need.
ENVIRONMENTS = {
    "graph-problem": "ogg_hpc.actors.environments.graph_problem:GraphProblem",
    "molecules": "ogg_hpc.actors.environments.molecules.environment:MoleculeEnvironment",
    "synthetic": "ogg_hpc.actors.environments.synthetic:Synthetic",
}
_GYMNASIUM = "gymnasium:"


def make_environment(name: str, options: Mapping[str, Any], slot: int = 0) -> Environment:
    """Return a new environment.

    Parameters
    ----------
    name
        One of `ENVIRONMENTS`; ``gymnasium:ID`` for what `gymnasium.make` knows; or
        ``FILE.py:CLASS`` for a user's own.
    options
        Keyword arguments of the environment.
    slot
        Its number in its learner. An environment with an attribute ``slot`` is told, for what
        several on one machine must not share, such as a port or a folder.

    Raises
    ------
    SettingsError
        There is no such environment, or it does not take the options.
    """
    if name.startswith(_GYMNASIUM):
        make: Any = gymnasium.make
        arguments: tuple[str, ...] = (name.removeprefix(_GYMNASIUM),)
    elif name in ENVIRONMENTS:
        module, kind = ENVIRONMENTS[name].split(":")
        make, arguments = getattr(import_module(module), kind), ()
    elif ".py:" in name:
        make, arguments = load_class(name, gymnasium.Env), ()
    else:
        known = ", ".join(sorted(ENVIRONMENTS))
        raise SettingsError(
            f"there is no environment {name!r}; use {known}, gymnasium:ID or FILE.py:CLASS"
        )
    try:
        env: Environment = make(*arguments, **options)
    except (TypeError, gymnasium.error.Error) as error:
        raise SettingsError(f"environment {name}: {error}") from error
    if hasattr(env.unwrapped, "slot"):
        env.unwrapped.slot = slot
    return env


def module_of(name: str) -> str | None:
    """Return the module that is worth importing before many processes make the environment.

    None for those of users, whose modules are imported by the processes themselves, so that
    none can harm another.
    """
    return ENVIRONMENTS[name].split(":")[0] if name in ENVIRONMENTS else None
