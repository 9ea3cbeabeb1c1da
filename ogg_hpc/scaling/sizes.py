"""How large the graph is at each number of ranks: strong scaling keeps it, weak scaling grows it.

An Erdős-Rényi graph of n nodes has about p n² entries, so entries in proportion to P (as many for
each rank: constant work) need n in proportion to the square root of P. All other families that may
grow have a number of neighbours that does not depend on n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.families import Family, parse_family
from ogg_hpc.graphs.members import is_family

GROWS = ("entries", "nodes")
_DENSE = ("er",)
_SPARSE = ("ba", "ws", "plc", "regular", "girg", "torus", "planar", "geometric")


@dataclass(frozen=True)
class Growth:
    """Factors from the graph of one rank to that of P.

    Attributes
    ----------
    nodes, entries
        Of N and of the entries of the adjacency matrix.
    """

    nodes: float
    entries: float


def check_graph(graph: str, grows: bool) -> None:
    """Check the text that names a graph.

    Raises
    ------
    SettingsError
        A generated graph that there is not, more than one, or one that cannot grow and should.
        Whether a file exists is not asked: the records of a study may be read elsewhere.
    """
    if not is_family(graph):
        if grows:
            raise SettingsError(f"{graph}: a file cannot grow with P; name a generated graph")
        return
    family = parse_family(graph)
    if family.count != 1:
        raise SettingsError(f"{graph}: one graph is measured; leave count out")
    if grows and family.generator not in _DENSE + _SPARSE:
        known = ", ".join(_DENSE + _SPARSE)
        raise SettingsError(f"{graph}: {family.generator} cannot grow with P; {known} can")


def growth(graph: str, grows: str | None, ranks: int) -> Growth:
    """Return by how much a generated graph has grown at P ranks.

    Parameters
    ----------
    graph
        The graph at P = 1.
    grows
        What is proportional to P, of `GROWS`; None for strong scaling.
    ranks
        P.
    """
    if grows is None:
        return Growth(1.0, 1.0)
    dense = parse_family(graph).generator in _DENSE
    if grows == "nodes":
        return Growth(float(ranks), float(ranks**2 if dense else ranks))
    return Growth(math.sqrt(ranks) if dense else float(ranks), float(ranks))


def graph_at(graph: str, grows: str | None, ranks: int) -> str:
    """Return the text that names the graph at P ranks; a file by its absolute path."""
    if not is_family(graph):
        return str(Path(graph).resolve())
    if grows is None:
        return graph
    family = parse_family(graph)
    n = round(family.parameters["n"] * growth(graph, grows, ranks).nodes)
    return _text(replace(family, parameters={**family.parameters, "n": n}))


def _text(family: Family) -> str:
    values = {**family.parameters, "seed": family.seed}
    if family.heaviest:
        values |= {"lightest": family.lightest, "heaviest": family.heaviest}
    return f"{family.generator}:{','.join(f'{name}={value}' for name, value in values.items())}"
