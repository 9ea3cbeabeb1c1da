import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.errors import InputError, StoppedError
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.files import temporary_name
from ogg_hpc.runtime.parts import Parts

ALONE = Communicator()
PLAN = {"input": "a.txt", "size": 3, "settings": [1, None]}


def test_a_later_job_finds_the_parts_of_an_earlier_one(tmp_path):
    output = tmp_path / "a.h5"
    earlier = Parts.open(ALONE, output, PLAN)
    assert not earlier.has("one")
    earlier.write("one", values=np.arange(5), text=np.zeros((2, 0), np.uint8))
    assert earlier.has("one")
    later = Parts.open(ALONE, output, PLAN)
    assert later.has("one")
    assert not later.has("two")
    content = later.read("one")
    assert content["values"].tolist() == [0, 1, 2, 3, 4]
    assert content["text"].shape == (2, 0)
    assert list(later.read("one", ("values",))) == ["values"]
    later.discard("one")
    later.discard("one")
    assert not later.has("one")
    later.remove(ALONE)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("plan", [{}, {**PLAN, "size": 4}, {**PLAN, "settings": [1]}])
def test_parts_of_another_plan_are_removed(tmp_path, plan):
    Parts.open(ALONE, tmp_path / "a.h5", PLAN).write("one", values=np.arange(5))
    assert not Parts.open(ALONE, tmp_path / "a.h5", plan).has("one")
    assert not Parts.open(ALONE, tmp_path / "a.h5", PLAN).has("one")


def test_what_a_job_of_another_plan_writes_meanwhile_is_not_taken(tmp_path):
    before = Parts.open(ALONE, tmp_path / "a.h5", PLAN)
    parts = Parts.open(ALONE, tmp_path / "a.h5", {**PLAN, "size": 4})
    before.write("one", values=np.arange(5))
    assert not parts.has("one")
    parts.write("one", values=np.arange(6))
    assert before.read("one")["values"].tolist() == [0, 1, 2, 3, 4]


def test_parts_belong_to_one_output(tmp_path):
    Parts.open(ALONE, tmp_path / "a.h5", PLAN).write("one", values=np.arange(5))
    assert not Parts.open(ALONE, tmp_path / "b.h5", PLAN).has("one")
    assert Parts.open(ALONE, tmp_path / "a.h5", PLAN).has("one")


def test_a_job_that_a_signal_stops_is_marked_until_it_is_started_again(tmp_path):
    parts = Parts.open(ALONE, tmp_path / "a.h5", PLAN)
    marker = parts.folder / "UNFINISHED"
    with pytest.raises(ValueError, match="wrong"), parts.marked_when_stopped(ALONE):
        raise ValueError("wrong")
    assert not marker.exists()
    with pytest.raises(StoppedError), parts.marked_when_stopped(ALONE):
        raise StoppedError("stopped by SIGURG")
    assert "stopped by SIGURG" in marker.read_text()
    parts.write("one", values=np.arange(5))
    assert Parts.open(ALONE, tmp_path / "a.h5", PLAN).has("one")
    assert not marker.exists()


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"format": "other/1"}'])
def test_parts_without_an_intact_plan_are_removed(tmp_path, content):
    parts = Parts.open(ALONE, tmp_path / "a.h5", PLAN)
    parts.write("one", values=np.arange(5))
    (parts.folder / "plan.json").write_text(content)
    assert not Parts.open(ALONE, tmp_path / "a.h5", PLAN).has("one")


def test_what_was_only_begun_is_removed(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        pass
    output = tmp_path / "a.h5"
    parts = Parts.open(ALONE, output, PLAN)
    parts.write("one", values=np.arange(5))
    begun = [
        temporary_name(parts.path("two")),
        parts.folder / f".three.{dead.pid}.part.npz",
        tmp_path / f".a.{dead.pid}.part.h5",
    ]
    others = [tmp_path / f".b.{dead.pid}.part.h5", tmp_path / f".a.{dead.pid}.part.txt"]
    for path in begun + others:
        path.write_bytes(b"some")
    Parts.open(ALONE, output, PLAN)
    assert [path for path in begun if path.exists()] == []
    assert all(path.exists() for path in others)
    assert sorted(os.listdir(parts.folder)) == [parts.path("one").name, "plan.json"]


@given(st.data())
def test_a_damaged_part_counts_as_missing(tmp_path_factory, data):
    parts = Parts.open(ALONE, tmp_path_factory.mktemp("parts") / "a.h5", PLAN)
    parts.write("one", values=np.arange(100), more=np.ones(7))
    content = bytearray(parts.path("one").read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        place = content.index(b"NUMPY") + data.draw(st.integers(0, 900))
        content[place] ^= data.draw(st.integers(1, 255))
    parts.path("one").write_bytes(content)
    assert not Parts.open(ALONE, parts.folder.with_name("a.h5"), PLAN).has("one")


def test_a_part_that_is_damaged_in_use_is_named_and_made_anew_next_time(tmp_path):
    parts = Parts.open(ALONE, tmp_path / "a.h5", PLAN)
    for read in (lambda: parts.read("one"), lambda: parts.array("one", "values")):
        parts.write("one", values=np.arange(5))
        parts.path("one").write_bytes(b"PK")
        with pytest.raises(
            InputError, match=r"one\.\w+\.npz: a finished part is missing or damaged"
        ):
            read()
        assert not parts.has("one")
        with pytest.raises(InputError, match="give the same command again"):
            read()


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64, np.float64])
def test_arrays_are_read_in_pieces(tmp_path, dtype):
    parts = Parts.open(ALONE, tmp_path / "a.h5", PLAN)
    values = np.arange(200, dtype=dtype)
    parts.write("one", before=np.ones(33), values=values, empty=values[:0])
    array = parts.array("one", "values")
    assert (array.dtype, array.size) == (dtype, 200)
    for lo, hi in ((0, 200), (0, 0), (7, 8), (150, 200), (200, 200)):
        np.testing.assert_array_equal(array.read(lo, hi), values[lo:hi])
    assert parts.array("one", "empty").size == 0
    with pytest.raises(InputError, match="has become shorter"):
        array.read(150, 10_000)


def test_a_part_for_which_there_is_no_space_leaves_nothing(tmp_path, monkeypatch):
    parts = Parts.open(ALONE, tmp_path / "a.h5", PLAN)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match=r"a\.h5: cannot be written: No space left on device"):
        parts.write("one", values=np.arange(5))
    assert not parts.has("one")
    assert os.listdir(parts.folder) == ["plan.json"]


def test_a_place_that_cannot_be_written_is_found_at_once(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(InputError, match=r"a\.h5: cannot be written"):
        Parts.open(ALONE, tmp_path / "file" / "a.h5", PLAN)
