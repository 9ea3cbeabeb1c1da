"""Alg. 4 for policies in scalar form, on a device with kernels: the twin of `ScalarEngine`.

The same operations on the same integers give the same scores, hence the same covers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.policies.scalar_form import ScalarForm
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.device_engine import DeviceEngine
from ogg_hpc.search.schedule import Schedule


class DeviceScalarEngine(DeviceEngine):
    """A residual graph whose nodes are ranked by a policy in scalar form.

    Parameters
    ----------
    comm, block, schedule, forced
        As for `DeviceEngine`.
    form
        The policy.
    """

    def __init__(
        self,
        comm: Communicator,
        block: RowBlock,
        form: ScalarForm,
        schedule: Schedule,
        forced: NDArray[np.int64],
    ) -> None:
        super().__init__(comm, block, form.messages, schedule, forced)
        self._pieces = [
            comm.device.from_host(part) for part in (form.starts, form.intercepts, form.slopes)
        ]
        self._score()

    def _advance(
        self, nodes: Any, count: Any, candidates: Any, counts: NDArray[np.int64] | None = None
    ) -> None:
        self.state.remove(nodes, count, candidates, counts)
        self._score()

    def _score(self) -> None:
        state, pieces = self.state, self._pieces
        rows = (state.rows, state.lo, state.degrees, state.sums)
        self._kernels.score_by_pieces(state.rows, *rows, len(pieces[0]), *pieces, self._keys)
