"""What an embedding is told: the options of ``ogg-hpc embed``, and what is kept with its output."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ogg_hpc.errors import SettingsError
from ogg_hpc.settings import misfit, setting

METHODS = ("deepwalk", "node2vec", "line", "app")
OBJECTIVES = ("sgns",)
STRATEGIES = ("partitioned", "simple", "dot", "rotate")
# What the settings that are words may say, besides FILE.py:CLASS where `_OWN_CLASSES` has them.
CHOICES = {
    "method": METHODS,
    "window_rule": ("reduced", "full"),
    "order": ("first", "second", "both"),
    "objective": OBJECTIVES,
    "negatives": ("batch", "pair"),
    "strategy": STRATEGIES,
    "exchange": ("alltoallv", "onesided"),
    "graph_memory": ("auto", "shared", "rows"),
}
_OWN_CLASSES = ("method", "objective")


@dataclass(frozen=True)
class EmbedSettings:
    """How a graph is embedded."""

    method: str = setting("deepwalk", "sampler of pairs of nodes, or FILE.py:CLASS of your own")
    option: tuple[str, ...] = setting((), "KEY=VALUE for a sampler of your own; may be repeated")
    format: str = setting("", "format of the graph file; found by its content where it is empty")
    directed: bool = setting(False, "take each line u v of an edge list as an arc from u to v")
    undirected: bool = setting(False, "take each arc of a directed graph as an edge")
    weighted: bool = setting(True, "let walks and edges be drawn in proportion to the weights")
    walks: int = setting(
        0,
        "walks that start at each node in an epoch; 0 = 10, and 400 in app, where one is one pair",
    )
    walk_length: int = setting(80, "nodes of a walk")
    window: int = setting(
        10, "most steps between the two nodes of a pair, in deepwalk and node2vec"
    )
    window_rule: str = setting(
        "reduced", "window of each node: 1 to `window` at random, as in word2vec, or all of it"
    )
    p: float = setting(1.0, "node2vec: large for walks that seldom go straight back")
    q: float = setting(1.0, "node2vec: large for walks that stay near, small for walks that leave")
    order: str = setting("both", "line: proximity of first order, of second, or half of both")
    samples: int = setting(0, "line: edges drawn in an epoch; 0 = chosen by the graph")
    stop_rate: float = setting(0.15, "app: probability that a walk ends after a step")
    seed: int = setting(0, "seed of walks, negatives and initial vectors")
    epochs: int = setting(1, "times that pairs are drawn and trained")
    dim: int = setting(128, "numbers in a vector")
    objective: str = setting(
        "sgns", "loss of a pair: skip-gram with negative sampling, or FILE.py:CLASS"
    )
    negative: int = setting(5, "negatives that a pair is weighed against")
    negatives: str = setting(
        "batch", "who shares negatives: all pairs of a batch, or nobody (each pair has its own)"
    )
    shared_negatives: int = setting(0, "negatives of a batch that shares them; 0 = chosen")
    negative_power: float = setting(0.75, "negatives are drawn by degree to this power")
    learning_rate: float = setting(0.025, "step size at the start")
    learning_rate_end: float = setting(0.0001, "step size at the end; it falls linearly")
    batch_pairs: int = setting(
        2_000, "pairs in a batch, about: one step at the vectors from before it, on any ranks"
    )
    row_limit: float = setting(
        2.0, "most that a batch's gradients of one vector may weigh together, in step sizes"
    )
    strategy: str = setting("partitioned", "where vectors lie and what crosses the ranks")
    parts: int = setting(0, "rotate: parts that the vectors are cut into; 0 = chosen")
    exchange: str = setting(
        "alltoallv",
        "how vectors are fetched and updated: by all ranks together, or onesided, by each rank "
        "when it wants, which is not reproducible",
    )
    staleness: int = setting(0, "batches whose updates a batch may not yet have seen: 0 or 1")
    servers: int = setting(0, "ranks that only hold vectors; the others sample and compute")
    graph_memory: str = setting(
        "auto", "graph: a copy on each node (shared), by rows over all ranks, or as memory allows"
    )
    checkpoint_minutes: float = setting(10.0, "most minutes between checkpoints; 0 = epochs alone")
    checkpoint_keep: int = setting(2, "newest checkpoints that are kept")

    def __post_init__(self) -> None:
        self._check_words()
        for name in (
            "walk_length", "window", "epochs", "dim", "negative", "batch_pairs",
            "checkpoint_keep",
        ):  # fmt: skip
            self._check(name, lambda value: value >= 1, "must be at least 1")
        for name in ("walks", "samples", "shared_negatives", "parts", "servers", "seed"):
            self._check(name, lambda value: value >= 0, "must not be negative")
        for name in ("p", "q", "learning_rate", "row_limit"):
            self._check(name, lambda value: 0 < value < math.inf, "must be positive and finite")
        for name in ("negative_power", "learning_rate_end", "checkpoint_minutes"):
            self._check(name, lambda value: 0 <= value < math.inf, "must be finite, not negative")
        self._check("stop_rate", lambda value: 0 < value <= 1, "must be above 0 and at most 1")
        self._check("staleness", lambda value: value in (0, 1), "is 0 or 1")
        self._check(
            "learning_rate_end",
            lambda value: value <= self.learning_rate,
            f"must not be above --learning-rate, {self.learning_rate:g}",
        )
        if self.directed and self.undirected:
            raise SettingsError("a graph is read as directed or as undirected, not both")
        if self.method == "line" and self.order == "both" and self.dim % 2:
            raise misfit("dim", f"--dim is shared by both orders of line: {self.dim} is odd")
        for text in self.option:
            if "=" not in text:
                raise misfit("option", f"--option {text!r}: expected KEY=VALUE")

    def plain(self) -> dict[str, Any]:
        """Return the settings as plain values, as JSON gives them back."""
        return {**asdict(self), "option": list(self.option)}

    def _check(self, name: str, holds: Callable[[Any], bool], rule: str) -> None:
        value = getattr(self, name)
        if not holds(value):
            raise misfit(name, f"{_option(name)} {rule}; it is {value}")

    def _check_words(self) -> None:
        for name, known in CHOICES.items():
            value = getattr(self, name)
            own = name in _OWN_CLASSES
            if value not in known and not (own and ".py:" in value):
                words = " or ".join([*known, "FILE.py:CLASS"] if own else known)
                raise misfit(name, f"{_option(name)} is {words}, not {value!r}")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
