"""Small graphs of all kinds that engines are compared on."""

import networkx as nx

from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi, watts_strogatz
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.launch import promised_size

# Ranks that share cores take milliseconds a step: fewer graphs there.
_, RANKS = promised_size() or ("", 1)
SEEDS = range(8) if RANKS == 1 else (2,)


def families():
    for seed in SEEDS:
        yield f"er-{seed}", erdos_renyi(20 + 9 * seed, 0.15, seed)
        yield f"ba-{seed}", barabasi_albert(20 + 11 * seed, 1 + seed % 5, seed)
        yield f"ws-{seed}", watts_strogatz(20 + 8 * seed, 4, 0.2, seed)
    for name, graph in (
        ("star", nx.star_graph(12)),
        ("path", nx.path_graph(17)),
        ("complete", nx.complete_graph(9)),
        ("disconnected", nx.disjoint_union(nx.cycle_graph(7), nx.empty_graph(5))),
        ("two nodes", nx.path_graph(2)),
        ("no edges", nx.empty_graph(4)),
    ):
        yield name, Graph.from_networkx(graph)


GRAPHS = dict(families())
