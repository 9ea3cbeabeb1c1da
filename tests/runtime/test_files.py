import errno
import hashlib
import os
import signal
import subprocess
import sys
import time

import pytest

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.files import (
    check_writable,
    remove_leftovers,
    sha256_of_file,
    temporary_name,
    write_whole,
)


def test_content_appears_under_the_final_name(tmp_path):
    target = tmp_path / "new folder" / "result.json"
    with write_whole(target) as temporary:
        temporary.write_text("new")
        assert not target.exists()
        assert temporary.parent == target.parent
        assert temporary.suffix == ".json"
    assert target.read_text() == "new"
    assert os.listdir(target.parent) == ["result.json"]


def test_exception_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "result.json"
    target.write_text("old")

    def write():
        with write_whole(target) as temporary:
            temporary.write_text("half of the n")
            raise KeyError("reason")

    with pytest.raises(KeyError, match="reason"):
        write()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["result.json"]


def test_exception_before_anything_is_written(tmp_path):
    def write():
        with write_whole(tmp_path / "result.json"):
            raise KeyError("reason")

    with pytest.raises(KeyError, match="reason"):
        write()
    assert os.listdir(tmp_path) == []


def test_failing_rename_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    target = tmp_path / "result.json"
    target.write_text("old")

    def refuse(*_):
        raise OSError("disk on fire")

    def write():
        with write_whole(target) as temporary:
            temporary.write_text("new")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(InputError, match=r"result.json: cannot be written: disk on fire"):
        write()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["result.json"]


def test_folder_that_is_a_file_is_a_message(tmp_path):
    (tmp_path / "taken").write_text("not a folder")

    def write():
        with write_whole(tmp_path / "taken" / "result.json"):
            pass

    with pytest.raises(InputError, match=r"result.json: cannot be written: (File exists|Not a)"):
        write()


def test_full_disk_is_a_message(tmp_path):
    def write():
        with write_whole(tmp_path / "result.json"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        write()


@pytest.mark.parametrize("moment", ["during the write", "before the rename"])
def test_kill_leaves_the_old_file(tmp_path, moment):
    target = tmp_path / "result.json"
    target.write_text("old")
    script = f"""
import os, signal
from ogg_hpc.runtime.files import check_writable, write_whole

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

os.replace = die
with write_whole({str(target)!r}) as temporary:
    temporary.write_text("new")
    if {moment!r} == "during the write":
        die()
"""
    run = subprocess.run([sys.executable, "-c", script], timeout=60)
    assert run.returncode == -signal.SIGKILL
    assert target.read_text() == "old"


def test_content_is_on_disk_before_the_rename_and_the_folder_after(tmp_path, monkeypatch):
    events = []
    replace, fsync = os.replace, os.fsync

    def watched_fsync(descriptor):
        name = os.readlink(f"/proc/self/fd/{descriptor}")
        events.append("folder" if name == str(tmp_path) else "content")
        fsync(descriptor)

    def watched_replace(*names):
        events.append("rename")
        replace(*names)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    with write_whole(tmp_path / "result.json") as temporary:
        temporary.write_text("new")
    assert events == ["content", "rename", "folder"]


@pytest.mark.parametrize("size", [0, 5, (1 << 20) + 1])
def test_sha256_of_a_file(tmp_path, size):
    path = tmp_path / "file"
    path.write_bytes(b"x" * size)
    assert sha256_of_file(path) == hashlib.sha256(b"x" * size).hexdigest()


def test_places_that_cannot_be_written_are_found_before_the_work(tmp_path):
    (tmp_path / "taken").write_text("a file")
    for place in (tmp_path, tmp_path / "taken" / "result.json"):
        with pytest.raises(InputError, match="cannot be written"):
            check_writable(place)
    check_writable(tmp_path / "new" / "result.json")
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize("length", [256, 250])
def test_a_name_with_no_room_for_that_of_the_temporary_file_is_refused_at_once(tmp_path, length):
    with pytest.raises(InputError, match="cannot be written: File name too long"):
        check_writable(tmp_path / ("a" * length))
    assert list(tmp_path.iterdir()) == []


def test_what_dead_processes_have_left_is_removed(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        pass
    removed = [
        f".a.{dead.pid}.part.json",
        f".b.{dead.pid}.part",
        temporary_name(tmp_path / "c").name,
    ]
    kept = [".a.1.part.json", f"a.{dead.pid}.part", f".a.{dead.pid}.json", ".part", "a.json"]
    for name in [*removed, *kept]:
        (tmp_path / name).write_text("some")
    folder = tmp_path / f".step-1.{dead.pid}.part"
    (folder / "inner").mkdir(parents=True)
    remove_leftovers(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(kept)
    remove_leftovers(tmp_path / "no such folder")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_process_that_has_ended_and_was_not_asked_how_leaves_nothing(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as ended:
        assert ended.stdout.read() == b""  # at its end; it is waited for after the block
        left = temporary_name(tmp_path / "a.txt")
        left = left.with_name(left.name.replace(str(os.getpid()), str(ended.pid)))
        left.touch()
        deadline = time.monotonic() + 60
        while left.exists() and time.monotonic() < deadline:
            remove_leftovers(tmp_path)
        assert not left.exists()
