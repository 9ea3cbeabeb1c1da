import json

import pytest

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.unfinished import leave_marker, remove_marker


def test_marker_is_a_small_json_object_until_it_is_removed(tmp_path):
    leave_marker(tmp_path, {"step": 3})
    assert json.loads((tmp_path / "UNFINISHED").read_text()) == {"step": 3}
    for _ in range(2):  # a run that was not asked to stop has none
        remove_marker(tmp_path)
        assert not (tmp_path / "UNFINISHED").exists()
    remove_marker(tmp_path / "no such folder")


def test_marker_that_cannot_be_removed_is_a_message(tmp_path):
    (tmp_path / "UNFINISHED").mkdir()
    with pytest.raises(InputError, match="UNFINISHED: cannot be written: Is a directory"):
        remove_marker(tmp_path)
