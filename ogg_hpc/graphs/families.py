"""Generated graphs named by a text, such as ``er:n=250,p=0.15,count=20,seed=7``."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators import (
    EDGES,
    GENERATORS,
    RandomEdges,
    random_node_weights,
    with_random_node_weights,
)
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random import hash64, stream

_TYPES = {"int": int, "float": float}  # of the generators' parameters
_OWN = ("count", "seed", "lightest", "heaviest")


@dataclass(frozen=True)
class Family:
    """Graphs of one generator: graph i is a function of the parameters, the seed and i.

    They are those that ``ogg-hpc data generate`` makes of the same parameters.

    Attributes
    ----------
    generator
        A key of `GENERATORS`.
    parameters
        Its parameters, without the seed.
    count
        How many graphs there are.
    seed
        Seed of all of them.
    lightest, heaviest
        Of the whole weights that nodes get; none where `heaviest` is 0.
    """

    generator: str
    parameters: dict[str, int | float]
    count: int = 1
    seed: int = 0
    lightest: int = 1
    heaviest: int = 0

    def graph(self, i: int) -> Graph:
        """Return graph i."""
        seed = self._seed_of(i)
        graph = GENERATORS[self.generator](**self.parameters, seed=seed)
        return with_random_node_weights(graph, self.lightest, self.heaviest, seed)

    def edges(self, i: int) -> RandomEdges:
        """Return the edges of graph i in blocks, where the generator is one of `EDGES`."""
        return EDGES[self.generator](**self.parameters, seed=self._seed_of(i))

    def node_weights(self, i: int, lo: int, hi: int) -> NDArray[np.float64] | None:
        """Return the weights of nodes lo … hi - 1 of graph i, None without."""
        return random_node_weights(lo, hi, self.lightest, self.heaviest, self._seed_of(i))

    def _seed_of(self, i: int) -> int:
        return int(hash64(self.seed, stream("graph"), i))


def parse_family(text: str) -> Family:
    """Return the family that ``GENERATOR:NAME=VALUE,…`` means.

    The names are those of the generator's parameters, ``count`` (1) and ``seed`` (0), and
    ``lightest`` (1) and ``heaviest`` for nodes of random whole weights.

    Raises
    ------
    SettingsError
        An unknown generator or name, one that is missing or given twice, or a value that is no
        number.
    """
    kind, _, rest = text.partition(":")
    if kind not in GENERATORS:
        raise SettingsError(f"{text}: family {kind!r} is unknown; use {', '.join(GENERATORS)}")
    takes = dict(inspect.signature(GENERATORS[kind]).parameters)
    del takes["seed"]
    types = {name: _TYPES[str(each.annotation)] for name, each in takes.items()}
    types |= dict.fromkeys(_OWN, int)
    values: dict[str, int | float] = {}
    for part in filter(None, rest.split(",")):
        name, _, value = part.partition("=")
        if name not in types or name in values:
            fault = "is given twice" if name in values else "is unknown"
            raise SettingsError(f"{text}: {name!r} {fault}; {kind} takes {', '.join(types)}")
        try:
            values[name] = types[name](value)
        except ValueError:
            number = "a number" if types[name] is float else "a whole number"
            raise SettingsError(f"{text}: {name} has to be {number}, not {value!r}") from None
    needed = [name for name, each in takes.items() if each.default is each.empty]
    missing = [name for name in needed if name not in values]
    if missing:
        raise SettingsError(f"{text}: {kind} needs {', '.join(missing)} too")
    own = {name: int(values.pop(name)) for name in _OWN if name in values}
    if own.get("count", 1) < 1:
        raise SettingsError(f"{text}: count must be at least 1, not {own['count']}")
    return Family(kind, values, **own)
