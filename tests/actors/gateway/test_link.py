"""The folder where learners listen for their controller."""

import os
import tempfile

import pytest

from ogg_hpc.actors.gateway.link import socket_folder, socket_path
from ogg_hpc.errors import OggError


@pytest.fixture
def temporary(tmp_path_factory, monkeypatch):
    """Let a folder be the one for temporary files."""

    def use(folder):
        monkeypatch.setattr(tempfile, "tempdir", str(folder))

    use(tmp_path_factory.mktemp("t"))  # a short name
    return use


def test_it_follows_from_the_run_and_is_its_users_alone(temporary, tmp_path):
    folder = socket_folder(tmp_path / "run")
    assert socket_folder(tmp_path / "other" / ".." / "run") == folder
    assert socket_folder(tmp_path / "other") != folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert socket_path(folder, 0) != socket_path(folder, 1)


@pytest.mark.parametrize("taken", ["open to others", "a link", "a file"])
def test_a_folder_that_others_could_have_made_is_refused(temporary, tmp_path, taken):
    folder = socket_folder(tmp_path / "run")
    if taken == "open to others":
        folder.chmod(0o755)
    else:
        folder.rmdir()
        if taken == "a link":
            (tmp_path / "theirs").mkdir(mode=0o700)
            folder.symlink_to(tmp_path / "theirs")
        else:
            folder.touch()
    with pytest.raises(OggError, match=f"{folder} .*TMPDIR"):
        socket_folder(tmp_path / "run")


def test_where_none_can_be_made_the_remedy_is_told(temporary, tmp_path):
    temporary("/nowhere")
    with pytest.raises(OggError, match="cannot be made: No such file or directory; set TMPDIR"):
        socket_folder(tmp_path / "run")


def test_a_path_that_is_too_long_for_a_socket_is_refused_before_it_is_used(temporary, tmp_path):
    deep = tmp_path / ("d" * max(1, 108 - len(os.fsencode(tmp_path))))
    deep.mkdir()
    temporary(deep)
    with pytest.raises(OggError, match="too long a path for sockets; set TMPDIR"):
        socket_folder(tmp_path / "run")
    assert list(deep.iterdir()) == []
