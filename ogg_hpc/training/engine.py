"""What learning asks of the part that knows graphs and the policy's products.

Two engines do the same: `reference_engine` multiplies adjacency blocks with embeddings, for any
problem and policy; `scalar_engine` needs two integers a node, for structure2vec of up to two
layers on vertex cover.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.policies.policy import Policy
from ogg_hpc.problems.problem import Problem
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.training.reference_engine import ReferenceEngine
from ogg_hpc.training.replay import Prefixes
from ogg_hpc.training.rows import TrainingRows
from ogg_hpc.training.scalar_engine import ScalarEngine


class Environment(Protocol):
    """A graph and its partial solution, advanced one node at a time by all ranks together."""

    def step(self, policy: Policy) -> tuple[int, float] | None:
        """Choose the best action; return it and its reward, None without any (collective)."""

    def random_step(self, *key: int) -> tuple[int, float] | None:
        """Choose the candidate whose id has the largest hash with a key (collective)."""

    def value(self, policy: Policy) -> float:
        """Return the best score of a candidate, 0 without any (collective)."""


class States(Protocol):
    """B residual graphs with their partial solutions: Tuples2Graphs."""

    def after(self, prefixes: Prefixes) -> States:
        """Return later states of the same episodes, by their prefixes (collective)."""

    def values(self, policy: Policy) -> NDArray[np.float64]:
        """Return (B,) the best score among each state's candidates (collective).

        Scores are rounded to float32 as in a search; a state without candidates is worth 0.
        """

    def best(self, policy: Policy) -> NDArray[np.int64]:
        """Return (B,) each state's candidate that a search would choose, -1 without any.

        Collective.
        """

    def predicted(
        self, policy: Policy, actions: NDArray[np.int64]
    ) -> tuple[torch.Tensor, NDArray[np.int64]]:
        """Score the node of one action of each state (collective).

        Returns
        -------
        scores, tuples
            (k,) scores of this rank's nodes, to be differentiated, and whose they are. The
            gradients of all ranks add up to the whole.
        """


class Engine(Protocol):
    """Makes environments and states on the training graphs.

    Attributes
    ----------
    name : str
        For records.
    sizes : (graphs,) int64
        Nodes of each training graph.
    streams : bool
        Whether graphs are read when they are needed.
    """

    name: str
    sizes: NDArray[np.int64]
    streams: bool

    def expect(self, graphs: Iterable[int]) -> None:
        """Say which graphs are needed next, so that they are read meanwhile, if they are."""

    @property
    def adjacency_bytes(self) -> int:
        """What the form of this rank's blocks that is multiplied or walked takes."""

    def environment(self, graph: int, chosen: NDArray[np.int64]) -> Environment:
        """Return a graph on which some actions are chosen already (collective)."""

    def states(self, graphs: NDArray[np.int64], prefixes: Prefixes) -> States:
        """Return states by their graphs and the actions chosen in them (collective)."""


def make_engine(
    name: str,
    comm: Communicator,
    graphs: TrainingRows,
    problem: Problem,
    policy: Policy,
    collective: str,
) -> Engine:
    """Return an engine by its name, ``auto`` for the fastest that can be used (collective).

    Parameters
    ----------
    name
        One of `ogg_hpc.training.q_settings.ENGINES`.
    comm
        The ranks that share the graphs.
    graphs
        This rank's rows of each training graph.
    problem, policy
        What is solved, and the network that learns.
    collective
        How neighbour sums cross ranks, in the reference engine.

    Raises
    ------
    SettingsError
        The scalar engine cannot be used.
    """
    fits = ScalarEngine.fits(graphs.weighted, problem, policy)
    if name == "scalar" and not fits:
        raise SettingsError(
            "the scalar engine learns structure2vec of at most two layers on vertex cover, on "
            "unweighted graphs; use learning.engine = auto"
        ).shared()
    if name == "reference" or not fits:
        return ReferenceEngine(comm, graphs, problem, collective)
    return ScalarEngine(comm, graphs)
