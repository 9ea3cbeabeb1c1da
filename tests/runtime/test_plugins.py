import pickle

import pytest

from ogg_hpc.errors import SettingsError
from ogg_hpc.problems.problem import Problem
from ogg_hpc.runtime.plugins import load_class


def write(folder, text):
    file = folder / "mine.py"
    file.write_text(text)
    return file


def test_class_keeps_its_identity(tmp_path):
    file = write(tmp_path, "class Mine(dict):\n    pass\n")
    found = load_class(f"{file}:Mine", dict)
    assert load_class(f"{file}:Mine", dict) is found
    assert type(pickle.loads(pickle.dumps(found(a=1)))) is found


def test_files_of_one_name_stay_apart(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = write(tmp_path / "a", "class Mine(dict):\n    value = 1\n")
    second = write(tmp_path / "b", "class Mine(dict):\n    value = 2\n")
    assert load_class(f"{first}:Mine", dict).value == 1
    assert load_class(f"{second}:Mine", dict).value == 2


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "Mine", "defines no class Mine"),
        ("Mine = 3", "Mine", "defines no class Mine"),
        ("class Mine:\n    pass", "Mine", r"subclass of ogg_hpc\.problems\.problem\.Problem"),
        (
            "from ogg_hpc.problems.problem import Problem\nclass Mine(Problem):\n    name = 'x'",
            "Mine",
            "asks for: bound, candidates, choose, objective, reward, violation",
        ),
        ("x = 1\nclass Mine(:\n", "Mine", r"mine\.py:2: SyntaxError"),
        ("x = 1\n\nprint(nothing)\n", "Mine", r"mine\.py:3: NameError: name 'nothing'"),
        ("import no_such_module_here\n", "Mine", r"mine\.py:1: ModuleNotFoundError"),
    ],
)
def test_faults_are_named(tmp_path, text, name, message):
    file = write(tmp_path, text)
    with pytest.raises(SettingsError, match=message):
        load_class(f"{file}:{name}", Problem)


def test_no_such_file(tmp_path):
    with pytest.raises(SettingsError, match="no such file"):
        load_class(f"{tmp_path}/none.py:Mine", Problem)
    with pytest.raises(SettingsError, match=r"expected path/to/file\.py:ClassName"):
        load_class("mine.py", Problem)
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(SettingsError, match=r"has to end in \.py"):
        load_class(f"{tmp_path}/mine.txt:Mine", Problem)
