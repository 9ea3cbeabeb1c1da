"""Alg. 4 for two-message policies, on a device with kernels: the twin of `TwoMessageEngine`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.policies.degree_messages import LOW_DEGREE, TwoMessageForm
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.device_engine import DeviceEngine
from ogg_hpc.search.schedule import Schedule


class DeviceTwoMessageEngine(DeviceEngine):
    """A residual graph whose nodes are ranked by a two-message policy.

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
        form: TwoMessageForm,
        schedule: Schedule,
        forced: NDArray[np.int64],
    ) -> None:
        super().__init__(comm, block, form.messages, schedule, forced)
        device, xp = comm.device, comm.device.xp
        answer = [device.from_host(part) for part in (form.answer_by_degree, form.answer_by_sum)]
        self._answer = (*answer, float(form.largest), LOW_DEGREE)
        self._share = float(form.refresh_above)
        self._factor = [
            device.from_host(part) for part in (form.score_by_degree, form.score_by_sum)
        ]
        self._answers = xp.zeros(block.n, np.int64)
        self._answer_sums = xp.zeros(block.rows, np.int64)
        self._gains = xp.empty(max(block.n, self.state.width), np.int64)
        self._count = xp.zeros(1, np.int64)
        self._nodes = xp.empty(block.rows, np.int32)
        self._values = xp.empty(block.rows, np.int64)
        self._send(0.0)  # nothing has been sent: all are new
        self._score()

    def _advance(
        self, nodes: Any, count: Any, candidates: Any, counts: NDArray[np.int64] | None = None
    ) -> None:
        self.state.remove(nodes, count, candidates, counts)
        self._replace(len(nodes), count, self.state.leaving, None)
        self._send(self._share)
        self._score()

    def _send(self, share: float) -> None:
        """Send the answers that have moved by more than a share, or are of low degree."""
        state = self.state
        self._count.fill(0)
        self._kernels.find_answers(
            state.rows,
            state.rows,
            state.lo,
            state.degrees,
            state.sums,
            *self._answer,
            share,
            self._answers,
            self._count,
            self._nodes,
            self._values,
        )
        most, count, nodes, values = state.rows, self._count, self._nodes, self._values
        comm = self.comm
        if comm.size > 1:
            counts = comm.allgatherv(comm.device.to_host(count), [1] * comm.size)
            own = int(counts[comm.rank])
            nodes, values = (
                comm.allgatherv(nodes[:own], counts),
                comm.allgatherv(values[:own], counts),
            )
            most = int(counts.sum())
            count = comm.device.from_host(np.array([most]))
        self._replace(most, count, nodes, values)

    def _replace(self, most: int, count: Any, nodes: Any, values: Any) -> None:
        """Replace answers, by nothing where no values are given, in all sums that hold them."""
        given = values is not None
        self._kernels.replace_answers(
            most,
            count,
            nodes,
            int(given),
            values if given else self._values,
            self._answers,
            self._gains,
        )
        self.state.add_to_touching(most, count, nodes, self._gains, self._answer_sums)

    def _score(self) -> None:
        state = self.state
        rows = (state.rows, state.lo, state.degrees, state.sums)
        self._kernels.score_by_answers(
            state.rows, *rows, self._answer_sums, *self._factor, self._keys
        )
