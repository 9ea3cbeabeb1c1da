"""Alg. 4 by an engine of scalar states on a device with kernels."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.policies.degree_messages import TwoMessageForm
from ogg_hpc.policies.scalar_form import ScalarForm
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.device_engine import DeviceEngine
from ogg_hpc.search.device_scalar_engine import DeviceScalarEngine
from ogg_hpc.search.device_two_message_engine import DeviceTwoMessageEngine
from ogg_hpc.search.policy_search import SearchResult
from ogg_hpc.search.schedule import Schedule


def scalar_search_on_device(
    comm: Communicator,
    block: RowBlock,
    form: ScalarForm | TwoMessageForm,
    schedule: Schedule,
    forced: NDArray[np.int64],
    on_step: Callable[[int, NDArray[np.int64]], None] | None = None,
) -> SearchResult:
    """Do what `scalar_search` does, on devices with kernels (collective).

    Parameters
    ----------
    comm
        The ranks; their devices have kernels.
    block, form, schedule, forced, on_step
        As for `scalar_search`.

    Returns
    -------
    SearchResult
        What `scalar_search` returns.
    """
    forced = np.asarray(forced, np.int64)
    engine: DeviceEngine
    if isinstance(form, TwoMessageForm):
        engine = DeviceTwoMessageEngine(comm, block, form, schedule, forced)
    else:
        engine = DeviceScalarEngine(comm, block, form, schedule, forced)
    chosen = [forced]
    seconds: list[float] = []
    while engine.candidates:
        start, left = time.perf_counter(), engine.candidates
        nodes, steps = engine.run() if comm.size == 1 else (engine.step(), 1)
        if not len(nodes):
            break  # no candidate has a finite score
        chosen.append(nodes)
        seconds += [(time.perf_counter() - start) / steps] * steps
        if on_step is not None:
            on_step(len(seconds), np.array([left]))
    return SearchResult([np.concatenate(chosen)], seconds, engine.state.adjacency_bytes)
