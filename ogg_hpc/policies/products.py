"""Neighbour sums and graph sums that torch can differentiate across ranks.

Forward and backward are a block product and a collective each. For a row block A_i the adjoint
of "gather, then multiply by A_i" is "multiply by A_i transposed, then reduce-scatter". The
adjacency being symmetric, the second also computes the neighbour sum, so the two strategies are
the same pair of functions with forward and backward swapped.
"""

from __future__ import annotations

from typing import Any

import torch

from ogg_hpc.graphs.batch import GraphBatch


class _NeighbourSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, batch: GraphBatch) -> torch.Tensor:
        ctx.batch = batch
        if batch.collective == "allgather":
            return _apply(batch.gather_multiply, rows, batch)
        return _apply(batch.multiply_allreduce, rows, batch)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        batch: GraphBatch = ctx.batch
        if batch.collective == "allgather":
            return _apply(batch.multiply_reduce_scatter, gradients[0], batch), None
        return _apply(batch.gather_multiply, gradients[0], batch), None


class _RankSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: torch.Tensor, batch: GraphBatch) -> torch.Tensor:
        ctx.batch = batch
        return _apply(batch.comm.allreduce, values, batch)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        batch: GraphBatch = ctx.batch
        return _apply(batch.comm.allreduce, gradients[0], batch), None


def _apply(function: Any, tensor: torch.Tensor, batch: GraphBatch) -> torch.Tensor:
    device = batch.comm.device
    flat = tensor.flatten(1)  # a rank may have no rows
    result = device.tensor(function(device.array(flat)))
    return result.reshape(-1, *tensor.shape[1:])


def neighbour_sum(batch: GraphBatch, rows: torch.Tensor) -> torch.Tensor:
    """Sum each node's neighbours' vectors: A X (collective).

    Parameters
    ----------
    batch
        The graphs.
    rows
        (rows, copies, K) vectors of this rank's nodes, zero outside the residual graph.

    Returns
    -------
    (rows, copies, K) tensor
        Sums of nodes outside the residual graph too; the caller masks them.
    """
    result: torch.Tensor = _NeighbourSum.apply(rows, batch)  # type: ignore[no-untyped-call]
    return result


def graph_sum(batch: GraphBatch, rows: torch.Tensor, graph: torch.Tensor) -> torch.Tensor:
    """Sum the vectors of each graph's nodes over all ranks (collective).

    Parameters
    ----------
    batch
        The graphs.
    rows
        (rows, copies, K) vectors of this rank's nodes.
    graph
        (rows,) graph of each row.

    Returns
    -------
    (G, copies, K) tensor, on every rank
    """
    local = rows.new_zeros(len(batch.sizes), *rows.shape[1:]).index_add(0, graph, rows)
    result: torch.Tensor = _RankSum.apply(local, batch)  # type: ignore[no-untyped-call]
    return result
