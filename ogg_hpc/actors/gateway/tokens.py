"""The secret by which a controller knows its hosts: a file that its owner alone can read."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.private_files import write_private_once

_FEWEST = 16  # characters
_MOST = 4096


def make_token(path: Path) -> None:
    """Write a new token to a file, unless there is one.

    Several may do so at once: one of them wins, whole.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    if not path.exists():
        write_private_once(path, secrets.token_urlsafe(32).encode() + b"\n")


def read_token(path: Path) -> str:
    """Return the token in a file.

    Raises
    ------
    InputError
        There is none, others than the owner can read it, or it is no token.
    """
    try:
        with open(path, "rb") as stream:
            mode = stat.S_IMODE(os.fstat(stream.fileno()).st_mode)
            content = stream.read(_MOST + 1)
    except OSError as error:
        raise InputError(path, f"no token: {error.strerror}; see --token-file") from None
    if mode & 0o077:
        raise InputError(
            path, f"others can read this token (mode {mode:04o}); run: chmod 600 {path}"
        )
    token = content.strip()
    printable = all(0x21 <= byte <= 0x7E for byte in token)  # as in a header of HTTP
    if not printable or not _FEWEST <= len(token) <= _MOST:
        raise InputError(
            path, f"not a token: expected {_FEWEST} to {_MOST} printable characters on one line"
        )
    return token.decode("ascii")
