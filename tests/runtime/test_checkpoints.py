import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.checkpoints import CheckpointStore

CONTENT = "numbers/1"
FILES = {"a.txt": b"first " * 40, "b.bin": bytes(range(256))}


@pytest.fixture
def store(tmp_path):
    return CheckpointStore(tmp_path / "checkpoints", CONTENT, keep=3)


def write(folder):
    for name, content in FILES.items():
        (folder / name).write_bytes(content)


def content(path):
    return {name: (path / name).read_bytes() for name in FILES}


def names(store):
    return sorted(os.listdir(store.folder))


def test_newest_is_what_was_committed_last(store):
    assert store.newest() is None
    for step in (5, 20, 100):
        path = store.commit(step, write)
        assert path == store.folder / f"step-{step:08d}"
        assert store.newest() == path
        assert content(path) == FILES
    manifest = json.loads((path / "manifest.json").read_text())
    assert (manifest["step"], manifest["files"]["b.bin"]["bytes"]) == (100, 256)
    assert manifest["files"].keys() == FILES.keys()


def test_last_ones_are_kept(store):
    for step in range(1, 6):
        store.commit(step, write)
    assert names(store) == ["step-00000003", "step-00000004", "step-00000005"]


def test_second_checkpoint_of_a_step_stands_beside_the_first(store):
    first = store.commit(7, write)
    second = store.commit(7, lambda folder: (folder / "c").write_text("other"))
    assert (first.name, second.name) == ("step-00000007", "step-00000007-2")
    assert store.newest() == second
    assert content(first) == FILES
    for _ in range(9):
        last = store.commit(7, write)
    assert last.name == "step-00000007-11"
    assert store.newest() == last
    assert len(names(store)) == 3


def test_step_of_nine_digits_is_newer_than_one_of_eight(store):
    store.commit(99_999_999, write)
    path = store.commit(100_000_000, write)
    assert store.newest() == path


def test_all_is_on_disk_before_the_rename_and_the_name_after(store, monkeypatch):
    events = []
    replace, fsync = os.replace, os.fsync

    def watched_fsync(descriptor):
        events.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        fsync(descriptor)

    def watched_replace(*names):
        events.append("rename")
        replace(*names)

    store.commit(1, write)
    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    store.commit(2, write)
    assert sorted(events[:3]) == ["a.txt", "b.bin", "manifest.json"]
    assert events[3:] == [f".step-00000002.{os.getpid()}.part", "rename", "checkpoints"]


def tear(path):
    file = path / "a.txt"
    file.write_bytes(file.read_bytes()[:100])


def flip(path):
    file = path / "b.bin"
    changed = bytearray(file.read_bytes())
    changed[77] ^= 4
    file.write_bytes(changed)


def remove_file(path):
    (path / "b.bin").unlink()


def remove_manifest(path):
    (path / "manifest.json").unlink()


def tear_manifest(path):
    file = path / "manifest.json"
    file.write_text(file.read_text()[:60])


def rewrite_manifest(**values):
    def rewrite(path):
        file = path / "manifest.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | values))

    return rewrite


def empty(path):
    shutil.rmtree(path)
    path.mkdir()


DAMAGES = [
    (tear, "a.txt has 100 bytes, not 240"),
    (flip, "b.bin is damaged: its checksum is not that of manifest.json"),
    (remove_file, "b.bin is missing"),
    (remove_manifest, "manifest.json is missing"),
    (tear_manifest, "manifest.json is damaged"),
    (rewrite_manifest(format="ogg-hpc-checkpoint/9"), "'ogg-hpc-checkpoint/9' is not"),
    (rewrite_manifest(content="numbers/2"), "content 'numbers/2' is not numbers/1; use a matching"),
    (rewrite_manifest(step=8), "is of step 8, by manifest.json"),
    (rewrite_manifest(files=3), "manifest.json is damaged"),
    (rewrite_manifest(files={"/": {}}), "manifest.json is damaged"),
    (empty, "manifest.json is missing"),
]


@pytest.mark.parametrize(("damage", "fault"), DAMAGES)
def test_damaged_checkpoint_is_passed_over_and_named(store, damage, fault):
    older, newer = store.commit(1, write), store.commit(2, write)
    damage(newer)
    assert store.newest() == older
    assert list(store.damaged) == [newer]
    assert fault in store.damaged[newer]
    # It is neither written over, nor one of those that are kept, nor removed.
    paths = [store.commit(step, write) for step in (2, 3, 4)]
    assert names(store) == sorted([newer.name, *(path.name for path in paths)])
    assert paths[0].name == "step-00000002-2"
    assert store.newest() == paths[-1]


def test_no_valid_checkpoint_is_an_error_that_names_all(store):
    for step, damage in ((1, tear), (2, flip)):
        damage(store.commit(step, write))
    with pytest.raises(InputError) as error:
        store.newest()
    for part in ("no checkpoint is valid (", "step-00000002: b.bin is", "step-00000001: a.txt has"):
        assert part in str(error.value)


def test_unreadable_checkpoint_is_passed_over(store):
    older, newer = store.commit(1, write), store.commit(2, write)
    (newer / "a.txt").unlink()
    (newer / "a.txt").mkdir()
    manifest = json.loads((newer / "manifest.json").read_text())
    manifest["files"]["a.txt"]["bytes"] = (newer / "a.txt").stat().st_size
    (newer / "manifest.json").write_text(json.dumps(manifest))
    assert store.newest() == older
    assert store.damaged[newer] == "cannot be read: Is a directory"


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A store of two checkpoints."""
    store = CheckpointStore(tmp_path_factory.mktemp("two"), CONTENT, keep=3)
    return store, store.commit(1, write), store.commit(2, write)


@given(data=st.data())
def test_whatever_is_cut_or_flipped_nothing_wrong_is_taken(two, data):
    store, older, newer = two
    file = newer / data.draw(st.sampled_from(["manifest.json", *FILES]))
    before = file.read_bytes()
    place = data.draw(st.integers(0, len(before) - 1))
    after = bytearray(before)
    after[place] ^= 1 << data.draw(st.integers(0, 7))
    file.write_bytes(data.draw(st.sampled_from([before[:place], after])))
    try:
        found = store.newest()
        assert found == older or (found == newer and file.name == "manifest.json")
        assert content(found) == FILES
    finally:
        file.write_bytes(before)


OPERATIONS = ["fsync", "replace", "mkdir"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_failing_operation_is_a_users_error_and_leaves_earlier_checkpoints(
    store, monkeypatch, operation
):
    original = getattr(os, operation)
    for number in range(20):
        # All but the first commit have an old checkpoint to remove.
        before = [store.commit(10 * number + step, write) for step in range(3)]
        calls = iter(range(100))

        def refuse(*args, calls=calls, number=number, **options):
            if next(calls) == number:
                raise OSError(errno.EIO, "disk on fire")
            return original(*args, **options)

        with monkeypatch.context() as patch:
            patch.setattr(os, operation, refuse)
            with suppress(InputError):
                last = store.commit(10 * number + 5, write)
                assert store.newest() == last
                break
        assert all(content(path) == FILES for path in before[1:])
        assert store.newest() in (before[-1], store.folder / f"step-{10 * number + 5:08d}")
        assert not store.damaged
        assert not [name for name in names(store) if name.startswith(".")]
    assert 1 <= number < 20


def kill_at(number, commit):
    """Run in a process that is killed before its n-th file operation; return how it ended."""
    process = os.fork()
    if process:
        return os.waitpid(process, 0)[1]
    calls = 0

    def counted(original):
        def call(*args, **options):
            nonlocal calls
            calls += 1
            if calls > number:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*args, **options)

        return call

    for name in ("fsync", "replace", "mkdir", "open", "unlink", "rmdir"):
        setattr(os, name, counted(getattr(os, name)))
    try:
        commit()
    finally:
        os._exit(0)


def test_kill_between_any_two_operations_leaves_a_valid_newest_checkpoint(store):
    found = []
    for number in range(80):
        shutil.rmtree(store.folder, ignore_errors=True)
        for step in (1, 2, 3):
            store.commit(step, write)
        end = kill_at(number, lambda: store.commit(4, write))
        newest = store.newest()
        found.append(newest.name)
        assert not store.damaged
        assert content(newest) == FILES
        assert not [name for name in names(store) if name.startswith(".")]
        if end == 0:
            break
        assert end == signal.SIGKILL
    # First the old one, from some operation on the new one.
    assert found == sorted(found)
    assert set(found) == {"step-00000003", "step-00000004"}
    assert names(store) == ["step-00000002", "step-00000003", "step-00000004"]
    assert len(found) > 12


def test_what_a_living_process_prepares_is_left_alone(store):
    store.commit(1, write)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as living:
        other = store.folder / f".step-00000002.{living.pid}.part"
        other.mkdir()
        assert store.newest().name == "step-00000001"
        assert other.is_dir()
        living.communicate(b"\n")
    store.newest()
    assert not other.exists()
