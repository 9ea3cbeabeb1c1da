"""Columns with the servers, and numbers instead of rows on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.batch import CompactBatch, compact
from ogg_hpc.embedding.gradients import Slopes, gradients_of_slopes, scores
from ogg_hpc.embedding.model import Matrix, Model, initial_rows
from ogg_hpc.embedding.pair_batches import draw_negatives, share
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.strategies.batchwise import Batchwise
from ogg_hpc.embedding.update import apply
from ogg_hpc.embedding.window import Window
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator

_BLOCK = 2**14  # rows that are made at a time
Rows = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class _Fetched:
    """A batch and the columns of its rows on the device, and their part of all its scores."""

    batch: CompactBatch
    X: Any
    Y: Any
    part: NDArray[np.float32]
    negative_shape: tuple[int, ...]


class Dot(Batchwise):
    """Each server holds some columns of all rows, and scores all pairs of all workers on them.

    Partial scores are summed to the workers, each of which turns an even part of the scores into
    slopes, and slopes go back to all servers: for m scores of the order of 4m numbers, as often
    as there are servers.
    """

    name = "dot"
    phases = ("route", "compute", "dots", "slopes")
    order_of_traffic = "4m"
    essential_traffic = ("dots", "slopes")

    def __init__(
        self, comm: Communicator, model: Model, settings: EmbedSettings, clock: Clock
    ) -> None:
        if settings.exchange != "alltoallv":
            raise SettingsError(
                "dot exchanges no rows: exchange = onesided is for the strategies partitioned and "
                "simple"
            )
        super().__init__(comm, model, settings, clock)
        bounds = np.zeros(comm.size + 1, np.int64)
        servers = self.layout.servers
        bounds[servers.start :] = np.arange(len(servers) + 1) * model.dim // len(servers)
        self._bounds = bounds
        columns = range(int(bounds[comm.rank]), int(bounds[comm.rank + 1]))
        names: tuple[Matrix, ...] = ("vectors",) if model.tied else ("vectors", "context")
        self._own = {name: self._initial(name, columns) for name in names}

    def _initial(self, matrix: Matrix, columns: range) -> Rows:
        rows = np.empty((self._model.n, len(columns)), np.float32)
        for start in range(0, len(rows), _BLOCK):
            ids = np.arange(start, min(start + _BLOCK, len(rows)))
            rows[ids] = initial_rows(self._model, matrix, ids, columns)
        return rows

    def _prepare(self, window: Window) -> None:
        with self._clock("route"):
            drawn = draw_negatives(self._model, window)
            pairs = share(self._comm, drawn, self.layout.servers, self.traffic)
        with self._clock("compute"):
            self._batches = [
                compact(*pairs.batch(number), self._model.negative, self._model.tied)
                for number in range(window.batches)
            ]

    def _fetch(self, batch: int) -> Callable[[], _Fetched]:
        sources, contexts, pairs = self._batches[batch]
        device, matrices = self._comm.device, list(self._own.values())
        with self._clock("compute"):
            there = pairs.moved(device)
            X = device.from_host(matrices[0][sources])
            Y = X if self._model.tied else device.from_host(matrices[1][contexts])
            part = scores(X, Y, there, device)
            flat = device.to_host(device.xp.concatenate([part.positive, part.negative.ravel()]))
        return lambda: _Fetched(there, X, Y, flat, part.negative.shape)

    def _step(self, batch: int, fetched: _Fetched, learning_rate: float) -> tuple[float, int]:
        sources, contexts, pairs = self._batches[batch]
        workers, rank, device = self.layout.workers, self._comm.rank, self._comm.device
        counts = np.zeros(self._comm.size, np.int64)
        counts[: len(workers)] = np.diff(
            np.arange(len(workers) + 1) * len(fetched.part) // len(workers)
        )
        lo = int(counts[:rank].sum())
        with self._clock("dots"):
            own = self._comm.reduce_scatter(fetched.part, counts)
        with self._clock("compute"):
            loss, own = self._slopes(own, lo, pairs)
        with self._clock("slopes"):
            everyone = self._comm.allgatherv(own, counts)
        with self._clock("compute"):
            k = len(pairs.sources)
            flat = device.from_host(everyone)
            slopes = Slopes(loss, flat[:k], flat[k:].reshape(fetched.negative_shape))
            found = gradients_of_slopes(fetched.X, fetched.Y, fetched.batch, slopes, device)
            steps = [
                (sources, found.source_sums, found.source_weights),
                (contexts, found.context_sums, found.context_weights),
            ]
            for matrix, (rows, sums, weights) in zip(self._own.values(), steps, strict=False):
                step = device.to_host(sums), device.to_host(weights)
                apply(matrix, rows, *step, learning_rate, self._model.row_limit)
        self._count(len(everyone), len(own))
        return loss, len(range(lo, min(lo + len(own), k)))

    def _slopes(
        self, own: NDArray[np.float32], lo: int, pairs: CompactBatch
    ) -> tuple[float, NDArray[np.float32]]:
        """Return loss and slopes of an even part of a batch's scores, which starts at number lo."""
        k, width = len(pairs.sources), pairs.negatives.shape[-1]
        of_pairs = max(0, k - lo)
        losses, positive = self._model.objective.positive(own[:of_pairs])
        negative_losses, negative = self._model.objective.negative(own[of_pairs:])
        weights: float | NDArray[Any] = pairs.negative_weight
        if pairs.shared:
            # Each source is weighed against the negatives once, for all of its pairs.
            rows = (max(0, lo - k) + np.arange(len(negative))) // width
            of_rows = np.bincount(pairs.sources, minlength=rows.max(initial=0) + 1)
            weights = weights * of_rows[rows]
        loss = losses.sum(dtype=np.float64) + (weights * negative_losses).sum(dtype=np.float64)
        return float(loss), np.concatenate([positive, weights * negative]).astype(np.float32)

    def _count(self, numbers: int, own: int) -> None:
        """Count the scores of a batch, of which this rank has `own`, and their slopes."""
        servers, serves = len(self.layout.servers), int(self._comm.rank in self.layout.servers)
        self.traffic.add("dots", 4, serves * numbers, serves * (numbers - own))
        self.traffic.add("slopes", 4, servers * own, (servers - serves) * own)

    def gather(self, matrix: Matrix, lo: int, hi: int) -> Rows | None:
        """See `Strategy.gather`."""
        own = self._own[matrix][lo:hi]
        counts = np.zeros(self._comm.size, np.int64)
        counts[0] = own.size
        numbers, received = self._comm.alltoallv(own.ravel(), counts)
        if self._comm.rank != 0:
            return None
        parts = np.split(numbers, np.cumsum(received)[:-1])
        return np.concatenate([part.reshape(hi - lo, -1) for part in parts if len(part)], axis=1)

    def restore(self, matrix: Matrix, lo: int, hi: int, rows: Rows | None) -> None:
        """See `Strategy.restore`."""
        counts = np.zeros(self._comm.size, np.int64)
        numbers = np.empty(0, np.float32)
        if rows is not None:
            counts = np.diff(self._bounds) * (hi - lo)
            columns = np.split(rows, self._bounds[1:-1], axis=1)
            numbers = np.concatenate([part.ravel() for part in columns])
        own, _ = self._comm.alltoallv(numbers, counts)
        self._own[matrix][lo:hi] = own.reshape(hi - lo, -1)
