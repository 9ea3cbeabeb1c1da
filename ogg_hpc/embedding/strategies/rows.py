"""Training on rows that are pulled, and pushed back as gradients."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.batch import compact
from ogg_hpc.embedding.gradients import gradients
from ogg_hpc.embedding.model import Matrix, Model
from ogg_hpc.embedding.pair_batches import PairBatches, draw_negatives
from ogg_hpc.embedding.row_owners import RowOwners
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.strategies.batchwise import Batchwise
from ogg_hpc.embedding.tables.exchanged import ExchangedTable
from ogg_hpc.embedding.tables.local import LocalTable
from ogg_hpc.embedding.tables.one_sided import OneSidedTable
from ogg_hpc.embedding.tables.table import Rows, Table
from ogg_hpc.embedding.window import Window
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator

_TABLES: dict[str, type[Table]] = {"alltoallv": ExchangedTable, "onesided": OneSidedTable}


class RowStrategy(Batchwise):
    """Computes each batch of pairs on the distinct rows that it takes part in.

    Attributes
    ----------
    tables : dict of str to Table
        The rows of each matrix; a tied model has ``vectors`` alone.
    """

    phases = ("route", "pull", "compute", "push")

    def __init__(
        self, comm: Communicator, model: Model, settings: EmbedSettings, clock: Clock
    ) -> None:
        super().__init__(comm, model, settings, clock)
        self._exchange = settings.exchange
        self.tables: dict[Matrix, Table] = {"vectors": self._make_vectors()}
        if not model.tied:
            self.tables["context"] = self._make_table("context")

    @abstractmethod
    def _make_vectors(self) -> Table:
        """Lay the rows of ``vectors`` out (collective)."""

    def _make_table(self, matrix: Matrix) -> Table:
        """Lay the rows of a matrix out over the servers (collective)."""
        kind = LocalTable if self._comm.size == 1 else _TABLES[self._exchange]
        return kind(
            self._comm, matrix, self._owners(matrix, self.layout.servers), self._model, self.traffic
        )

    def _owners(self, matrix: Matrix, ranks: range) -> RowOwners:
        return RowOwners(self._model.n, ranks, self._model.seed, matrix)

    def _route(self, pairs: PairBatches) -> PairBatches:
        """Bring pairs to the ranks that compute them (collective)."""
        return pairs

    def _prepare(self, window: Window) -> None:
        with self._clock("route"):
            pairs = self._route(draw_negatives(self._model, window))
        with self._clock("compute"):
            compacted = [
                compact(*pairs.batch(i), self._model.negative, self._model.tied)
                for i in range(window.batches)
            ]
        sources, contexts, self._batches = zip(*compacted, strict=True)
        with self._clock("pull"):
            self.tables["vectors"].plan(sources)
            if not self._model.tied:
                self.tables["context"].plan(contexts)

    def _fetch(self, batch: int) -> Callable[[], list[Rows]]:
        with self._clock("pull"):
            fetches = [table.fetch(batch) for table in self.tables.values()]

        def wait() -> list[Rows]:
            with self._clock("pull"):
                return [fetch() for fetch in fetches]

        return wait

    def _step(self, batch: int, fetched: list[Rows], learning_rate: float) -> tuple[float, int]:
        pairs = self._batches[batch]
        with self._clock("compute"):
            found = gradients(
                self._model.objective, fetched[0], fetched[-1], pairs, self._comm.device
            )
        pushed = [
            (found.source_sums, found.source_weights),
            (found.context_sums, found.context_weights),
        ]
        with self._clock("push"):
            moves = [
                table.push(batch, *gradients_of_rows, learning_rate)
                for table, gradients_of_rows in zip(self.tables.values(), pushed, strict=False)
            ]
            for move in moves:
                move()
        return found.loss, len(pairs.sources)

    def free(self) -> None:
        """See `Strategy.free`."""
        for table in self.tables.values():
            table.free()

    def gather(self, matrix: Matrix, lo: int, hi: int) -> NDArray[np.float32] | None:
        """See `Strategy.gather`."""
        return self.tables[matrix].gather(lo, hi)

    def restore(self, matrix: Matrix, lo: int, hi: int, rows: NDArray[Any] | None) -> None:
        """See `Strategy.restore`."""
        self.tables[matrix].restore(lo, hi, rows)
