"""structure2vec with a Q head: equations (1) and (2) of OpenGraphGym-MG over row blocks.

Two identities of equation (1) are used. relu(t w) = w+ relu(t) + w- relu(-t), so the edge term
needs two numbers a node; and the first layer's neighbours are zero, so L layers cost L - 1
products.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn.functional import relu

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.policies.initial import uniform_parameter
from ogg_hpc.policies.policy import Policy
from ogg_hpc.policies.products import graph_sum, neighbour_sum
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.problems.problem import PartialSolution


class Structure2Vec(Policy):
    """The policy model of the paper: 4K² + 4K parameters.

    Parameters
    ----------
    settings
        Width, layers, graph-level term.
    seed
        Seed of the initial parameters.
    """

    name = "s2v"
    settings_type = Structure2VecSettings
    residual = True

    def __init__(self, settings: Structure2VecSettings, seed: int = 0) -> None:
        super().__init__()
        self.settings = settings
        K = settings.width
        bound = 1 / math.sqrt(K)
        self.theta1 = uniform_parameter("theta1", (K,), 1.0, seed)
        self.theta2 = uniform_parameter("theta2", (K,), 1.0, seed)
        self.theta3 = uniform_parameter("theta3", (K, K), bound, seed)
        self.theta4 = uniform_parameter("theta4", (K, K), bound, seed)
        self.theta5 = uniform_parameter("theta5", (K, K), bound, seed)
        self.theta6 = uniform_parameter("theta6", (K, K), bound, seed)
        self.theta7 = uniform_parameter("theta7", (2 * K,), bound, seed)

    def embed(
        self, batch: GraphBatch, solution: PartialSolution, degrees: Any | None = None
    ) -> torch.Tensor:
        """Embed this rank's nodes by equation (1): Alg. 2 (collective).

        Returns
        -------
        (rows, copies, K) float64 tensor
        """
        tensor = batch.comm.device.tensor
        active = tensor(batch.local(solution.active)).double().unsqueeze(-1)
        unit = active * tensor(self.units(batch))[:, None, None]
        x = tensor(batch.local(solution.selected)).double().unsqueeze(-1)
        edge_sums = torch.stack(
            [tensor(sums) for sums in batch.edge_sums(solution.active, degrees)], dim=-1
        )
        fixed = self.fixed_part(edge_sums * unit, x)
        embedding = self.layer(fixed)
        for _ in range(self.settings.layers - 1):
            embedding = self.layer(fixed, neighbour_sum(batch, embedding * active) * unit)
        return embedding

    # What equations (1) and (2) do row by row, for any rows: `...` stands for any axes.

    def units(self, batch: GraphBatch) -> Any:
        """Return (rows,) float64 factors of the sums over each row's neighbours, on the device."""
        units = self.settings.units(batch.mean_degrees)
        return batch.comm.device.from_host(units[batch.graph_of[batch.lo : batch.hi]])

    def fixed_part(self, edge_sums: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Return the part of equation (1) that all layers share.

        Parameters
        ----------
        edge_sums
            (..., 2) W+ and W- in their unit; zero outside the residual graph.
        x
            (..., 1) node property.

        Returns
        -------
        (..., K) tensor
        """
        edge_basis = torch.stack([relu(self.theta2), relu(-self.theta2)]) @ self.theta3.T
        return torch.cat([edge_sums, x], dim=-1) @ torch.cat([edge_basis, self.theta1[None]])

    def layer(self, fixed: torch.Tensor, sums: torch.Tensor | None = None) -> torch.Tensor:
        """Return the next embedding.

        Parameters
        ----------
        fixed
            (..., K) what `fixed_part` gives.
        sums
            (..., K) sums of the neighbours' embeddings in their unit, zero outside the residual
            graph; None in the first layer, where they are zero everywhere.

        Returns
        -------
        (..., K) tensor
        """
        if sums is None:
            return relu(fixed)
        rows = torch.addmm(fixed.flatten(0, -2), sums.flatten(0, -2), self.theta4.T)
        return rows.relu_().reshape(fixed.shape)

    def preference(self, embedding: torch.Tensor) -> torch.Tensor:
        """Return the second half of equation (2), (...,), for (..., K) embeddings."""
        return relu(embedding @ self.theta6.T) @ self.theta7[self.settings.width :]

    def forward(
        self,
        batch: GraphBatch,
        solution: PartialSolution,
        at: tuple[Any, Any] | None = None,
        degrees: Any | None = None,
    ) -> torch.Tensor:
        """Score nodes by equation (2): Alg. 3 (collective)."""
        tensor = batch.comm.device.tensor
        embedding = self.embed(batch, solution, degrees)
        graph = tensor(batch.row_graph)
        whole = graph_sum(batch, embedding, graph)
        if self.settings.graph_term == "mean":
            sizes = tensor(batch.comm.device.from_host(batch.sizes)).double()
            whole = whole / sizes[:, None, None]
        K = self.settings.width
        graph_part = relu(whole @ self.theta5.T) @ self.theta7[:K]  # (G, copies)
        if at is None:
            return graph_part[graph] + self.preference(embedding)
        row, copy = map(tensor, at)
        return graph_part[graph[row], copy] + self.preference(embedding[row, copy])

    def preferences(
        self, batch: GraphBatch, solution: PartialSolution, degrees: Any
    ) -> torch.Tensor:
        """Score by the second half of equation (2): the first is the same for all nodes."""
        return self.preference(self.embed(batch, solution, degrees))
