"""A problem of your own: maximum 2-packing, as many nodes as possible that are far apart.

Use: ogg-hpc train default --set problem=examples/far_apart.py:FarApart
     ogg-hpc solve GRAPH --problem examples/far_apart.py:FarApart --policy FILE
"""

import numpy as np

from ogg_hpc.problems import Problem


class FarApart(Problem):
    """Choose nodes no two of which are adjacent or have a neighbour in common."""

    name = "far-apart"
    maximize = True

    def candidates(self, solution, degrees, batch):
        """Any node may be chosen that is far from the chosen ones."""
        return batch.local(solution.active)

    def choose(self, solution, chosen, batch):
        """Take the chosen nodes and all within two steps out of the residual graph."""
        near = chosen | batch.adjacent(chosen)
        solution.selected |= chosen
        solution.active &= ~(near | batch.adjacent(near))

    def reward(self, solution, chosen, batch):
        """Earn one for each node."""
        return batch.count(chosen)

    def violation(self, graph, nodes):
        """Name a node that is, or has as neighbours, more than one chosen node."""
        chosen = np.zeros(graph.n, int)
        np.add.at(chosen, nodes, 1)
        near = chosen + np.bincount(graph.rows, chosen[graph.columns], graph.n).astype(int)
        crowded = np.flatnonzero(near > 1)
        if len(crowded):
            return f"{near[crowded[0]]} nodes lie around {graph.labels_of(crowded[:1])[0]}"
        return None

    def objective(self, graph, nodes):
        """Return the number of nodes."""
        return float(len(nodes))

    def bound(self, graph, stop):
        """Return the size of a dominating set: each of its nodes is near one chosen at most."""
        from ogg_hpc.problems.domination import greedy_dominating_set

        return float(len(greedy_dominating_set(graph)))
