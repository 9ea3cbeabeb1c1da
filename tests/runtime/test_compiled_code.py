import os
import tempfile

import pytest

from ogg_hpc.runtime import compiled_code
from ogg_hpc.runtime.compiled_code import find_cache_folder


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """Neither the package nor the home folder can be written; root may write everything."""
    monkeypatch.setattr(compiled_code, "_can_be_written", lambda path: False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_usual_places_are_left_to_numba(tmp_path):
    environment = {"HOME": str(tmp_path)}
    find_cache_folder(environment)
    assert environment == {"HOME": str(tmp_path)}


def test_choice_of_the_user_stands(nowhere):
    environment = {"NUMBA_CACHE_DIR": "/mine"}
    find_cache_folder(environment)
    assert environment == {"NUMBA_CACHE_DIR": "/mine"}


def test_private_folder_is_made_and_found_again(nowhere):
    folders = []
    for _ in range(2):
        environment = {}
        find_cache_folder(environment)
        folders.append(environment["NUMBA_CACHE_DIR"])
    assert folders[0] == folders[1] == str(nowhere / f"ogg_hpc-{os.getuid()}")
    assert os.stat(folders[0]).st_mode & 0o777 == 0o700


@pytest.mark.parametrize("trap", ["open folder", "link"])
def test_folder_that_others_can_write_is_not_used(nowhere, trap):
    place = nowhere / f"ogg_hpc-{os.getuid()}"
    if trap == "link":
        (nowhere / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(nowhere / "elsewhere")
    else:
        place.mkdir()
        place.chmod(0o777)
    environment = {}
    find_cache_folder(environment)
    assert environment["NUMBA_CACHE_DIR"] != str(place)
    assert os.stat(environment["NUMBA_CACHE_DIR"]).st_mode & 0o777 == 0o700
