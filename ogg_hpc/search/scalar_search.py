"""Alg. 4 by an engine of scalar states."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.policies.degree_messages import TwoMessageForm
from ogg_hpc.policies.scalar_form import ScalarForm
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.stop import Stop, never
from ogg_hpc.search.device_engine import SOURCE
from ogg_hpc.search.device_scalar_engine import DeviceScalarEngine
from ogg_hpc.search.device_two_message_engine import DeviceTwoMessageEngine
from ogg_hpc.search.policy_search import SearchResult
from ogg_hpc.search.scalar_engine import ScalarEngine
from ogg_hpc.search.schedule import Schedule
from ogg_hpc.search.two_message_engine import TwoMessageEngine

# Two-hop entries a step, the square of the mean degree, from where a device with kernels is used:
# below, the host has finished before a device has started its dozen kernels.
DEVICE_PAYS = 100_000


class Engine(Protocol):
    """A residual graph whose nodes are ranked, on the host or on a device."""

    @property
    def candidates(self) -> int:
        """Number of nodes with an edge."""

    @property
    def adjacency_bytes(self) -> int:
        """Bytes of the adjacency form."""

    def advance(self, stop: bool) -> tuple[NDArray[np.int64], int] | None:
        """Choose the best nodes and remove them: one step, or some on a lone rank (collective).

        Parameters
        ----------
        stop
            Whether this rank is asked to stop; the others hear of it in the step's message.

        Returns
        -------
        nodes, steps
            Ids in the order chosen, none where no candidate has a finite score; steps made. None
            where any rank is asked to stop: the engine is of no use then.
        """


def scalar_search(
    comm: Communicator,
    block: RowBlock,
    form: ScalarForm | TwoMessageForm,
    schedule: Schedule,
    forced: NDArray[np.int64],
    on_step: Callable[[int, NDArray[np.int64]], None] | None = None,
    stop: Stop = never,
) -> SearchResult:
    """Build a vertex cover as `search` does, by scores in scalar form (collective).

    Parameters
    ----------
    comm
        The ranks; a device with kernels is used where a step is enough work for it.
    block
        This rank's rows of an unweighted graph.
    form
        The policy.
    schedule, forced, on_step, stop
        As for `search`.

    Returns
    -------
    SearchResult
        What `search` returns; a lone rank's step times are means over a few steps.
    """
    forced, schedule = np.asarray(forced, np.int64), schedule.resolved(block.n)
    # The kernels read no weights of nodes.
    weighted = isinstance(form, TwoMessageForm) and form.weights is not None
    on_device = not weighted and _device_pays(comm, block)
    engine: Engine
    if isinstance(form, TwoMessageForm):
        two_messages = DeviceTwoMessageEngine if on_device else TwoMessageEngine
        engine = two_messages(comm, block, form, schedule, forced)
    else:
        scalar = DeviceScalarEngine if on_device else ScalarEngine
        engine = scalar(comm, block, form, schedule, forced)
    device = comm.device.name if on_device else "cpu"
    return search_by(comm, engine, forced, device, on_step, stop)


def search_by(
    comm: Communicator,
    engine: Engine,
    forced: NDArray[np.int64],
    device: str,
    on_step: Callable[[int, NDArray[np.int64]], None] | None = None,
    stop: Stop = never,
) -> SearchResult:
    """Let an engine choose nodes until it has no candidate (collective).

    Parameters
    ----------
    comm
        The ranks.
    engine
        One that chose `forced` when it was made.
    forced, on_step, stop
        As for `search`; a lone rank asks between some steps.
    device
        Where the engine is.
    """
    chosen = [forced]
    seconds: list[float] = []
    stopped = False
    while engine.candidates:
        start, left = time.perf_counter(), engine.candidates
        made = engine.advance(stop())
        if made is None:
            stopped = True
            break
        nodes, steps = made
        if not len(nodes):
            break  # no candidate has a finite score
        chosen.append(nodes)
        end = time.perf_counter()
        seconds += [(end - start) / steps] * steps
        comm.trace.add("step", "step", start, end, steps=steps, candidates=left)
        if on_step is not None:
            on_step(len(seconds), np.array([left]))
    actions = [np.concatenate(chosen)]
    return SearchResult(
        actions,
        actions if stopped else None,
        seconds,
        engine.adjacency_bytes,
        device,
    )


def _device_pays(comm: Communicator, block: RowBlock) -> bool:
    two_hops = block.mean_degree**2
    return two_hops >= DEVICE_PAYS and comm.device.kernels(SOURCE) is not None
