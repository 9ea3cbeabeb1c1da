"""Policies of one or two messages between neighbours, functions of residual degrees.

With d the residual degree, a node sends m(d) to its neighbours, and s1(v) is what v receives. With
one message that is the score: high for a node whose neighbours have few other edges, each of which
would be hard to cover otherwise. With two, a node answers x(u) = g(d_u) s1(u)^c, large where all of
u's neighbours are poor choices, and the score is s2(v) s1(v)^e d_v^f with s2(v) the answers that v
receives. Logarithms of m and g are linear in ln d, ln² d and [d = 1]: nine parameters in all.

In graphs with weights of nodes, with w the weight by the largest one, m, x and the score of a node
are multiplied by powers of its w: three parameters more.

Messages and answers are integers in fixed point, so that their sums are exact on every number of
ranks, and powers are interpolated in tables by additions and multiplications alone, so that they
are the same bits on every device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.policies.file import StoredPolicy
from ogg_hpc.policies.fixed_point import (
    LARGE,
    MOST_BITS,
    bounded_power,
    exact_sum,
    interpolate,
    power_table,
    to_fixed_point,
)
from ogg_hpc.policies.scalar_form import (
    ScalarForm,
    inverse_degree_exponent,
    inverse_degree_form,
)
from ogg_hpc.problems.problem import PartialSolution

NETWORK = "degree-messages"
# Found by evolution strategies (CMA-ES) on Erdős–Rényi, Barabási–Albert and geometric
# inhomogeneous random graphs: one set for all families.
TWO_MESSAGES = {
    "first": np.array([-1.53, -0.19, -0.58]),
    "second": np.array([-0.19, -0.09, 1.29, -1.35]),
    "score": np.array([0.13, -0.69]),
}
# Inverse-degree greedy, as their numbers one after another.
INVERSE_DEGREE = (-1.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, -1.0)
WEIGHTED_NETWORK = "weighted-degree-messages"
SHARE_BITS = 16  # of what weights multiply messages by
# Lighter nodes count as so much of the heaviest: powers of less are no float32.
_LIGHTEST = 2.0**-52
# A low degree decides: answers of such nodes are always up to date.
LOW_DEGREE = 4


@dataclass(frozen=True)
class TwoMessageForm:
    """Tables of a two-message policy, for graphs of at most n nodes.

    Attributes
    ----------
    messages : (n,) int64
        First message by degree.
    answer_by_degree : (n,) float64
        g(d), in units of the fixed point.
    answer_by_sum : (63 * 256 + 1,) float64
        s1^c as a power table.
    largest : int
        Answers above are cut to it.
    score_by_degree : (n,) float64
        d^f.
    score_by_sum : (63 * 256 + 1,) float64
        s1^e as a power table.
    refresh_above : float
        An answer follows its node's degree and sum only when it has moved by more than this share
        since it was last sent, or the degree is below `LOW_DEGREE`; 0 for always.
    weights : (3,) float64, optional
        Exponents of a node's weight in its message, its answer and its score; None for a policy
        that reads no weights.
    """

    messages: NDArray[np.int64]
    answer_by_degree: NDArray[np.float64]
    answer_by_sum: NDArray[np.float64]
    largest: int
    score_by_degree: NDArray[np.float64]
    score_by_sum: NDArray[np.float64]
    refresh_above: float
    weights: NDArray[np.float64] | None = None


def named_form(spec: str, n: int, refresh_above: float) -> ScalarForm | TwoMessageForm | None:
    """Return ``two-message`` or ``inverse-degree[:EXPONENT]``, None for other names.

    Parameters
    ----------
    spec
        The name.
    n
        Number of nodes of the graph.
    refresh_above
        See `TwoMessageForm`.

    Raises
    ------
    SettingsError
        An exponent that cannot be.
    """
    if spec == "two-message":
        return two_messages(n, refresh_above, **TWO_MESSAGES)
    exponent = inverse_degree_exponent(spec)
    return None if exponent is None else inverse_degree_form(n, exponent)


def message_form(stored: StoredPolicy, n: int, refresh_above: float) -> ScalarForm | TwoMessageForm:
    """Return the tables of a stored policy of this kind, whatever Q head it has been trained with.

    Parameters
    ----------
    stored
        The parameter file.
    n
        Number of nodes of the graph.
    refresh_above
        See `TwoMessageForm`.

    Raises
    ------
    InputError
        Parameters that do not fit.
    """
    names = (*TWO_MESSAGES, "weights")
    arrays = {name: stored.arrays[name] for name in names if name in stored.arrays}
    shapes = {name: array.shape for name, array in arrays.items()}
    if shapes == {"first": (3,)}:
        return one_message(arrays["first"], n)
    two = {name: array.shape for name, array in TWO_MESSAGES.items()}
    if shapes in (two, two | {"weights": (3,)}):
        return two_messages(n, refresh_above, **arrays)
    raise InputError(
        stored.path,
        f"its parameters do not fit {stored.network}: one message has `first` of 3 numbers, two "
        "also `second` of 4 and `score` of 2, and `weights` of 3 where these are read, not "
        f"{shapes}",
    )


def one_message(first: NDArray[np.float64], n: int) -> ScalarForm:
    """Return the policy whose score is the sum of one message a neighbour.

    Parameters
    ----------
    first
        (3,) coefficients of ln m.
    n
        Number of nodes of the graph.
    """
    messages, scale = to_fixed_point(_exponential(first, n))
    return ScalarForm(messages, np.zeros(1), np.zeros(1), np.full(1, 1.0 / scale))


def two_messages(
    n: int,
    refresh_above: float,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    score: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> TwoMessageForm:
    """Return the tables of a two-message policy.

    Parameters
    ----------
    n
        Number of nodes of the graph.
    refresh_above
        See `TwoMessageForm`.
    first, second
        (3,) coefficients of ln m; (4,) of ln g, and the exponent c.
    score
        (2,) the exponents e and f.
    weights
        As for `TwoMessageForm`.
    """
    spare = 0 if weights is None else SHARE_BITS
    messages, unit = to_fixed_point(_exponential(first, n), spare)
    unit *= 2.0**spare
    answer_unit = 2.0**24
    degrees = np.maximum(np.arange(max(n, 1)), 1.0)
    return TwoMessageForm(
        messages,
        _exponential(second[:3], n) * answer_unit,
        power_table(second[3], unit),
        2 ** (MOST_BITS - int(max(n, 1)).bit_length()),
        bounded_power(degrees, score[1]) / answer_unit,
        power_table(score[0], unit),
        refresh_above,
        weights,
    )


class NodeFactors(NamedTuple):
    """What a node's weight multiplies; see `TwoMessageForm.weights`.

    Attributes
    ----------
    messages : (n,) int64, optional
        In fixed point, at most 2^`SHARE_BITS`.
    answers, scores : (n,) float64, optional
    """

    messages: NDArray[np.int64] | None = None
    answers: NDArray[np.float64] | None = None
    scores: NDArray[np.float64] | None = None


def node_factors(
    form: TwoMessageForm, n: int, node_weights: NDArray[np.float64] | None
) -> NodeFactors:
    """Return the factors of the (n,) nodes of one graph, None for a policy without weights.

    Factors of messages and answers are at most 1. The largest weight is the unit, so that a power
    of two that multiplies all weights makes no difference.
    """
    if form.weights is None:
        return NodeFactors()
    weights = np.ones(n) if node_weights is None else node_weights
    relative = np.maximum(weights / weights.max(initial=0.0), _LIGHTEST)
    message, answer, score = (bounded_power(relative, exponent) for exponent in form.weights)
    shares = np.rint(message / message.max(initial=0.0) * 2.0**SHARE_BITS)
    return NodeFactors(
        np.maximum(shares, 1).astype(np.int64), answer / answer.max(initial=0.0), score
    )


def _exponential(coefficients: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return exp(a ln d + b ln² d + c [d = 1]) for each degree below n; 0 for degree 0.

    Within bounds, whatever finite numbers a parameter file holds.
    """
    degrees = np.maximum(np.arange(max(n, 1)), 1)
    log = np.log(degrees)
    with np.errstate(over="ignore"):
        values = np.exp(np.clip(coefficients, -1e9, 1e9) @ np.stack([log, log * log, degrees == 1]))
    values = np.clip(values, 1 / LARGE, LARGE)
    values[0] = 0.0
    return np.asarray(values)


class MessageScorer:
    """Scores by messages, as plain array operations on the whole batch: the reference.

    Parameters
    ----------
    form
        A policy whose messages are a table.
    """

    residual = True

    def __init__(self, form: ScalarForm | TwoMessageForm) -> None:
        self._form = form
        self._sent: Any = None
        self._whole: list[NDArray[Any]] | None = None  # factors of all nodes of all graphs

    def __call__(self, batch: GraphBatch, solution: PartialSolution) -> tuple[Any, Any]:
        """Return (rows, copies) residual degrees and scores of this rank's rows (collective)."""
        form, device = self._form, batch.comm.device
        active = batch.local(solution.active)
        degrees = batch.degrees(solution.active)
        inside = (degrees * active).astype(np.int64)
        assert form.messages is not None
        messages = device.from_host(form.messages)[inside]
        if isinstance(form, ScalarForm):
            sums = exact_sum(batch, messages)
            return degrees, form.intercepts[0] * degrees + form.slopes[0] * sums
        of_message, of_answer, of_score = self._factors(batch, form)
        sums = device.xp.maximum(exact_sum(batch, messages * of_message), 1)
        answers = device.from_host(form.answer_by_degree)[inside] * interpolate(
            device.from_host(form.answer_by_sum), sums, device.xp
        )
        answers = answers * of_answer
        answers = device.xp.floor(device.xp.minimum(answers + 0.5, form.largest)).astype(np.int64)
        answer_sums = exact_sum(batch, self._send(batch, answers, inside))
        factor = device.from_host(form.score_by_degree)[inside] * interpolate(
            device.from_host(form.score_by_sum), sums, device.xp
        )
        return degrees, answer_sums * factor * of_score

    def _factors(self, batch: GraphBatch, form: TwoMessageForm) -> list[Any]:
        """Return the factors of this rank's rows, each (rows, 1), or 1."""
        if form.weights is None:
            return [1, 1, 1]
        if self._whole is None:
            of_each = [
                node_factors(form, n, batch.weights_of_graph(i))
                for i, n in enumerate(batch.sizes.tolist())
            ]
            self._whole = [np.concatenate(parts) for parts in zip(*of_each, strict=True)]
        ids = _ids(batch)
        return [batch.comm.device.from_host(part[ids][:, None]) for part in self._whole]

    def _send(self, batch: GraphBatch, answers: Any, degrees: Any) -> Any:
        """Return the answers as last sent, after sending those that have moved."""
        assert isinstance(self._form, TwoMessageForm)
        xp = batch.comm.device.xp
        rows = batch.comm.device.from_host(_ids(batch))
        if self._sent is None:
            self._sent = xp.zeros((int(batch.sizes.sum()), batch.copies), np.int64)
            self._sent[rows] = answers
        sent = self._sent[rows]
        moved = xp.abs(answers - sent) > self._form.refresh_above * sent
        sent = xp.where((degrees < LOW_DEGREE) | moved, answers, sent)
        self._sent[rows] = sent
        return sent


def _ids(batch: GraphBatch) -> NDArray[np.int64]:
    """Return which node of all graphs each of this rank's rows is.

    Positions shift when a search drops nodes; graphs and ids do not.
    """
    first = np.cumsum(batch.sizes) - batch.sizes
    ids: NDArray[np.int64] = (first[batch.graph_of] + batch.node_of)[batch.lo : batch.hi]
    return ids
