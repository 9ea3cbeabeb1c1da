"""What is told of an episode that has ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ogg_hpc.errors import SettingsError


def episode_told(total: float, length: int, info: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is told of an episode, in plain values.

    Parameters
    ----------
    total, length
        The sum of its rewards, and its number of steps: ``return`` and ``length``.
    info
        What the environment says of its last step. What that has under ``episode`` is told, too.

    Raises
    ------
    SettingsError
        The environment says what cannot be told: no map, or values that neither JSON nor NumPy
        know.
    """
    try:
        said = json.loads(json.dumps(info.get("episode", {}), default=_plain))
    except (TypeError, ValueError) as error:
        raise SettingsError(f'info["episode"] of the environment: {error}') from None
    if not isinstance(said, dict):
        raise SettingsError(f'info["episode"] of the environment is no map, but {said!r:.60}')
    return {**said, "return": total, "length": length}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is nothing that JSON knows")
