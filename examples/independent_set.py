"""A problem of your own: maximum independent set.

Use: ogg-hpc train default --set problem=examples/independent_set.py:IndependentSet
     ogg-hpc solve GRAPH --problem examples/independent_set.py:IndependentSet --policy FILE
"""

import numpy as np

from ogg_hpc.problems import Problem


class IndependentSet(Problem):
    """Choose nodes no two of which are adjacent, as many as possible."""

    name = "independent-set"
    maximize = True
    residual = True

    def candidates(self, solution, degrees, batch):
        """Any node of the residual graph may be chosen."""
        return batch.local(solution.active)

    def choose(self, solution, chosen, batch):
        """Remove the chosen nodes and their neighbours from the residual graph."""
        solution.selected |= chosen
        solution.active &= ~(chosen | batch.adjacent(chosen))

    def reward(self, solution, chosen, batch):
        """Earn one for each node."""
        return batch.count(chosen)

    def violation(self, graph, nodes):
        """Name two chosen nodes that are adjacent."""
        inside = np.zeros(graph.n, bool)
        inside[nodes] = True
        bad = np.flatnonzero(inside[graph.rows] & inside[graph.columns])
        if len(bad):
            u, v = graph.labels_of([graph.rows[bad[0]], graph.columns[bad[0]]])
            return f"{u} and {v} are adjacent"
        return None

    def objective(self, graph, nodes):
        """Return the number of nodes."""
        return float(len(nodes))

    def bound(self, graph):
        """Return n minus a lower bound on vertex covers."""
        from ogg_hpc.problems.bounds import double_cover_bound

        return float(graph.n - double_cover_bound(graph))
