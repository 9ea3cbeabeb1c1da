"""The folder of a study: its settings, a file a point, jobscripts, records.

======================  ===========================================================
``study.json``          the settings
``points/NAME.json``    what is measured: a case at one number of ranks
``records/NAME.json``   what was measured
``logs/NAME.log``       what the measuring program printed
``jobs/NAME-pP.sh``     a jobscript for all cases at one number of ranks
======================  ===========================================================
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from ogg_hpc import settings
from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.members import is_family
from ogg_hpc.runtime.files import read_json, write_json
from ogg_hpc.scaling.points import Point, points_of
from ogg_hpc.scaling.records import MEASURE_AGAIN, Record, read_record
from ogg_hpc.scaling.study import Study

_STUDY = "study.json"


class StudyFolder:
    """The folder of a study.

    Parameters
    ----------
    path
        Where it is.

    Raises
    ------
    InputError
        There is no study in it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        file, what = self.path / _STUDY, "scaling study"
        document = read_json(file, what)
        try:
            self.study = settings.build(Study, document)
        except SettingsError as error:
            raise InputError(file, f"no {what}: {error}") from None
        self.points = points_of(self.study)

    def point_file(self, point: Point) -> Path:
        """Return where a point is."""
        return self.path / "points" / f"{point.name}.json"

    def record_file(self, point: Point) -> Path:
        """Return where the record of a point goes."""
        return self.path / "records" / f"{point.name}.json"

    def log_file(self, point: Point) -> Path:
        """Return where the output of measuring a point goes."""
        return self.path / "logs" / f"{point.name}.log"

    def missing(self) -> list[Point]:
        """Return the points that have no record yet."""
        return [point for point in self.points if not self.record_file(point).exists()]

    def records(self) -> list[Record]:
        """Return the records that there are, in the order of the points.

        Raises
        ------
        InputError
            One that cannot be read, or that is of another point.
        """
        return [self._record(point) for point in self.points if self.record_file(point).exists()]

    def _record(self, point: Point) -> Record:
        file = self.record_file(point)
        record = read_record(file)
        if (record.study, record.case, record.ranks) != (
            point.study,
            point.case.label,
            point.ranks,
        ):
            raise InputError(file, f"of another point than {point.name}; {MEASURE_AGAIN}")
        return record


def plan_folder(study: Study, path: str | Path) -> StudyFolder:
    """Write the settings and the points of a study; leave what is there of the same study.

    Raises
    ------
    SettingsError
        The folder holds another study, or a case names a file that there is not.
    """
    path = Path(path)
    for case in study.cases:
        if not is_family(case.graph) and not Path(case.graph).exists():
            raise SettingsError(
                f"case {case.label}: {case.graph}: no such file, nor a GENERATOR:NAME=VALUE,…"
            )
    if (path / _STUDY).exists():
        folder = StudyFolder(path)
        if folder.study != study:
            raise SettingsError(
                f"{path} holds another study, or other settings; choose another --output"
            )
    else:
        write_json(path / _STUDY, asdict(study))
        folder = StudyFolder(path)
    for name in ("records", "logs"):
        (path / name).mkdir(exist_ok=True)
    for point in folder.points:
        write_json(folder.point_file(point), asdict(point))
    return folder
