"""Contexts that go round the ranks, past the sources that they are trained with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.batch_exchange import send_batches
from ogg_hpc.embedding.model import Matrix, Model
from ogg_hpc.embedding.pair_blocks import Blocks, choose_parts, sort_into_blocks
from ogg_hpc.embedding.part_negatives import PartNegatives
from ogg_hpc.embedding.row_owners import RowOwners
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.source_steps import (
    Negatives,
    cut_into_steps,
    longest_step,
    train_steps,
)
from ogg_hpc.embedding.strategies.strategy import Strategy
from ogg_hpc.embedding.tables.local import LocalTable
from ogg_hpc.embedding.traffic import Formula, Traffic
from ogg_hpc.embedding.window import Window
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator

# A window draws as many, so that moving the contexts costs little beside training its pairs.
_PAIRS_OF_A_NODE = 32


class Rotate(Strategy):
    """Vectors and contexts are cut into M parts each; contexts go round, vectors stay.

    In turn t of a window, part i of the vectors is trained with part (i + t) mod M of the contexts:
    M blocks that have no row in common. So each rank trains its blocks as if it were alone, in
    small steps, and after each turn one part goes on to the rank before. Negatives are of the
    visiting part. Results depend on M, not on the number of ranks. Blocks like these are those of
    GraphVite (Zhu et al., WWW 2019) and PyTorch-BigGraph (Lerer et al., SysML 2019).

    In a window each rank sends as many rows as there are contexts, 4DN bytes, however many pairs
    are trained. It computes on the CPU.
    """

    name = "rotate"
    phases = ("route", "compute", "move")
    order_of_traffic = "DN a window and rank"
    essential_traffic = ("context_moved",)

    def __init__(
        self, comm: Communicator, model: Model, settings: EmbedSettings, clock: Clock
    ) -> None:
        self._parts = settings.parts or choose_parts(model.n)
        _check(comm, model, settings, self._parts)
        super().__init__(comm, model, settings, clock)
        share = float(comm.size > 1)
        self.traffic = Traffic(Formula(self.order_of_traffic, self.essential_traffic, share))
        self.window_pairs = max(self.window_pairs, _PAIRS_OF_A_NODE * model.n)
        bounds = np.arange(comm.size + 1) * self._parts // comm.size
        self._own = range(int(bounds[comm.rank]), int(bounds[comm.rank + 1]))
        self._rank_of = np.repeat(np.arange(comm.size, dtype=np.int32), np.diff(bounds))
        self._source_parts = self._cut("vectors", self._parts)
        self._context_parts = self._cut("context", self._parts)
        self._tables: dict[Matrix, LocalTable] = {
            matrix: LocalTable(comm, matrix, self._cut(matrix, comm.size), model, self.traffic)
            for matrix in ("vectors", "context")
        }
        self._negatives = PartNegatives(model.negative_sampler, self._context_parts, model.seed)
        self._longest = longest_step(settings.learning_rate, model.negative, model.row_limit)

    def _cut(self, matrix: Matrix, blocks: int) -> RowOwners:
        """Return who holds which row, if whole parts are dealt out to this many blocks."""
        model = self._model
        return RowOwners(model.n, range(blocks), model.seed, matrix, self._parts)

    def train(self, window: Window) -> NDArray[np.float64]:
        """Train all blocks of the pairs of a window, in M turns (collective).

        Returns
        -------
        ndarray
            (batches, 2) summed loss and number of the pairs that this rank has computed. A turn
            takes pairs of all batches; it is counted for the batch at its place in the order of the
            turns, whose learning rate it has.
        """
        losses = np.zeros((window.batches, 2))
        with self._clock("route"):
            blocks = self._sort(window)
        visitors = {part: self._rows("context", part) for part in self._own}
        moved = 0
        for turn in range(self._parts):
            batch = turn * window.batches // self._parts
            for i in self._own:
                j = (i + turn) % self._parts
                with self._clock("compute"):
                    losses[batch] += self._train_block(window, batch, blocks, i, j, visitors[j])
                if i == self._own.start:
                    # Nobody here needs it any more, and it travels while the others are trained.
                    moved += len(visitors[j])
                    with self._clock("move"):
                        arrive = self._pass_on(visitors.pop(j), turn)
            with self._clock("move"):
                visitors[(self._own.stop + turn) % self._parts] = arrive()
        with self._clock("move"):
            for part, rows in visitors.items():
                self._rows("context", part)[:] = rows
        crossed = moved if self._comm.size > 1 else 0
        self.traffic.add("context_moved", 4 * self._model.dim, self._model.n, crossed)
        return losses

    def _sort(self, window: Window) -> Blocks:
        """Bring pairs to the owners of their sources, and sort them into blocks (collective)."""
        pairs = np.stack([window.sources, window.contexts], axis=1)
        ranks = self._rank_of[self._source_parts.find(window.sources)[0]]
        away = int(np.count_nonzero(ranks != self._comm.rank))
        self.traffic.add("pairs", pairs.itemsize * 2, len(pairs), away)
        pairs, _, _ = send_batches(self._comm, pairs, window.offsets, ranks)
        return sort_into_blocks(
            pairs[:, 0], pairs[:, 1], self._source_parts, self._context_parts, self._own
        )

    def _train_block(
        self, window: Window, batch: int, blocks: Blocks, i: int, j: int, Y: NDArray[np.float32]
    ) -> tuple[float, int]:
        """Train the pairs of sources of part i with contexts of part j, which are the rows Y."""
        X, model = self._rows("vectors", i), self._model
        sources, contexts = blocks.pairs(i, j)
        if len(sources) == 0:
            return 0.0, 0
        steps = cut_into_steps(sources, contexts, len(X), self._longest)
        if model.shared_negatives:
            ends = np.arange(len(steps.offsets)) * model.shared_negatives
        else:
            ends = steps.offsets * model.negative
        drawn = self._negatives.draw(int(ends[-1]), j, window.epoch, window.first, i)
        negatives = Negatives(ends, drawn, model.negative)
        rate = float(window.learning_rates[batch])
        return train_steps(model.objective, X, Y, steps, negatives, rate), len(sources)

    def _pass_on(self, rows: NDArray[np.float32], turn: int) -> Callable[[], NDArray[np.float32]]:
        """Send a part to the rank before; the function returned waits for that of the next."""
        size, rank = self._comm.size, self._comm.rank
        coming = (self._own.stop + turn) % self._parts
        return self._comm.start_sendrecv(
            rows, (rank - 1) % size, self._context_parts.rows_of(coming), (rank + 1) % size
        )

    def _rows(self, matrix: Matrix, part: int) -> NDArray[np.float32]:
        """Return the rows of a part that this rank owns."""
        starts = self._context_parts.starts  # the same of both matrices
        lo, hi = starts[part : part + 2] - starts[self._own.start]
        return self._tables[matrix].own[lo:hi]

    def gather(self, matrix: Matrix, lo: int, hi: int) -> NDArray[np.float32] | None:
        """See `Strategy.gather`."""
        return self._tables[matrix].gather(lo, hi)

    def restore(self, matrix: Matrix, lo: int, hi: int, rows: NDArray[np.float32] | None) -> None:
        """See `Strategy.restore`."""
        self._tables[matrix].restore(lo, hi, rows)


def _check(comm: Communicator, model: Model, settings: EmbedSettings, parts: int) -> None:
    """Refuse what the rotation cannot do."""
    if model.tied:
        raise SettingsError(
            "rotate trains vectors against contexts of their own, which LINE of first order does "
            "not have; use --order second, or another --strategy"
        )
    if comm.size > parts:
        raise SettingsError(
            f"rotate has {parts} parts of vectors, too few for {comm.size} ranks; start fewer "
            f"ranks, or cut finer by --parts {comm.size} or more, on which results depend"
        )
    if settings.servers or settings.staleness or settings.exchange != "alltoallv":
        raise SettingsError(
            "rotate pulls and pushes no rows: servers, staleness and exchange = onesided are for "
            "the strategies that do"
        )
