"""A graph convolutional network over molecules and its staged choices, for NumPy and torch alike.

An action is chosen in stages, each given those before: whether to stop; if not, the first atom of
a new bond; what is at its far end, another atom or a new one; the order of the bond. After GCPN
(You et al., NeurIPS 2018), with stop at the front, so that the other stages count only where they
matter, and with how many bonds lie between two atoms, by which the far end of a ring is chosen.

All is written once: `xp` is `numpy` or `torch`, arrays are its arrays, parameters float32 by the
names of `shapes`. Molecules are padded to the largest one at hand, so that what is not there costs
nothing. n is its number of atoms, N, K and A = N + K are those of
`ogg_hpc.actors.environments.molecules.spaces`, W is the width of the network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

HEADS = ("stop", "first", "second", "order")
DISTANCES = 8  # numbers of bonds between two atoms that are told apart; 0 for no path or too long
NEVER = -1e9  # logit of what may not be chosen; finite, so that 0 · log 0 is 0
_PARTS = {  # what each head reads, beside its bias
    "value": ("graph",),
    "stop": ("graph",),
    "first": ("own", "graph"),
    "second": ("own", "first", "graph"),
    "order": ("own", "first", "graph"),
}
_ATOMS = 16.0  # unit of sums over the atoms of a molecule

Parameters = Mapping[str, Any]
Choose = Callable[[int, Any], Any]


def shapes(
    width: int, layers: int, kinds: int, largest_valence: int, largest_order: int
) -> dict[str, tuple[int, ...]]:
    """Return the shape of each parameter by its name; matrices are (inputs, outputs)."""
    square, line = (width, width), (width,)
    found: dict[str, tuple[int, ...]] = {
        "atom.kind": (kinds, width),
        "atom.free_valence": (largest_valence + 1, width),
        "atom.new": (kinds, width),
    }
    for i in range(layers):
        found[f"layer{i}.own"] = square
        found[f"layer{i}.neighbours"] = (width, largest_order * width)
        found[f"layer{i}.bias"] = line
    found |= {"graph.mean": square, "graph.sum": square, "graph.bias": line}
    outputs = {"stop": 2, "order": largest_order}
    for head, parts in _PARTS.items():
        found |= {f"{head}.{part}": square for part in parts}
        if "first" in parts:
            found[f"{head}.distance"] = (DISTANCES, width)
        found[f"{head}.bias"] = line
        found[f"{head}.output"] = (width, outputs.get(head, 1))
    found["stop.shift"] = (2,)
    return found


class Molecules(NamedTuple):
    """B molecules as a network sees them.

    Attributes
    ----------
    atoms : (B, n, W) float32
        What the layers make of each atom; 0 where there is none.
    graph : (B, W) float32
        What they make of the whole.
    linked : (B, n, n) float32
        1 where there is a bond.
    orders : (B, n, n + K) int
        Largest order of a bond that may be added, between atoms and to new ones; 0 forbids it.
    may : (B, 2) bool
        Whether one may go on, and whether one may stop.
    """

    atoms: Any
    graph: Any
    linked: Any
    orders: Any
    may: Any


def encode(xp: Any, parameters: Parameters, observations: Mapping[str, Any]) -> Molecules:
    """Return what the layers of the network make of (B, ...) observations."""
    kinds = xp.asarray(observations["atoms"], dtype=xp.int64)
    B, N = kinds.shape
    n = max(int((kinds > 0).sum(-1).max()), 1)
    kinds = kinds[:, :n]
    there = xp.asarray(kinds > 0, dtype=xp.float32)[..., None]
    free = xp.asarray(observations["free_valence"][:, :n], dtype=xp.int64)
    # Rows of bonds that are not there set what is cut off: order 0 of atom 0 with itself.
    bonds = xp.asarray(observations["bonds"], dtype=xp.int64)
    i, j, order = bonds[..., 0], bonds[..., 1], bonds[..., 2]
    orders = parameters["order.output"].shape[1]
    adjacency = xp.zeros((B, n, n, orders + 1), dtype=xp.float32)
    molecule = xp.arange(B)[:, None]
    adjacency[molecule, i, j, order] = adjacency[molecule, j, i, order] = 1.0
    linked = adjacency[..., 1:].sum(-1)
    adjacency = adjacency[..., 1:].reshape(B, n, n * orders)

    atoms = (parameters["atom.kind"][kinds - 1] + parameters["atom.free_valence"][free]) * there
    W = atoms.shape[-1]
    layer = 0
    while f"layer{layer}.own" in parameters:
        own = atoms @ parameters[f"layer{layer}.own"]
        sent = (atoms @ parameters[f"layer{layer}.neighbours"]).reshape(B, n * orders, W)
        new = own + adjacency @ sent + parameters[f"layer{layer}.bias"]
        atoms = atoms + _relu(new) * there
        layer += 1
    whole = atoms.sum(1)
    graph = _relu(
        (whole / there.sum(1)) @ parameters["graph.mean"]
        + (whole / _ATOMS) @ parameters["graph.sum"]
        + parameters["graph.bias"]
    )
    packed = observations["action_mask"][:, :n]
    largest = ((packed[..., None] >> xp.arange(0, 8, 2)) & 3).reshape(B, n, -1)
    ends = N + parameters["atom.new"].shape[0]
    largest = xp.concatenate([largest[..., :n], largest[..., N:ends]], -1)
    return Molecules(atoms, graph, linked, largest, observations["stop_mask"] != 0)


def value(parameters: Parameters, molecules: Molecules) -> Any:
    """Return the (B,) values of states."""
    return _head(parameters, "value", molecules.graph @ parameters["value.graph"])[:, 0]


def decide(xp: Any, parameters: Parameters, molecules: Molecules, choose: Choose) -> None:
    """Go through the stages of an action.

    Parameters
    ----------
    xp
        `numpy` or `torch`.
    parameters
        Of the network.
    molecules
        What `encode` gives.
    choose
        Called for each of `HEADS` in turn with its number and the (B, choices) logarithms of the
        probabilities, given what was chosen before; returns the (B,) choices. Those of ``second``
        are the n atoms, then the K new ones; those of ``order`` are counted from 0. Where it has
        chosen to stop, what follows has no meaning.
    """
    atoms, graph, linked, orders, may = molecules
    rows = xp.arange(atoms.shape[0])

    scores = _head(parameters, "stop", graph @ parameters["stop.graph"]) + parameters["stop.shift"]
    choose(0, _log_softmax(xp, scores, may))

    of_graph = (graph @ parameters["first.graph"])[:, None]
    scores = _head(parameters, "first", atoms @ parameters["first.own"] + of_graph)[..., 0]
    first = choose(1, _log_softmax(xp, scores, (orders > 0).any(-1)))

    orders = orders[rows, first]  # (B, n + K)
    n, new = atoms.shape[1], parameters["atom.new"]
    apart = distances(xp, linked, first)
    chosen = atoms[rows, first]
    common = chosen @ parameters["second.first"] + graph @ parameters["second.graph"]
    scores = [
        _head(parameters, "second", own + parameters["second.distance"][far] + common[:, None])
        for own, far in (
            (atoms @ parameters["second.own"], apart),
            (new @ parameters["second.own"], 0),
        )
    ]
    scores = xp.concatenate(scores, 1)[..., 0]
    second = choose(2, _log_softmax(xp, scores, orders > 0))

    among = second.clip(0, n - 1)
    at_end = xp.where((second < n)[:, None], atoms[rows, among], new[(second - n).clip(0)])
    far = xp.where(second < n, apart[rows, among], 0)
    scores = _head(
        parameters,
        "order",
        at_end @ parameters["order.own"]
        + chosen @ parameters["order.first"]
        + graph @ parameters["order.graph"]
        + parameters["order.distance"][far],
    )
    choose(3, _log_softmax(xp, scores, xp.arange(scores.shape[1]) < orders[rows, second][:, None]))


def distances(xp: Any, linked: Any, start: Any) -> Any:
    """Return the (B, n) numbers of bonds from atom `start` (B,); 0 for none, or too many."""
    front = 0 * linked[:, 0]
    front[xp.arange(len(start)), start] = 1.0
    seen = front > 0
    found = xp.asarray(0 * front, dtype=xp.int64)
    for bonds in range(1, DISTANCES):
        new = ((front[:, None] @ linked)[:, 0] > 0) & ~seen
        found, seen = xp.where(new, bonds, found), seen | new
        front = xp.asarray(new, dtype=xp.float32)
    return found


def _head(parameters: Parameters, head: str, hidden: Any) -> Any:
    return _relu(hidden + parameters[f"{head}.bias"]) @ parameters[f"{head}.output"]


def _relu(x: Any) -> Any:
    return np.maximum(x, 0) if isinstance(x, np.ndarray) else x.relu()


def _log_softmax(xp: Any, scores: Any, allowed: Any) -> Any:
    scores = xp.where(allowed, scores, NEVER)
    scores = scores - xp.amax(scores, -1)[..., None]
    return scores - xp.log(xp.exp(scores).sum(-1))[..., None]
