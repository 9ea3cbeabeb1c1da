"""Strategies by the name that ``--strategy`` takes."""

from __future__ import annotations

from ogg_hpc.embedding.strategies.dot import Dot
from ogg_hpc.embedding.strategies.partitioned import Partitioned
from ogg_hpc.embedding.strategies.rotate import Rotate
from ogg_hpc.embedding.strategies.simple import Simple
from ogg_hpc.embedding.strategies.strategy import Strategy

_STRATEGIES: dict[str, type[Strategy]] = {
    strategy.name: strategy for strategy in (Partitioned, Simple, Dot, Rotate)
}


def strategy_class(name: str) -> type[Strategy]:
    """Return the class of a strategy, from whose ``phases`` a clock is made."""
    return _STRATEGIES[name]
