"""A graph of which each rank can read every row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.edge_weights import column_sums, refuse_weights, row_sums
from ogg_hpc.embedding.walk_graph import WalkGraph
from ogg_hpc.embedding.walk_rows import WalkRows, biased_walk, walk, walk_to_ends
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.on_root import OnRoot
from ogg_hpc.runtime.shared_memory import NodeArrays


class SharedGraph(WalkGraph):
    """A whole graph, once on each node of the machine (collective); its walks are not collective.

    Parameters
    ----------
    comm
        The ranks.
    graph
        The graph on rank 0; ignored elsewhere.

    Raises
    ------
    OggError
        A weight is not positive, or a node has too little shared memory.
    """

    def __init__(self, comm: Communicator, graph: Graph | None) -> None:
        def prepared() -> dict[str, NDArray[Any]]:
            assert graph is not None
            block, alone = row_block(graph, 0, 1), comm.alone()
            refuse_weights(alone, block, graph.labels_of)
            arrays = WalkRows.of(block)._asdict() | {
                "degrees": graph.degrees,
                "strengths": row_sums(block),
            }
            if graph.directed:
                arrays["in_strengths"] = column_sums(alone, block)
            return arrays

        arrays = OnRoot(comm, prepared)
        shared = NodeArrays(comm, arrays.value, "share the graph by rows, --graph-memory rows")
        self._shared = shared
        self._rows = WalkRows(*(shared[name] for name in WalkRows._fields))
        directed = "in_strengths" in shared
        super().__init__(
            directed,
            len(self._rows.thresholds) > 0,
            shared["degrees"],
            shared["strengths"],
            shared["in_strengths" if directed else "strengths"],
        )

    def walks(
        self,
        starts: NDArray[Any],
        keys: NDArray[np.uint64],
        steps: int,
        *,
        p: float = 1.0,
        q: float = 1.0,
    ) -> NDArray[Any]:
        """See `WalkGraph.walks`."""
        walks = np.empty((len(starts), steps + 1), self.id_type)
        walks[:, 0] = starts
        if p == q == 1:
            walk(self._rows, keys, walks)
        else:
            biased_walk(self._rows, keys, p, q, walks)
        return walks

    def ends(
        self, starts: NDArray[Any], keys: NDArray[np.uint64], steps: NDArray[np.int64]
    ) -> NDArray[Any]:
        """See `WalkGraph.ends`."""
        nodes = starts.astype(self.id_type)
        walk_to_ends(self._rows, keys, steps, nodes)
        return nodes

    def free(self) -> None:
        """See `WalkGraph.free`."""
        self._shared.free()
