"""Optional dependencies: whether they are there, before hours of work rest on them."""

from __future__ import annotations

import importlib.util

from ogg_hpc.errors import MissingExtraError


def check_plot() -> None:
    """Find out whether plots can be drawn.

    Raises
    ------
    MissingExtraError
        Matplotlib is not installed.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot")


def check_actors() -> None:
    """Find out whether actors and learners can run.

    Raises
    ------
    MissingExtraError
        gymnasium or safetensors is not installed.
    """
    for module in ("gymnasium", "safetensors"):
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError(module, "actors")
