"""What rank 0 alone holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ogg_hpc.runtime.communicator import Communicator

T_co = TypeVar("T_co", covariant=True)


class OnRoot(Generic[T_co]):
    """What rank 0 alone holds, made there (collective).

    Attributes
    ----------
    value
        None on the other ranks.
    """

    def __init__(self, comm: Communicator, make: Callable[[], T_co]) -> None:
        self._comm = comm
        self.value: T_co | None = None

        def keep() -> None:
            self.value = make()

        comm.on_root(keep)

    def get(self) -> T_co:
        """Return the value, on rank 0."""
        assert self.value is not None
        return self.value

    def do(self, function: Callable[[T_co], Any]) -> Any:
        """Return on every rank what a function of the value gives on rank 0 (collective)."""
        return self._comm.on_root(lambda: function(self.get()))
