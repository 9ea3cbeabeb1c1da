"""A policy as what a search calls."""

from __future__ import annotations

from typing import Any

import torch

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.policies.policy import Policy
from ogg_hpc.problems.problem import PartialSolution


class PolicyScorer:
    """Scores by a policy's `preferences`, as device arrays.

    Parameters
    ----------
    policy
        The network, on the device.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.residual = policy.residual

    def __call__(self, batch: GraphBatch, solution: PartialSolution) -> tuple[Any, Any]:
        """Return (rows, copies) residual degrees and scores of this rank's rows (collective)."""
        degrees = batch.degrees(solution.active)
        with torch.no_grad():
            scores = self._policy.preferences(batch, solution, degrees)
        return degrees, batch.comm.device.array(scores)
