from dataclasses import replace

import pytest

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.scaling.folder import StudyFolder, plan_folder
from ogg_hpc.scaling.points import points_of, read_point
from ogg_hpc.scaling.records import read_record, write_record
from ogg_hpc.scaling.study import load_study


def content(path):
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


def test_a_plan_is_the_same_each_time(study_file, tmp_path):
    study = load_study(study_file)
    first, second = (plan_folder(study, tmp_path / name) for name in ("a", "b"))
    assert content(first.path) == content(second.path)
    before = content(first.path)
    plan_folder(study, first.path)
    assert content(first.path) == before


def test_a_point_a_case_and_number_of_ranks(folder):
    names = [f"{case}.p000{ranks}" for case in ("search", "train") for ranks in (1, 2, 4)]
    assert [point.name for point in folder.points] == names
    assert [read_point(folder.point_file(point)) for point in folder.points] == folder.points


def test_a_folder_gives_its_study_back(folder, study_file):
    again = StudyFolder(folder.path)
    assert again.study == load_study(study_file)
    assert again.points == points_of(again.study) == folder.points


def test_points_are_missing_until_they_have_a_record(folder, record):
    assert folder.missing() == folder.points
    write_record(folder.record_file(folder.points[1]), record(2))
    assert folder.missing() == [folder.points[0], *folder.points[2:]]
    assert folder.records() == [record(2)]


def test_another_study_finds_the_folder_taken(folder, study_file):
    study_file.write_text(study_file.read_text().replace("steps = 2", "steps = 3"))
    with pytest.raises(SettingsError, match="holds another study, or other settings; choose"):
        plan_folder(load_study(study_file), folder.path)


def test_a_graph_file_has_to_be_there(study_file, tmp_path):
    text = study_file.read_text().replace("er:n=40,p=0.3,seed=1", "none.mtx")
    study_file.write_text(text)
    with pytest.raises(SettingsError, match=r"case search: none\.mtx: no such file"):
        plan_folder(load_study(study_file), tmp_path / "out")


@pytest.mark.parametrize("text", [None, "{", "[]", '{"ranks": []}', '{"rank": [1]}'])
def test_a_folder_without_a_study(tmp_path, text):
    if text is not None:
        (tmp_path / "study.json").write_text(text)
    with pytest.raises(InputError, match=r"study\.json: no scaling study"):
        StudyFolder(tmp_path)


def test_records_come_back_as_they_were(record, tmp_path):
    written = record(2, 0.25, commit=None)
    write_record(tmp_path / "r.json", written)
    assert read_record(tmp_path / "r.json") == written


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("scaling/1", "scaling/9"), "no record of the format"),
        (lambda text: text.replace('"nodes"', '"knots"'), "keys are missing or unknown"),
        (lambda text: text[:50], "not JSON"),
        (lambda text: "[]", "no record: not a JSON object"),
    ],
)
def test_other_files_are_no_records(record, tmp_path, change, message):
    path = tmp_path / "r.json"
    write_record(path, record())
    path.write_text(change(path.read_text()))
    with pytest.raises(
        InputError, match=f"{message}.*; delete it, and the point is measured again"
    ):
        read_record(path)


@pytest.mark.parametrize("change", [{"study": "large"}, {"case": "train"}, {"ranks": 4}])
def test_a_record_of_another_point_is_none_of_this_one(folder, record, change):
    point = folder.points[1]
    write_record(folder.record_file(point), replace(record(point.ranks), **change))
    with pytest.raises(InputError, match=r"of another point than search\.p0002; delete it"):
        folder.records()


@pytest.mark.parametrize("text", ["{", "[]", '{"nodes": 3}'])
def test_other_files_are_no_points(tmp_path, text):
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(InputError, match="no point of a scaling study"):
        read_point(tmp_path / "p.json")
