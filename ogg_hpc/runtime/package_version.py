"""The version of this package, by which two sides know that they are of the same."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def package_version() -> str:
    """Return the version of ``ogg-hpc`` that is installed; ``unknown`` for a mere checkout."""
    try:
        return version("ogg-hpc")
    except PackageNotFoundError:
        return "unknown"
