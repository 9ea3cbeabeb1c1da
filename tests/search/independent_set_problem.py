"""Maximum independent set, written as a user of the package would."""

import numpy as np

from ogg_hpc.problems.problem import Problem


class IndependentSet(Problem):
    """Choose nodes no two of which are neighbours; a chosen node takes its neighbours along.

    Several nodes of one step may be neighbours: it is solved one node a step.
    """

    name = "independent-set"
    maximize = True

    def candidates(self, solution, degrees, batch):
        return batch.local(solution.active)

    def choose(self, solution, chosen, batch):
        solution.selected |= chosen
        solution.active &= ~(chosen | batch.adjacent(chosen))

    def reward(self, solution, chosen, batch):
        return batch.count(chosen)

    def violation(self, graph, nodes):
        chosen = np.zeros(graph.n, bool)
        chosen[nodes] = True
        inside = np.flatnonzero(chosen[graph.rows] & chosen[graph.columns])
        if inside.size:
            u, v = graph.labels_of([graph.rows[inside[0]], graph.columns[inside[0]]])
            return f"nodes {u} and {v} are neighbours"
        return None

    def objective(self, graph, nodes):
        return float(len(nodes))

    def bound(self, graph):
        return float(graph.n)
