"""structure2vec without torch: the second half of equation (2) in plain array operations.

Processes that only act need no more, and start in a fraction of the time and the memory. The
operations are those of `ogg_hpc.policies.structure2vec` in the same order, in float64.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.problems.problem import PartialSolution


class Structure2VecScorer:
    """Scores nodes up to a term that all nodes of a graph share.

    Calls are those of `ogg_hpc.policies.scorer.PolicyScorer`.

    Parameters
    ----------
    settings
        Of the network.
    parameters
        ``theta1`` to ``theta7`` in float64; `theta5` belongs to the term that is left out.
    """

    residual = True

    def __init__(
        self, settings: Structure2VecSettings, parameters: Mapping[str, NDArray[Any]]
    ) -> None:
        self._settings = settings
        theta2, theta3 = parameters["theta2"], parameters["theta3"]
        edge_basis = np.maximum(np.stack([theta2, -theta2]), 0.0) @ theta3.T
        self._basis = np.concatenate([edge_basis, parameters["theta1"][None]])
        self._message = parameters["theta4"].T
        self._hidden = parameters["theta6"].T
        self._output = parameters["theta7"][settings.width :]

    def __call__(self, batch: GraphBatch, solution: PartialSolution) -> tuple[Any, Any]:
        """Return (rows, copies) residual degrees and scores of this rank's rows (collective)."""
        device = batch.comm.device
        xp = device.xp
        basis, message, hidden, output = map(
            device.from_host, (self._basis, self._message, self._hidden, self._output)
        )
        degrees = batch.degrees(solution.active)
        active = batch.local(solution.active).astype(np.float64)[..., None]
        units = self._settings.units(batch.mean_degrees)[batch.graph_of[batch.lo : batch.hi]]
        unit = active * device.from_host(units)[:, None, None]
        sums = xp.stack(batch.edge_sums(solution.active, degrees), axis=-1)
        x = batch.local(solution.selected).astype(np.float64)[..., None]
        fixed = xp.concatenate([sums * unit, x], axis=-1) @ basis
        embedding = xp.maximum(fixed, 0.0)
        for _ in range(self._settings.layers - 1):
            rows = (embedding * active).reshape(len(active), -1)
            neighbours = batch.gather_multiply(rows).reshape(embedding.shape) * unit
            embedding = xp.maximum(fixed + neighbours @ message, 0.0)
        return degrees, xp.maximum(embedding @ hidden, 0.0) @ output
