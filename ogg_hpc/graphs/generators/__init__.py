"""Random graphs that are a function of their parameters and a seed alone.

Every random number is a stateless hash of (seed, generator, item), where the item is a node
(or an edge of the ring) and the number of the draw for it. Nothing depends on who draws or in
which order, so that a parallel form makes the same graph for every number of ranks. Families
for large graphs are made in blocks of edges, of which each rank makes its own.
"""

from __future__ import annotations

from collections.abc import Callable

from ogg_hpc.graphs.generators.ba import BarabasiAlbertEdges, barabasi_albert
from ogg_hpc.graphs.generators.blocks import RandomEdges
from ogg_hpc.graphs.generators.er import ErdosRenyiEdges, erdos_renyi, erdos_renyi_rows
from ogg_hpc.graphs.generators.geometric import GeometricEdges, random_geometric
from ogg_hpc.graphs.generators.girg import geometric_inhomogeneous
from ogg_hpc.graphs.generators.planar import planar_union
from ogg_hpc.graphs.generators.plc import powerlaw_cluster
from ogg_hpc.graphs.generators.rb import model_rb
from ogg_hpc.graphs.generators.regular import random_regular
from ogg_hpc.graphs.generators.rmat import RecursiveMatrixEdges, recursive_matrix
from ogg_hpc.graphs.generators.torus import toroidal_grid
from ogg_hpc.graphs.generators.weights import (
    random_node_weights,
    with_random_node_weights,
    with_random_signs,
)
from ogg_hpc.graphs.generators.ws import WattsStrogatzEdges, watts_strogatz
from ogg_hpc.graphs.graph import Graph

__all__ = [
    "EDGES",
    "GENERATORS",
    "RandomEdges",
    "barabasi_albert",
    "erdos_renyi",
    "erdos_renyi_rows",
    "geometric_inhomogeneous",
    "model_rb",
    "planar_union",
    "powerlaw_cluster",
    "random_geometric",
    "random_node_weights",
    "random_regular",
    "recursive_matrix",
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
    "rmat": recursive_matrix,
    "geometric": random_geometric,
}
"""Generators by their names on the command line; parameters n, seed and some of their own."""

EDGES: dict[str, Callable[..., RandomEdges]] = {
    "er": ErdosRenyiEdges,
    "ba": BarabasiAlbertEdges,
    "ws": WattsStrogatzEdges,
    "rmat": RecursiveMatrixEdges,
    "geometric": GeometricEdges,
}
"""The same graphs as blocks of edges, of the families that have them; the same parameters."""
