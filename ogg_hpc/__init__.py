"""Learned graph optimisation on supercomputers.

Importing this package starts neither MPI nor CUDA and loads no heavy library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogg_hpc.runtime.compiled_code import find_cache_folder

if TYPE_CHECKING:
    from ogg_hpc.search.solve import Solved, solve

__all__ = ["Solved", "solve"]

find_cache_folder()


def __getattr__(name: str) -> Any:
    """Load the public functions on first use (PEP 562)."""
    if name in __all__:
        from ogg_hpc.search import solve as module

        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
