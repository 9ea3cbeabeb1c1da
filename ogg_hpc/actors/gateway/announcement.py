"""The file by which hosts find a controller: ``controllers/NODE.json`` in the folder of the run."""

from __future__ import annotations

import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.files import read_json, write_json

_FORMAT = "ogg-hpc-controller/1"
_WHAT = "announcement of a controller"


@dataclass(frozen=True)
class Announcement:
    """Where a controller listens and what a host needs to be let in.

    Attributes
    ----------
    node : str
        The controller's node.
    address : str
        ``HOST:PORT``, as hosts reach it.
    token_file : str
        The file that holds the secret.
    certificate : str
        The file with the certificate by which hosts know the controller; empty without TLS.
    schema : str
        Digest of the schema of the run's environment; empty if it is not known yet.
    protocol : int
        Version of the messages.
    package : str
        Version of ``ogg-hpc``.
    finished : bool
        Whether the run needs no hosts any more.
    """

    node: str
    address: str
    token_file: str
    certificate: str
    schema: str
    protocol: int
    package: str
    finished: bool = False


def controllers_folder(run_folder: Path) -> Path:
    """Return the folder for all that controllers of a run write."""
    return run_folder / "controllers"


def node_name() -> str:
    """Return the name of this node, as in the names of its files."""
    return socket.gethostname().partition(".")[0] or "node"


def write_announcement(path: Path, announcement: Announcement) -> None:
    """Write an announcement, whole or not at all."""
    write_json(path, {"format": _FORMAT, **asdict(announcement)})


def read_announcement(path: Path) -> Announcement:
    """Read an announcement.

    Raises
    ------
    InputError
        There is none, or it is of another version.
    """
    content = read_json(path, _WHAT)
    if content.pop("format", None) != _FORMAT:
        raise InputError(path, f"no {_WHAT} of this version: expected the format {_FORMAT}")
    fields: dict[str, Any] = Announcement.__annotations__
    if set(content) != set(fields):
        raise InputError(path, f"no {_WHAT}: expected the keys {', '.join(fields)}")
    return Announcement(**content)
