"""Random graphs that are a function of their parameters and a seed alone.

Every random number is a stateless hash of (seed, generator, item), where the item is a node
(or an edge of the ring) and the number of the draw for it. Nothing depends on who draws or in
which order, so that a parallel form makes the same graph for every number of ranks.
"""

from __future__ import annotations

from collections.abc import Callable

from ogg_hpc.graphs.generators.ba import barabasi_albert
from ogg_hpc.graphs.generators.er import erdos_renyi, erdos_renyi_rows
from ogg_hpc.graphs.generators.girg import geometric_inhomogeneous
from ogg_hpc.graphs.generators.planar import planar_union
from ogg_hpc.graphs.generators.plc import powerlaw_cluster
from ogg_hpc.graphs.generators.rb import model_rb
from ogg_hpc.graphs.generators.regular import random_regular
from ogg_hpc.graphs.generators.torus import toroidal_grid
from ogg_hpc.graphs.generators.weights import with_random_node_weights, with_random_signs
from ogg_hpc.graphs.generators.ws import watts_strogatz
from ogg_hpc.graphs.graph import Graph

__all__ = [
    "GENERATORS",
    "barabasi_albert",
    "erdos_renyi",
    "erdos_renyi_rows",
    "geometric_inhomogeneous",
    "model_rb",
    "planar_union",
    "powerlaw_cluster",
    "random_regular",
    "toroidal_grid",
    "watts_strogatz",
    "with_random_node_weights",
    "with_random_signs",
]

GENERATORS: dict[str, Callable[..., Graph]] = {
    "er": erdos_renyi,
    "ba": barabasi_albert,
    "ws": watts_strogatz,
    "plc": powerlaw_cluster,
    "regular": random_regular,
    "girg": geometric_inhomogeneous,
    "torus": toroidal_grid,
    "planar": planar_union,
    "rb": model_rb,
}
"""Generators by their names on the command line; parameters n, seed and some of their own."""
