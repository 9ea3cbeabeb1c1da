"""Source rows with the worker that trains them."""

from __future__ import annotations

from ogg_hpc.embedding.pair_batches import PairBatches, route
from ogg_hpc.embedding.strategies.rows import RowStrategy
from ogg_hpc.embedding.tables.local import LocalTable
from ogg_hpc.embedding.tables.table import Table


class Partitioned(RowStrategy):
    """Each pair is computed by the worker that holds the row of its source.

    So only rows of contexts and negatives are wanted from the servers, 2 m_c of them in a batch:
    of the order of 2mD numbers, half as many as in `Simple` where the pairs of a batch are
    independent, such as edges. The pairs of a walk meet the same few nodes again and again. They
    stay together in `Simple` and are scattered here, so that with batches of a few whole walks
    this strategy sends less on two workers alone.

    In a tied model contexts are rows of ``vectors``, which lie with the servers; then the owner of
    a source is the only worker that wants it as a source. No formula speaks of it.
    """

    name = "partitioned"
    order_of_traffic = "2mD"
    essential_traffic = ("context_pulled", "context_pushed")

    def _make_vectors(self) -> Table:
        self._workers = self._owners("vectors", self.layout.workers)
        if self._model.tied:
            return self._make_table("vectors")
        return LocalTable(self._comm, "vectors", self._workers, self._model, self.traffic)

    def _route(self, pairs: PairBatches) -> PairBatches:
        if len(self.layout.workers) == 1:
            return pairs
        return route(self._comm, pairs, self._workers, self.traffic)
