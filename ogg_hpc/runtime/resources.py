"""What the operating system gives a process: cores, memory, file systems."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ogg_hpc.errors import InputError

# A cgroup of version 1 without a limit shows the largest multiple of a page.
_NO_LIMIT = 2**62


def compact(numbers: Iterable[int]) -> str:
    """Return a list of numbers as Linux writes lists of cores: ``0-3,8``."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


def total_memory_bytes() -> int:
    """Return the memory of this host."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def memory_limit_bytes(root: Path = Path("/")) -> int | None:
    """Return the memory that this process's control groups allow it, None without a limit.

    Parameters
    ----------
    root
        Where ``proc`` and ``sys`` are.
    """
    limits: list[int] = []
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        base = root / "sys/fs/cgroup" / ("memory" if controllers else "")
        name = "memory.limit_in_bytes" if controllers else "memory.max"
        group = base / path.lstrip("/")
        # What a group allows, none below it can exceed.
        for folder in (group, *group.parents):
            limits += [int(text) for text in _lines(folder / name) if text.isdigit()]
            if folder == base:
                break
    smallest = min(limits, default=_NO_LIMIT)
    return smallest if smallest < _NO_LIMIT else None


def usable_memory_bytes() -> int:
    """Return the memory that processes on this host may take: all of it, or a group's limit."""
    return min(total_memory_bytes(), memory_limit_bytes() or _NO_LIMIT)


def file_system(folder: str | Path, mounts: Path = Path("/proc/self/mountinfo")) -> dict[str, Any]:
    """Return what a folder is on: its absolute path, the file system's type, its free bytes.

    The type is None where it cannot be told.

    Raises
    ------
    InputError
        The folder is gone, or cannot be looked at.
    """
    try:
        path = Path(folder).resolve(strict=True)
        free = shutil.disk_usage(path).free
    except OSError as error:
        raise InputError(folder, f"no folder to work in: {error.strerror}; cd to one") from None
    kind, deepest = None, -1
    for line in _lines(mounts):
        place, _, source = line.partition(" - ")
        point = Path(re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), place.split()[4]))
        # Of several on one mount point the last covers the others.
        if path.is_relative_to(point) and len(point.parts) >= deepest:
            kind, deepest = source.split()[0], len(point.parts)
    return {"path": str(path), "type": kind, "free_bytes": free}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
