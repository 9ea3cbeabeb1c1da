"""Problems by the name that ``--problem`` takes."""

from __future__ import annotations

from ogg_hpc.errors import SettingsError
from ogg_hpc.problems.maximum_clique import MaximumClique
from ogg_hpc.problems.maximum_cut import MaximumCut
from ogg_hpc.problems.maximum_independent_set import MaximumIndependentSet
from ogg_hpc.problems.maximum_weight_independent_set import MaximumWeightIndependentSet
from ogg_hpc.problems.minimum_dominating_set import MinimumDominatingSet
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.minimum_weight_vertex_cover import MinimumWeightVertexCover
from ogg_hpc.problems.problem import Problem

_PROBLEMS: dict[str, type[Problem]] = {
    problem.name: problem
    for problem in (
        MinimumVertexCover,
        MaximumIndependentSet,
        MaximumClique,
        MinimumDominatingSet,
        MaximumCut,
        MinimumWeightVertexCover,
        MaximumWeightIndependentSet,
    )
}


def problem_names() -> list[str]:
    """Return the names of the problems that come with the package."""
    return list(_PROBLEMS)


def cover_problem(problem: Problem) -> MinimumVertexCover | None:
    """Return the problem of vertex covers whose complements solve a problem; None without one.

    See `Problem.as_vertex_cover`.
    """
    if type(problem).as_vertex_cover is Problem.as_vertex_cover:
        return None
    return MinimumWeightVertexCover() if problem.uses_node_weights else MinimumVertexCover()


def problem_by_name(name: str) -> Problem:
    """Return a problem of the package, or a user's own as ``path/to/file.py:ClassName``.

    Raises
    ------
    SettingsError
        An unknown name, or a file or class that cannot be loaded.
    """
    if name in _PROBLEMS:
        return _PROBLEMS[name]()
    if ":" in name:
        from ogg_hpc.runtime.plugins import load_class

        problem: Problem = load_class(name, Problem)()
        return problem
    known = ", ".join(_PROBLEMS)
    raise SettingsError(
        f"unknown problem {name!r}; choose one of {known}, or path/to/file.py:ClassName"
    )
