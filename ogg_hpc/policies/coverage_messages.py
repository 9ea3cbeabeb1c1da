"""Policies of two messages for dominating sets, functions of what nodes would newly dominate.

The span k of a node is how many nodes of its closed neighbourhood are not dominated yet. A node
sends m = k^a to its closed neighbourhood, and s1(u) is what u receives. A node u that is not
dominated answers x(u) = s1(u)^c, large where there is little else to dominate it by, and the score
of a candidate is the sum of the answers that it receives, times k^f. With c = f = 0 that is the
span itself: the greedy heuristic by the largest new coverage. Three parameters in all.

Messages and answers are integers in fixed point; see `fixed_point`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.policies.file import StoredPolicy
from ogg_hpc.policies.fixed_point import (
    MOST_BITS,
    bounded_power,
    exact_sum,
    interpolate,
    power_table,
    to_fixed_point,
)
from ogg_hpc.problems.problem import PartialSolution

NETWORK = "coverage-messages"
PARAMETERS = {"message": 1, "answer": 1, "score": 1}


@dataclass(frozen=True)
class CoverageForm:
    """Tables of such a policy, for graphs of at most n nodes.

    Attributes
    ----------
    messages : (n + 1,) int64
        Message by span.
    answer_by_sum : (63 * 256 + 1,) float64
        s1^c in units of the fixed point, as a power table.
    largest : int
        Answers above are cut to it.
    score_by_span : (n + 1,) float64
        k^f; 0 for a span of 0.
    refresh_above : float
        An answer follows its node's sum only when it has moved by more than this share since it
        was last sent; 0 for always.
    """

    messages: NDArray[np.int64]
    answer_by_sum: NDArray[np.float64]
    largest: int
    score_by_span: NDArray[np.float64]
    refresh_above: float


def coverage_form(
    n: int,
    refresh_above: float,
    message: NDArray[np.float64],
    answer: NDArray[np.float64],
    score: NDArray[np.float64],
) -> CoverageForm:
    """Return the tables of a policy.

    Parameters
    ----------
    n
        Number of nodes of the graph.
    refresh_above
        See `CoverageForm`.
    message, answer, score
        (1,) each, the exponents a, c and f.
    """
    spans = np.arange(n + 1, dtype=np.float64)
    spans[0] = 1.0
    messages, unit = to_fixed_point(bounded_power(spans, message[0]))
    largest = 2 ** (MOST_BITS - n.bit_length())
    # The unit wastes no bit: with messages of 1 or more, the largest answer is that of the least
    # sum or of the greatest, by the sign of the exponent.
    by_sum = power_table(answer[0], unit)
    answer_unit = largest / max(1.0, by_sum[-1])
    factors = bounded_power(spans, score[0]) / answer_unit
    factors[0] = 0.0
    return CoverageForm(messages, by_sum * answer_unit, largest, factors, refresh_above)


def stored_coverage_form(stored: StoredPolicy, n: int, refresh_above: float) -> CoverageForm:
    """Return the tables of a stored policy of this kind.

    Parameters
    ----------
    stored
        The parameter file.
    n
        Number of nodes of the graph.
    refresh_above
        See `CoverageForm`.

    Raises
    ------
    InputError
        Parameters that do not fit.
    """
    shapes = {name: array.shape for name, array in stored.arrays.items()}
    if shapes != {name: (length,) for name, length in PARAMETERS.items()}:
        raise InputError(
            stored.path,
            f"its parameters do not fit {NETWORK}: `message`, `answer` and `score` are one number "
            f"each, not {shapes}",
        )
    return coverage_form(n, refresh_above, **stored.arrays)


class CoverageScorer:
    """Scores by messages, as plain array operations on the whole batch: the reference.

    Parameters
    ----------
    form
        The policy.
    """

    residual = False

    def __init__(self, form: CoverageForm) -> None:
        self._form = form
        self._sent: Any = None

    def __call__(self, batch: GraphBatch, solution: PartialSolution) -> tuple[Any, Any]:
        """Return (rows, copies) residual degrees and scores of this rank's rows (collective)."""
        form, device = self._form, batch.comm.device
        xp = device.xp
        active = batch.local(solution.active)
        degrees = batch.degrees(solution.active)
        spans = (degrees + active).astype(np.int64)
        sums = _closed_sum(batch, device.from_host(form.messages)[spans])
        answers = interpolate(device.from_host(form.answer_by_sum), xp.maximum(sums, 1), xp)
        answers = xp.floor(xp.clip(answers + 0.5, 1.0, form.largest)).astype(np.int64)
        if self._sent is None:
            self._sent = answers
        moved = xp.abs(answers - self._sent) > form.refresh_above * self._sent
        self._sent = xp.where(moved, answers, self._sent) * active
        answer_sums = _closed_sum(batch, self._sent)
        return degrees, answer_sums * device.from_host(form.score_by_span)[spans]


def _closed_sum(batch: GraphBatch, rows: Any) -> Any:
    """Sum integers over closed neighbourhoods, exactly."""
    return rows + exact_sum(batch, rows)
