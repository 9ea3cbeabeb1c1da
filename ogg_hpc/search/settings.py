"""How a graph is solved."""

from __future__ import annotations

from dataclasses import dataclass

ENGINES = ("auto", "reference", "frontier", "scalar")


@dataclass(frozen=True)
class SolveSettings:
    """How a graph is solved.

    Attributes
    ----------
    problem
        Name of a problem, or ``FILE.py:CLASS``.
    policy
        Name of a shipped policy or of a heuristic (``max-degree``, ``min-degree``,
        ``inverse-degree`` or ``inverse-degree:EXPONENT``, ``two-message``, or one of the
        problem's own), or a parameter file; None takes the policy shipped for the problem, else
        its best heuristic. Policies and heuristics of vertex cover also solve the problems whose
        solutions are the complements of covers: maximum independent set and maximum clique.
    policy_class
        ``FILE.py:CLASS`` of the user's own network, if the parameter file is of one.
    select
        Nodes chosen a step: ``one``, ``adaptive``, ``paper``, or a TOML file; None for the
        problem's default. ``max-degree``, ``min-degree``, a problem's own heuristics, and
        problems that do not allow several at once always take ``one``.
    engine
        ``reference`` (any network, and messages), ``frontier`` (structure2vec, by what a step
        changes), ``scalar`` (structure2vec of up to two layers and messages, by integers; many
        times faster), or ``auto`` for the fastest that can be used. ``max-degree``,
        ``min-degree`` and a problem's own heuristics need none: ``auto``.
    refresh_above
        A policy of messages sends one anew when it has moved by more than this share (of its value;
        for maximum cut, of a whole side); 0 for always, None for the policy's default.
    collective, balance
        How neighbour sums cross ranks, and what is balanced over them.
    order
        ``degree``, ``bfs``, ``rcm`` or ``metis``, an order of `node_order` in which the nodes are
        renumbered on the way in, so that ranks exchange less; the answer is in the graph's own
        labels. Ties go to the lowest new id, so that it is another answer; it depends on the number
        of ranks with ``metis`` alone, which makes a part for each. None for the graph's own order.
    reduce
        Whether the problem's exact reductions shrink the graph first, so that the policy solves
        the kernel that is left; off for the policy alone.
    samples
        Solve by so many policies, the given one and others around it, and keep the best solution;
        more than one are spread over the ranks, each of which then solves whole graphs alone.
    polish
        Seconds of local search after the policy, on every rank from a seed of its own.
    seed
        Of the samples and of the polish; one policy's search draws no random numbers.
    file_format, undirected
        How the graph file is read.
    node_weights
        A file of weights of the nodes, for a graph that is read from a file.
    """

    problem: str = "mvc"
    policy: str | None = None
    policy_class: str | None = None
    select: str | None = None
    engine: str = "auto"
    refresh_above: float | None = None
    collective: str = "allgather"
    balance: str = "rows"
    order: str | None = None
    reduce: bool = True
    samples: int = 1
    polish: float = 0.0
    seed: int = 0
    file_format: str | None = None
    undirected: bool = False
    node_weights: str | None = None
