"""Which ranks compute and which hold rows."""

from __future__ import annotations

from dataclasses import dataclass

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.communicator import Communicator


@dataclass(frozen=True)
class Layout:
    """Workers, which sample pairs and compute gradients, and servers, which hold rows.

    Attributes
    ----------
    workers, servers
        Ranks. Either all are both, or the last ones are servers alone.
    rank
        This rank.
    """

    workers: range
    servers: range
    rank: int

    @property
    def worker(self) -> int | None:
        """Number of this rank among the workers; None if it is a server alone."""
        return self.rank if self.rank in self.workers else None

    @property
    def remote_share(self) -> float:
        """Expected share of rows that a worker finds on another rank."""
        if self.workers == self.servers:
            return (len(self.servers) - 1) / len(self.servers)
        return 1.0


def make_layout(comm: Communicator, servers: int) -> Layout:
    """Lay workers and servers out over the ranks.

    Parameters
    ----------
    comm
        All ranks.
    servers
        How many ranks, the last ones, hold rows and do nothing else; with 0 all ranks do both.

    Raises
    ------
    SettingsError
        No rank would be left to compute.
    """
    if servers >= comm.size:
        raise SettingsError(
            f"servers = {servers} leaves none of {comm.size} ranks to sample and compute; "
            f"start more ranks, or set servers to at most {comm.size - 1}"
        )
    everyone = range(comm.size)
    if servers == 0:
        return Layout(everyone, everyone, comm.rank)
    first = comm.size - servers
    return Layout(everyone[:first], everyone[first:], comm.rank)
