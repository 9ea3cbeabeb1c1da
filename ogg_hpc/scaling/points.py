"""A point of a study: one case at one number of ranks, which a job measures by itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ogg_hpc import settings
from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.runtime.files import read_json
from ogg_hpc.scaling.sizes import graph_at
from ogg_hpc.scaling.study import Case, Study
from ogg_hpc.settings import setting


@dataclass(frozen=True)
class Point:
    """One measurement."""

    study: str = setting("", "the study's name")
    case: Case = setting(Case, "what is measured")
    ranks: int = setting(1, "number of ranks")
    graph: str = setting("", "the graph at this number of ranks")
    repeats: int = setting(3, "times that the steps are timed")

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"{self.case.label}.p{self.ranks:04d}"


def points_of(study: Study) -> list[Point]:
    """Return the points of a study, by case and then by ranks."""
    return [
        Point(
            study.name,
            case,
            ranks,
            graph_at(case.graph, case.growing, ranks),
            study.repeats,
        )
        for case in study.cases
        for ranks in sorted(study.ranks)
    ]


def read_point(path: str | Path) -> Point:
    """Read a point that was written as JSON.

    Raises
    ------
    InputError
        Another file.
    """
    what = "point of a scaling study"
    document = read_json(path, what)
    try:
        return settings.build(Point, document)
    except SettingsError as error:
        raise InputError(path, f"no {what}: {error}") from None
