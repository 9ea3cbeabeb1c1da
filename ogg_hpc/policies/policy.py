"""What every policy is: a torch module that scores the nodes of a batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict
from typing import Any, ClassVar

import torch

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.problems.problem import PartialSolution


class Policy(torch.nn.Module, ABC):
    """A model whose score of a node estimates what choosing it earns.

    A subclass sets `settings_type` to a dataclass of its settings and takes an instance of it.
    Parameters are float64 and are created by `ogg_hpc.policies.initial.uniform_parameter`, so
    that they are the same on every rank.

    Attributes
    ----------
    settings
        The instance of `settings_type` it was made with.
    residual : bool
        Whether `preferences` depend on the residual graph alone.
    """

    name: ClassVar[str]
    settings_type: ClassVar[type[Any]]
    settings: Any
    residual: ClassVar[bool] = False

    @abstractmethod
    def forward(
        self,
        batch: GraphBatch,
        solution: PartialSolution,
        at: tuple[Any, Any] | None = None,
        degrees: Any | None = None,
    ) -> torch.Tensor:
        """Score nodes (collective).

        Parameters
        ----------
        batch
            The graphs.
        solution
            The masks.
        at
            Row and copy indices, (k,) each, of the nodes of this rank to score; all by default.
        degrees
            (rows, copies) residual degrees where the caller has them already.

        Returns
        -------
        (k,) or (rows, copies) float64 tensor
            Scores of this rank's nodes.
        """

    def preferences(
        self, batch: GraphBatch, solution: PartialSolution, degrees: Any
    ) -> torch.Tensor:
        """Score this rank's nodes up to a term that all nodes of a graph share (collective).

        A choice needs no more. A policy whose scores of active nodes depend, up to such a term,
        on active nodes alone overrides this and sets `residual`; the search then drops nodes
        that have left the residual graph from its arrays.
        """
        return self(batch, solution, degrees=degrees)  # type: ignore[no-any-return]

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values for a parameter file."""
        return asdict(self.settings)
