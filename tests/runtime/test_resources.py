from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.resources import (
    compact,
    file_system,
    memory_limit_bytes,
    total_memory_bytes,
)


@pytest.mark.parametrize(
    ("numbers", "text"), [([], ""), ([5], "5"), ({3, 1, 2, 0, 8}, "0-3,8"), ([7, 9], "7,9")]
)
def test_numbers_are_written_as_linux_does(numbers, text):
    assert compact(numbers) == text


@given(st.sets(st.integers(0, 300)))
def test_every_number_is_told(numbers):
    told = set()
    for part in filter(None, compact(numbers).split(",")):
        first, _, last = part.partition("-")
        told |= set(range(int(first), int(last or first) + 1))
    assert told == numbers


def test_memory_of_this_host():
    [line] = [x for x in Path("/proc/meminfo").read_text().splitlines() if "MemTotal" in x]
    assert total_memory_bytes() == int(line.split()[1]) * 1024


@pytest.fixture
def control_groups(tmp_path):
    """Make the files of control groups; return where they are."""

    def make(own, limits):
        (tmp_path / "proc/self").mkdir(parents=True)
        (tmp_path / "proc/self/cgroup").write_text(own)
        for path, limit in limits.items():
            (tmp_path / "sys/fs/cgroup" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "sys/fs/cgroup" / path).write_text(f"{limit}\n")
        return tmp_path

    return make


@pytest.mark.parametrize(
    ("own", "limits", "expected"),
    [
        ("0::/job/step\n", {"job/step/memory.max": "max", "job/memory.max": "max"}, None),
        ("0::/job/step\n", {"job/step/memory.max": "max", "job/memory.max": 4096}, 4096),
        ("0::/job/step\n", {"job/step/memory.max": 1024, "job/memory.max": 4096}, 1024),
        # a container sees its own group as the root, under another name
        ("0::/../../job\n", {"memory.max": 2048}, 2048),
        ("3:cpu:/x\n4:memory:/x\n0::/\n", {"memory/x/memory.limit_in_bytes": 8192}, 8192),
        ("4:memory:/\n", {"memory/memory.limit_in_bytes": 9223372036854771712}, None),
        ("", {}, None),
    ],
)
def test_limit_of_memory_is_the_tightest_of_all_groups(control_groups, own, limits, expected):
    assert memory_limit_bytes(control_groups(own, limits)) == expected


def test_no_limit_where_there_are_no_control_groups(tmp_path):
    assert memory_limit_bytes(tmp_path) is None


def test_file_system_of_a_folder(tmp_path):
    (tmp_path / "a b" / "c").mkdir(parents=True)
    escaped = str(tmp_path).replace(" ", "\\040")
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "1 0 8:1 / / rw shared:1 - ext4 /dev/sda rw\n"
        f"2 1 0:9 / {escaped}/a\\040b rw,noatime - autofs none rw\n"
        f"3 1 0:9 / {escaped}/a\\040b rw,noatime shared:7 master:1 - lustre mds:/x rw,flock\n"
        f"4 1 0:9 / {escaped}/a rw - tmpfs none rw\n"
    )
    found = file_system(tmp_path / "a b" / "c", mounts)
    assert (found["path"], found["type"]) == (str(tmp_path / "a b" / "c"), "lustre")
    assert found["free_bytes"] >= 0
    assert file_system(tmp_path, mounts)["type"] == "ext4"
    assert file_system(tmp_path, tmp_path / "none")["type"] is None


def test_file_system_of_this_folder_is_known():
    assert file_system(".")["type"]


def test_a_folder_that_is_gone_is_told(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for folder in (".", gone):
        with pytest.raises(InputError, match="no folder to work in: No such file or directory"):
            file_system(folder)
