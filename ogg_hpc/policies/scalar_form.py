"""Policies whose whole state is two integers a node: its degree and one sum over neighbours.

The sum is of the neighbours' messages, a function of their degrees.

Where chosen nodes leave the graph, every active node has x = 0. The first layer of structure2vec
is then the degree times one fixed vector, so the second layer depends on a node through its
degree d and the sum s of its neighbours' degrees alone. All maps in between being positively
homogeneous, the score is d h(s / d) with a piecewise linear h of one variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.policies.file import StoredPolicy


@dataclass(frozen=True)
class ScalarForm:
    """The score ``intercept[i] d + slope[i] s``, with piece i by the ratio s / d.

    Attributes
    ----------
    messages : (n,) int64, optional
        What a node of each degree adds to its neighbours' sums; None for the degree itself.
    starts : (pieces,) float64
        Where each piece starts; the first at 0.
    intercepts, slopes : (pieces,) float64
        The linear function of each piece.
    """

    messages: NDArray[np.int64] | None
    starts: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    slopes: NDArray[np.float64]


def scalar_form(stored: StoredPolicy, mean_degree: float) -> ScalarForm | None:
    """Return the scalar form of a stored policy on unweighted graphs, None where it has none.

    Parameters
    ----------
    stored
        The parameter file.
    mean_degree
        Mean degree of the whole graph to be solved.

    Raises
    ------
    InputError
        Parameters that do not fit the settings of the network.
    """
    layers, K = stored.model.get("layers", 2), stored.model.get("width", 32)
    # What else a file may say, making the network from it finds fault with.
    if stored.network != "s2v" or layers not in (1, 2) or not isinstance(K, int) or K < 1:
        return None
    theta = stored.arrays
    shapes = {"theta2": (K,), "theta3": (K, K), "theta4": (K, K), "theta6": (K, K)}
    for name, shape in {**shapes, "theta7": (2 * K,)}.items():
        if name not in theta or theta[name].shape != shape:
            raise InputError(stored.path, f"its parameters do not fit s2v: {name} is not {shape}")
    unit = 1.0
    if stored.model.get("degree_unit", "one") == "mean":
        unit = 1.0 / max(mean_degree, 1e-9)
    edge = theta["theta3"] @ np.maximum(theta["theta2"], 0)
    message = np.maximum(edge, 0)
    constant = unit * edge
    slope = unit * unit * (theta["theta4"] @ message) if layers == 2 else np.zeros_like(edge)
    return piecewise_linear(constant, slope, theta["theta6"], theta["theta7"][K:])


def inverse_degree_exponent(spec: str) -> float | None:
    """Return the exponent of ``inverse-degree[:EXPONENT]``, 1.25 by default; None for others.

    Raises
    ------
    SettingsError
        An exponent that is no number from 0 to 64.
    """
    name, colon, text = spec.partition(":")
    if name != "inverse-degree":
        return None
    try:
        exponent = float(text) if colon else 1.25
    except ValueError:
        exponent = -1.0
    if not 0 <= exponent <= 64:
        raise SettingsError(f"{spec}: the exponent must be a number from 0 to 64, such as 1.25")
    return exponent


def inverse_degree_form(n: int, exponent: float) -> ScalarForm:
    """Return the score sum of deg(u)^-exponent over neighbours u, in fixed point of 2^-32.

    A node is worth choosing if its neighbours have few other edges: each of them is then hard to
    cover otherwise. Exponent 0 is the degree.

    Parameters
    ----------
    n
        Number of nodes of the graph.
    exponent
        Not negative.
    """
    degrees = np.maximum(np.arange(max(n, 1)), 1).astype(np.float64)
    messages = np.round(2.0**32 * degrees**-exponent).astype(np.int64)
    messages[0] = 0
    return ScalarForm(messages, np.zeros(1), np.zeros(1), np.full(1, 2.0**-32))


def piecewise_linear(
    constant: NDArray[np.float64],
    slope: NDArray[np.float64],
    hidden: NDArray[np.float64],
    output: NDArray[np.float64],
) -> ScalarForm:
    """Return the pieces of h(r) = output . relu(hidden relu(constant + slope r)) for r >= 0.

    Parameters
    ----------
    constant, slope
        (K,) the inner linear functions.
    hidden
        (K, K) matrix.
    output
        (K,) weights.
    """
    kinks = _inside(-constant, slope, 0.0, np.inf)
    found = [kinks]
    for left, right in _intervals(kinks):
        inside = constant + slope * _between(left, right) > 0
        found.append(
            _inside(
                -(hidden[:, inside] @ constant[inside]),
                hidden[:, inside] @ slope[inside],
                left,
                right,
            )
        )
    pieces = _intervals(np.unique(np.concatenate(found)))
    intercepts, slopes = [], []
    for left, right in pieces:
        at = _between(left, right)
        inside = constant + slope * at > 0
        a, b = hidden[:, inside] @ constant[inside], hidden[:, inside] @ slope[inside]
        active = a + b * at > 0
        intercepts.append(output[active] @ a[active])
        slopes.append(output[active] @ b[active])
    return ScalarForm(
        None, np.array([left for left, _ in pieces]), np.array(intercepts), np.array(slopes)
    )


def _inside(
    numerator: NDArray[np.float64], denominator: NDArray[np.float64], left: float, right: float
) -> NDArray[np.float64]:
    """Return the quotients that lie strictly between two numbers, sorted."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = numerator / denominator
    return np.unique(quotient[(quotient > left) & (quotient < right)])


def _intervals(kinks: NDArray[np.float64]) -> list[tuple[float, float]]:
    return list(pairwise([0.0, *kinks.tolist(), np.inf]))


def _between(left: float, right: float) -> float:
    return 2 * left + 1 if np.isinf(right) else (left + right) / 2
