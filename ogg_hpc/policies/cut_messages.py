"""A policy for maximum cut: nodes that are not yet placed tell on which side they tend to be.

A placed node sends its neighbours -1 from side 0 or 1 from side 1, and any other node its tentative
side z(u), a number in between, 0 at first. What v receives, F(v) = -sum of w(u, v) z(u), is by how
much it would cut more on side 1 than on side 0 if its neighbours stayed where they tend to be. The
score of putting v on side 1 is F(v) / A(v)^q, with A(v) the sum of the absolute weights of its
edges, and that of side 0 the negative. With z = 0 for ever and q = 0 that is greedy SG3.

In each step all nodes follow what they receive, in one round of mean-field equations::

    z(v) <- h(g F(v) / A(v) d(v)^(1 - p) s(v)^k + a z(v) - b y(v)),    h(x) = x / sqrt(1 + x^2)

with d the degree, s the share of A(v) that is not yet placed, and y what v sent before z. The last
term is the reaction of Thouless, Anderson and Palmer [1]_, as iterated by Bolthausen [2]_: it takes
out what comes back to v from its own influence on its neighbours. Six numbers are learned: ln g, p
and k; a and b; q. The more nodes are placed, the more the others settle.

Weights and messages are integers in fixed point, so that all sums are exact on every number of
ranks and in every order.

References
----------
.. [1] D. J. Thouless, P. W. Anderson and R. G. Palmer, "Solution of 'Solvable model of a spin
   glass'", Philosophical Magazine 35, 593-601, 1977.
.. [2] E. Bolthausen, "An iterative construction of solutions of the TAP equations for the
   Sherrington-Kirkpatrick model", Communications in Mathematical Physics 325, 333-366, 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.policies.file import StoredPolicy
from ogg_hpc.problems.problem import PartialSolution

NETWORK = "cut-messages"
PARAMETERS = {"field": 3, "memory": 2, "score": 1}
# A placed node sends 1 or -1 in this fixed point.
WHOLE = 2**12
# Pieces of the table of powers of the share that is not yet placed.
SHARES = 64
# Sums of n products of a weight and a message stay below 2^52, so that float64 holds them.
_MOST_BITS = 52 - 12
# Exponents and factors stay within bounds, so that no product of three is infinite or no number.
_LARGEST_EXPONENT, _LARGEST = 20.0, 1e90


@dataclass(frozen=True)
class CutMessageForm:
    """A policy of tentative sides.

    Attributes
    ----------
    gain, gain_exponent
        g and p.
    gain_by_share : (SHARES + 1,) float64
        s^k, at the middle of each of the shares.
    memory, reaction
        a and b.
    score_exponent
        q.
    refresh_above
        A message is sent anew when it has moved by more than this much of `WHOLE`; 0 for always.
    """

    gain: float
    gain_exponent: float
    gain_by_share: NDArray[np.float64]
    memory: float
    reaction: float
    score_exponent: float
    refresh_above: float

    def factors(
        self, strengths: NDArray[np.float64], degrees: NDArray[np.float64], n: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what the fields of nodes are multiplied with, for messages and for scores.

        Parameters
        ----------
        strengths
            Sums of absolute weights, in whole numbers.
        degrees
            Numbers of edges.
        n
            Number of nodes, of each node's graph or of all.
        """
        there, one = np.maximum(strengths, 1.0), 2.0 ** _bits(n)
        gains = self.gain * np.maximum(degrees, 1.0) ** (1 - self.gain_exponent) / there / WHOLE
        scores = (there / one) ** -self.score_exponent / one / WHOLE
        return _bounded(gains), _bounded(scores)


def cut_message_form(stored: StoredPolicy, refresh_above: float) -> CutMessageForm:
    """Return the form of a stored policy.

    Parameters
    ----------
    stored
        The parameter file.
    refresh_above
        See `CutMessageForm`.

    Raises
    ------
    InputError
        Parameters that do not fit.
    """
    shapes = {name: array.shape for name, array in stored.arrays.items()}
    if shapes != {name: (length,) for name, length in PARAMETERS.items()}:
        raise InputError(
            stored.path,
            f"its parameters do not fit {NETWORK}: `field` has 3 numbers, `memory` 2 and `score` "
            f"1, not {shapes}",
        )
    field, memory, score = (
        np.clip(stored.arrays[name], -_LARGEST_EXPONENT, _LARGEST_EXPONENT) for name in PARAMETERS
    )
    shares = (np.arange(SHARES + 1) + 0.5) / (SHARES + 1)
    return CutMessageForm(
        float(np.exp(field[0])),
        float(field[1]),
        shares ** field[2],
        float(memory[0]),
        float(memory[1]),
        float(score[0]),
        refresh_above,
    )


def weight_exponents(largest: Any, n: Any) -> Any:
    """Return the power of two that makes weights whole numbers, after rounding.

    Parameters
    ----------
    largest
        The largest absolute weight, in one graph or in each.
    n
        Number of nodes.
    """
    return _bits(n) - np.frexp(largest)[1]


def _bits(n: Any) -> Any:
    """Return how many bits the largest weight has, so that sums of n are exact."""
    return _MOST_BITS - np.frexp(n)[1]


def _bounded(factors: NDArray[np.float64]) -> NDArray[np.float64]:
    bounded: NDArray[np.float64] = np.clip(factors, 1 / _LARGEST, _LARGEST)
    return bounded


class CutMessageScorer:
    """Scores by tentative sides, as plain array operations on the whole batch: the reference.

    Parameters
    ----------
    form
        The policy.
    """

    residual = False

    def __init__(self, form: CutMessageForm) -> None:
        self._form = form
        self._whole: GraphBatch | None = None
        self._sent: Any = None
        self._before: Any = None

    def __call__(self, batch: GraphBatch, solution: PartialSolution) -> tuple[Any, Any]:
        """Return residual degrees and (rows, copies, 2) scores of actions (collective).

        Each call is a round of messages.
        """
        if self._whole is None:
            self._start(batch)
        assert self._whole is not None
        form, xp = self._form, batch.comm.device.xp
        active = batch.local(solution.active)
        sides = xp.where(batch.local(solution.selected), WHOLE, -WHOLE)
        sent = xp.where(active, self._sent, sides)
        positive, negative = self._whole.edge_sums(batch.comm.allgatherv(sent, batch.counts))
        fields = negative - positive
        left = sum(self._whole.edge_sums(solution.active)).astype(xp.int64)
        share = left * SHARES // self._strengths
        x = (
            fields * self._gains * batch.comm.device.from_host(form.gain_by_share)[share]
            + form.memory * (self._sent / WHOLE)
            - form.reaction * (self._before / WHOLE)
        )
        tends = xp.rint(x / xp.sqrt(1 + x * x) * WHOLE).astype(xp.int64)
        moved = xp.abs(tends - self._sent) > form.refresh_above * WHOLE
        self._before = xp.where(moved, self._sent, self._before)
        self._sent = xp.where(moved, tends, self._sent)
        scores = fields * self._factors
        return batch.degrees(solution.active), xp.stack([-scores, scores], axis=-1)

    def _start(self, batch: GraphBatch) -> None:
        device, xp = batch.comm.device, batch.comm.device.xp
        whole = batch.with_whole_weights(weight_exponents(batch.largest_weights(), batch.sizes))
        everything = xp.ones((batch.nodes, 1), bool)
        strengths = sum(whole.edge_sums(everything))
        degrees = device.to_host(batch.degrees(everything))
        sizes = batch.sizes[batch.graph_of[batch.lo : batch.hi], None]
        factors = self._form.factors(device.to_host(strengths), degrees, sizes)
        self._gains, self._factors = map(device.from_host, factors)
        self._strengths = xp.maximum(strengths, 1).astype(xp.int64)
        self._sent = xp.zeros((batch.hi - batch.lo, batch.copies), xp.int64)
        self._before = xp.zeros_like(self._sent)
        self._whole = whole
