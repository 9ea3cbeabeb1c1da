"""A policy as the function that a search calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.policies.policy import Policy
from ogg_hpc.problems.problem import PartialSolution


def scorer_of(policy: Policy) -> Callable[[GraphBatch, PartialSolution, Any], Any]:
    """Return ``f(batch, solution, degrees)`` that gives a policy's scores as device arrays."""

    def scores(batch: GraphBatch, solution: PartialSolution, degrees: Any) -> Any:
        with torch.no_grad():
            return batch.comm.device.array(policy(batch, solution, degrees=degrees))

    return scores
