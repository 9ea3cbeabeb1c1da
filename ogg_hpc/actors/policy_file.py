"""Policies on disk: ``policy.safetensors``, which any reader of safetensors can open.

The arrays are the parameters by name, and what observations are normalised with under
``normaliser/``. The metadata hold ``kind`` = ``policy`` and the JSON object ``fields``: format,
settings of the run, schema of the environment, and where the policy comes from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.message import MalformedMessageError, Message, decode, encode
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.errors import InputError, OggError
from ogg_hpc.runtime.files import write_whole
from ogg_hpc.settings import build

FORMAT = "ogg-hpc-actors-policy/1"


@dataclass(frozen=True, eq=False)
class SavedPolicy:
    """A policy that a run has learned.

    Attributes
    ----------
    arrays
        What its network and its normaliser load, by name.
    schema
        What it observes and does.
    settings
        Those of the run.
    origin
        ``step``, ``commit`` and ``versions``.
    """

    arrays: Mapping[str, NDArray[np.generic]]
    schema: Schema
    settings: ActorsSettings
    origin: Mapping[str, Any]


def save_policy(path: Path, policy: SavedPolicy) -> None:
    """Write a policy, whole or not at all."""
    fields = {
        "format": FORMAT,
        "settings": asdict(policy.settings),
        "schema": policy.schema.to_json(),
        "origin": dict(policy.origin),
    }
    with write_whole(path) as temporary:
        temporary.write_bytes(encode(Message("policy", fields, policy.arrays)))


def load_policy(path: Path) -> SavedPolicy:
    """Read a policy; torch is not needed.

    Raises
    ------
    InputError
        There is none, or what is there is no policy of this version.
    """
    try:
        message = decode(path.read_bytes())
        found = message.fields.get("format")
        if found != FORMAT:
            raise InputError(path, f"its format is {found!r}, not {FORMAT}; use a matching version")
        return SavedPolicy(
            message.arrays,
            Schema.from_json(message.fields.get("schema")),
            build(ActorsSettings, message.table("settings")),
            message.table("origin"),
        )
    except OSError as error:
        raise InputError(path, f"no policy: {error.strerror}") from None
    except InputError:
        raise
    except (MalformedMessageError, OggError) as error:
        raise InputError(path, f"no policy, or a damaged one: {error}") from None
