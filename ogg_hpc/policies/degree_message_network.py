"""The two-message policy of `degree_messages` as a network that deep Q-learning can train.

The scores are the same functions of residual degrees, here differentiable in their nine numbers. A
score says which node is best, not how many nodes are still needed, and the difference that one
choice makes is lost in that number. The Q head therefore has two parts (a dueling network [1]_):

    Q(S, v) = -Σ_u σ(needed · facts of u) + c (ρ(v) - (1 + mean ρ) / 2),
    ρ(v) = (score(v) / best score)^b

The first adds up how probably each node is needed; it reads scores without changing them. The
second is about one node at most, as what a wrong choice costs is. It is zero in the mean of the
best node, with ρ = 1, and a random one: where half of the actions are random, an error of the first
part then says nothing for or against the scores. Gradients reach the nine numbers through ρ, across
both sums over neighbours.

References
----------
.. [1] Wang et al., "Dueling network architectures for deep reinforcement learning", ICML 2016.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.policies.degree_messages import INVERSE_DEGREE, NETWORK
from ogg_hpc.policies.policy import Policy
from ogg_hpc.policies.products import graph_sum, neighbour_sum
from ogg_hpc.problems.problem import PartialSolution

# Adam moves all parameters equally fast; the estimate of what is needed is to follow the scores.
_HEAD_START = 2.0


@dataclass(frozen=True)
class DegreeMessageSettings:
    """Settings of `DegreeMessageNetwork`."""

    start: tuple[float, ...] = field(
        default=INVERSE_DEGREE,
        metadata={
            "help": "`first`, `second` and `score` before training, one after another; the default "
            "is inverse-degree greedy"
        },
    )

    def __post_init__(self) -> None:
        if len(self.start) != 9 or not all(map(math.isfinite, self.start)):
            raise SettingsError(f"model.start is 9 finite numbers, not {list(self.start)}")


class DegreeMessageNetwork(Policy):
    """The two-message policy with a Q head: 9 + 8 parameters.

    Parameter files hold the nine numbers under the names that `degree_messages.message_form` reads.
    The nodes that may be chosen are those with an edge in the residual graph.

    Parameters
    ----------
    settings
        The start.
    seed
        Not used: nothing is random.
    """

    name = NETWORK
    settings_type = DegreeMessageSettings
    residual = True

    def __init__(self, settings: DegreeMessageSettings, seed: int = 0) -> None:
        super().__init__()
        self.settings = settings
        start = torch.tensor(settings.start, dtype=torch.float64)
        first, second, score = (part.clone() for part in torch.split(start, [3, 4, 2]))
        self.first = torch.nn.Parameter(first)
        self.second = torch.nn.Parameter(second)
        self.score = torch.nn.Parameter(score)
        self.needed = torch.nn.Parameter(torch.zeros(6, dtype=torch.float64))
        # Logarithms of c and b.
        self.advantage = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))

    def preferences(
        self, batch: GraphBatch, solution: PartialSolution, degrees: Any
    ) -> torch.Tensor:
        """Return logarithms of the scores, 0 outside the residual graph."""
        return self._scored(batch, solution, degrees)[2]

    def forward(
        self,
        batch: GraphBatch,
        solution: PartialSolution,
        at: tuple[Any, Any] | None = None,
        degrees: Any | None = None,
    ) -> torch.Tensor:
        """See `Policy.forward`; Q is minus a number of nodes, for rewards of -1 a node."""
        tensor = batch.comm.device.tensor
        inside, facts, scores = self._scored(batch, solution, degrees)
        graph = tensor(batch.row_graph)
        behind = torch.where(inside, scores - _best(batch, inside, scores, graph)[graph], 0.0)
        facts = torch.cat([facts, behind.unsqueeze(-1)], -1).detach()
        needed = torch.sigmoid(facts @ (_HEAD_START * self.needed))
        largest, exponent = torch.exp(self.advantage)
        worth = largest * torch.exp(exponent * behind)
        parts = torch.stack([needed, worth, torch.ones_like(worth)], -1) * inside.unsqueeze(-1)
        sums = graph_sum(batch, parts, graph)
        graph_part: torch.Tensor = (
            -sums[..., 0] - (largest + sums[..., 1] / sums[..., 2].clamp(min=1.0)) / 2
        )
        scored: torch.Tensor = graph_part[graph] + worth
        return scored if at is None else scored[tuple(map(tensor, at))]

    def _scored(
        self, batch: GraphBatch, solution: PartialSolution, degrees: Any | None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return which rows have an edge, (..., 5) facts about them, and logarithms of scores."""
        tensor = batch.comm.device.tensor
        degrees = batch.degrees(solution.active) if degrees is None else degrees
        degree = tensor(degrees) * tensor(batch.local(solution.active))
        inside = degree > 0
        log_degree = torch.log(degree.clamp(min=1.0))
        terms = torch.stack([log_degree, log_degree**2, (degree == 1).double()], -1)
        log_first = _log_sum(batch, inside, terms @ self.first)
        answers = terms @ self.second[:3] + self.second[3] * log_first
        scores = (
            _log_sum(batch, inside, answers)
            + self.score[0] * log_first
            + self.score[1] * log_degree
        )
        ones = torch.ones_like(log_first)
        facts = torch.cat([torch.stack([ones, log_first], -1), terms], -1)
        return inside, facts, scores


def _log_sum(batch: GraphBatch, inside: torch.Tensor, logs: torch.Tensor) -> torch.Tensor:
    """Return the logarithm of the sum of exp(logs) over each row's neighbours; 0 outside."""
    sums = neighbour_sum(batch, (torch.exp(logs) * inside).unsqueeze(-1)).squeeze(-1)
    return torch.log(torch.where(inside, sums, 1.0))


def _best(
    batch: GraphBatch, inside: torch.Tensor, scores: torch.Tensor, graph: torch.Tensor
) -> torch.Tensor:
    """Return the (G, copies) largest scores inside, differentiable; 0 without any (collective)."""
    device = batch.comm.device
    values = torch.where(inside, scores, -torch.inf).detach()
    least = values.new_full((len(batch.sizes), batch.copies), -torch.inf)
    largest = least.scatter_reduce(0, graph.unsqueeze(-1).expand_as(values), values, "amax")
    largest = device.tensor(batch.comm.allreduce(device.array(largest), "max"))
    reached = (inside & (values == largest[graph])).double()
    sums = graph_sum(batch, torch.stack([reached * scores, reached], -1), graph)
    return sums[..., 0] / sums[..., 1].clamp(min=1.0)
