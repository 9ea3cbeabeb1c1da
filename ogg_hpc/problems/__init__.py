"""What is optimised: rules, rewards, feasibility, bounds and exact references."""

from ogg_hpc.problems.problem import PartialSolution, Problem, Reduction, Residual
from ogg_hpc.problems.registry import problem_by_name, problem_names

__all__ = [
    "PartialSolution",
    "Problem",
    "Reduction",
    "Residual",
    "problem_by_name",
    "problem_names",
]
