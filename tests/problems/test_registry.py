import subprocess
import sys

import pytest

from ogg_hpc.errors import SettingsError
from ogg_hpc.problems import problem_by_name, problem_names
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover


def test_problems_by_name():
    assert "mvc" in problem_names()
    for name in problem_names():
        assert problem_by_name(name).name == name


def test_unknown_name_lists_what_there_is():
    with pytest.raises(
        SettingsError, match=r"unknown problem 'tsp'; choose one of mvc.*\.py:Class"
    ):
        problem_by_name("tsp")


def test_a_users_own_problem(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover\n"
        "class Mine(MinimumVertexCover):\n"
        "    name = 'mine'\n"
    )
    problem = problem_by_name(f"{file}:Mine")
    assert problem.name == "mine"
    assert isinstance(problem, MinimumVertexCover)


def test_import_is_light():
    code = (
        "import sys, ogg_hpc.problems; print([m for m in ('scipy', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
