"""All rows with their owners."""

from __future__ import annotations

from ogg_hpc.embedding.strategies.rows import RowStrategy
from ogg_hpc.embedding.tables.table import Table


class Simple(RowStrategy):
    """Rows of both matrices are spread over the servers; every worker pulls and pushes both.

    For m_s distinct sources and m_c distinct contexts of a batch on a worker, 2 (m_s + m_c) rows
    are wanted: of the order of 4mD numbers.
    """

    name = "simple"
    order_of_traffic = "4mD"
    essential_traffic = ("vectors_pulled", "vectors_pushed", "context_pulled", "context_pushed")

    def _make_vectors(self) -> Table:
        return self._make_table("vectors")
