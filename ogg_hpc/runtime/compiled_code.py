"""Where Numba keeps compiled code.

By itself it takes the package's folder or the user's cache folder, and fails where neither can be
written: in a read-only container on a node without home folders, for instance.
"""

from __future__ import annotations

import os
import stat
from collections.abc import MutableMapping
from pathlib import Path

_VARIABLE = "NUMBA_CACHE_DIR"


def find_cache_folder(environment: MutableMapping[str, str] = os.environ) -> None:
    """Point Numba to a private folder of this node where it would find none by itself.

    Does nothing if the user has chosen one, or if the usual places can be written.
    """
    if _VARIABLE in environment:
        return
    package = Path(__file__).parents[1]
    cache = Path(environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME", "/")) / ".cache")
    if _can_be_written(package) or _can_be_written(cache):
        return
    import tempfile

    folder = Path(tempfile.gettempdir()) / f"ogg_hpc-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    owner = folder.lstat()
    # Compiled code is run as it is found: never take it from a folder that others can write.
    private = stat.S_ISDIR(owner.st_mode) and owner.st_uid == os.getuid()
    if not private or owner.st_mode & 0o077:
        folder = Path(tempfile.mkdtemp(prefix="ogg_hpc-"))
    environment[_VARIABLE] = str(folder)


def _can_be_written(path: Path) -> bool:
    """Return whether a folder, or the nearest one above it that exists, can be written."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path.is_dir() and os.access(path, os.W_OK)
