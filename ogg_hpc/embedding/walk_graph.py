"""A graph to walk on, whether it lies on each node of the machine or by rows over the ranks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray


class WalkGraph(ABC):
    """A graph without self loops on which random walks step from row to row.

    A step goes to a neighbour (of a directed graph, an out-neighbour) in proportion to the weights
    of the edges. Step s of a walk draws from the walk's key and s alone: all forms of a graph, on
    any number of ranks, give the same walks.

    Parameters
    ----------
    directed, weighted
        Whether edges have directions, and whether their weights count.
    degrees
        (n,) int64 neighbours of each node, out-neighbours of a directed graph.
    strengths
        (n,) float64 sums of the weights of these edges.
    in_strengths
        (n,) float64 sums of the weights of the edges into each node; of an undirected graph, the
        same array.

    Attributes
    ----------
    n : int
        Number of nodes.
    directed, weighted, degrees, strengths, in_strengths
        As given; read only.
    """

    def __init__(
        self,
        directed: bool,
        weighted: bool,
        degrees: NDArray[np.int64],
        strengths: NDArray[np.float64],
        in_strengths: NDArray[np.float64],
    ) -> None:
        self.n = len(degrees)
        self.directed, self.weighted = directed, weighted
        self.degrees, self.strengths, self.in_strengths = degrees, strengths, in_strengths

    @property
    def id_type(self) -> type[np.integer[Any]]:
        """The dtype of node ids: int32 where they fit, else int64."""
        return np.int32 if self.n < 2**31 else np.int64

    @abstractmethod
    def walks(
        self,
        starts: NDArray[Any],
        keys: NDArray[np.uint64],
        steps: int,
        *,
        p: float = 1.0,
        q: float = 1.0,
    ) -> NDArray[Any]:
        """Walk from each start (collective where ranks share the graph by rows).

        Parameters
        ----------
        starts
            (k,) nodes.
        keys
            (k,) one random key for each walk.
        steps
            Steps of a walk; one that comes to a node without neighbours ends there.
        p, q
            From the second step on, a step back to the node before weighs ``1 / p`` times its edge
            and one to a node that is no neighbour of the node before ``1 / q`` times (Grover and
            Leskovec, KDD 2016). In a directed graph, the out-neighbours of the node before count.

        Returns
        -------
        (k, steps + 1) ids
            The nodes of each walk, its start first; -1 after its end.
        """

    @abstractmethod
    def ends(
        self, starts: NDArray[Any], keys: NDArray[np.uint64], steps: NDArray[np.int64]
    ) -> NDArray[Any]:
        """Return the (k,) last nodes of walks whose (k,) numbers of steps are given.

        They are those of `walks` with p = q = 1; collective where that is.
        """

    @abstractmethod
    def free(self) -> None:
        """Give memory that ranks share back (collective); the graph cannot be used any more."""
