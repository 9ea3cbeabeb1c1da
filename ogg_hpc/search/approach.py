"""What solves a problem: a policy or a heuristic, by the rules of which problem."""

from __future__ import annotations

from dataclasses import dataclass

from ogg_hpc.errors import SettingsError
from ogg_hpc.policies.degree_messages import named_form
from ogg_hpc.policies.file import StoredPolicy, load_policy, shipped_policies
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.problem import Heuristic, Problem
from ogg_hpc.problems.registry import cover_problem
from ogg_hpc.search.networks import DEGREE_MESSAGES, NETWORKS, MessageNetwork

_ANOTHER = "choose another, or none for the best that comes with the package"
NO_FRONTIER = "the frontier engine needs a structure2vec policy; use --engine auto"


@dataclass(frozen=True)
class Approach:
    """A policy or a heuristic.

    Attributes
    ----------
    name : str
        What ``--policy`` takes.
    rules : Problem
        The problem that it solves: the one asked for, or vertex cover on the graph whose covers
        are the complements of its solutions.
    heuristic : callable, optional
        Solves a whole graph on rank 0, without scores.
    stored : StoredPolicy, optional
        The policy's file, where there is one.
    network : MessageNetwork, optional
        What scores by it, where that is messages.
    warnings : tuple of str
        What the user should know about the choice.
    """

    name: str
    rules: Problem
    heuristic: Heuristic | None = None
    stored: StoredPolicy | None = None
    network: MessageNetwork | None = None
    warnings: tuple[str, ...] = ()


def find_approach(problem: Problem, policy: str | None, engine: str) -> Approach:
    """Return what solves a problem.

    Parameters
    ----------
    problem
        The problem asked for.
    policy
        Name of a policy or a heuristic, or a parameter file; None for the policy that is shipped
        for the problem or for its vertex covers, else its first heuristic.
    engine
        What is to score by it.

    Raises
    ------
    OggError
        There is none of this name, or none at all, or the problem or the engine cannot do with it.
    """
    cover = cover_problem(problem)
    warnings: tuple[str, ...] = ()
    if policy is None:
        policy, warnings = _default(problem, cover)
    for rules in (problem, cover):
        heuristic = rules.heuristics().get(policy) if rules is not None else None
        if rules is not None and heuristic is not None:
            if engine != "auto":
                raise SettingsError(f"{policy} runs on rank 0 without an engine; use --engine auto")
            return Approach(policy, rules, heuristic, warnings=warnings)
    if policy in MinimumVertexCover().heuristics():
        raise SettingsError(f"{policy} finds vertex covers, not {problem.name}; {_ANOTHER}")
    network: MessageNetwork | None
    if named_form(policy, n=0, refresh_above=0.0) is not None:
        rules, stored, network = cover or problem, None, DEGREE_MESSAGES
    else:
        stored = load_policy(policy, problem.name, *(() if cover is None else (cover.name,)))
        network = NETWORKS.get(stored.network)
        rules = problem
        if cover is not None and (
            stored.problem == cover.name or (network is not None and network.misfit(problem))
        ):
            rules = cover
    if network is not None:
        misfit = network.misfit(rules)
        if misfit:
            raise SettingsError(f"{policy} {misfit}; {_ANOTHER}")
        if engine == "frontier":
            raise SettingsError(NO_FRONTIER)
    return Approach(policy, rules, stored=stored, network=network, warnings=warnings)


def _default(problem: Problem, cover: Problem | None) -> tuple[str, tuple[str, ...]]:
    """Return the best that comes with the package, and what to say about it."""
    shipped = shipped_policies()
    for rules in (problem, cover):
        if rules is not None and rules.name in shipped:
            return rules.name, ()
    for heuristic in problem.heuristics():
        said = f"no policy comes with the package for {problem.name}: solved by {heuristic}"
        return heuristic, (said,)
    raise SettingsError(
        f"no policy comes with the package for {problem.name}, and it has no heuristic: train a "
        "policy and give its parameter file as --policy"
    )
