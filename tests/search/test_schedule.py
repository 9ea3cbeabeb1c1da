import numpy as np
import pytest

from ogg_hpc.errors import InputError
from ogg_hpc.search.schedule import ADAPTIVE, ONE, PAPER, Schedule, load_schedule


def nodes(schedule, candidates, size):
    return schedule.nodes(np.array([candidates]), np.array([size])).item()


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [(64, 8), (33, 8), (32, 4), (17, 4), (16, 2), (9, 2), (8, 1), (1, 1), (0, 1)],
)
def test_table_of_the_paper_and_its_boundaries(candidates, expected):
    assert nodes(PAPER, candidates, 64) == expected
    assert nodes(ONE, candidates, 64) == 1


@pytest.mark.parametrize(
    ("candidates", "expected"), [(8001, 16), (8000, 8), (4000, 4), (2000, 2), (1000, 1), (1, 1)]
)
def test_adaptive_chooses_shares_of_all_nodes(candidates, expected):
    assert nodes(ADAPTIVE, candidates, 16_000) == expected
    assert nodes(ADAPTIVE.resolved(16_000), candidates, 16_000) == expected
    assert nodes(ADAPTIVE, candidates % 500, 500) == 1


def test_each_graph_has_its_own_share():
    result = PAPER.nodes(np.array([9, 9, 9]), np.array([10, 20, 80]))
    assert result.tolist() == [8, 4, 1]
    result = ADAPTIVE.nodes(np.array([9000, 9000]), np.array([10_000, 20_000]))
    assert result.tolist() == [10, 10]
    assert (PAPER.most(100), ADAPTIVE.most(10_000), ONE.most(100)) == (8, 10, 1)


def test_no_step_chooses_more_than_there_is():
    schedule = Schedule("mine", ((0.5, 2**20), (0.1, 3), (0.05, 0.25)))
    assert schedule.resolved(10) == Schedule("mine", ((0.5, 10), (0.1, 3), (0.05, 2)))
    assert schedule.most(0) == ONE.most(5) == 1


def test_users_table(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("[[step]]\nabove = 0.9\nnodes = 3\n[[step]]\nabove = 0\nnodes = 0.2\n")
    schedule = load_schedule(str(file))
    assert schedule == Schedule(str(file), ((0.9, 3), (0.0, 0.2)))
    assert [nodes(schedule, left, 10) for left in (10, 9, 1, 0)] == [3, 2, 2, 1]


def test_names():
    assert load_schedule("one") is ONE
    assert load_schedule("adaptive") is ADAPTIVE
    assert load_schedule("paper") is PAPER


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[step]", "not TOML"),
        ("", "consists of .* tables"),
        ("step = 3", "consists of .* tables"),
        ("[[step]]\nabove = 0.5\nnodes = 2\n[other]\n", "consists of .* tables"),
        ("[[step]]\nabove = 0.5\n", "needs numbers `above` and `nodes`"),
        ("[[step]]\nabove = 0.5\nnodes = 2.5\n", "needs numbers"),
        ("[[step]]\nabove = 0.5\nnodes = true\n", "needs numbers"),
        ("[[step]]\nabove = 0.5\nnodes = 2\nmore = 1\n", "needs numbers"),
        ("step = [3]", "needs numbers"),
        ("[[step]]\nabove = 0.5\nnodes = 0\n", "must lie"),
        (f"[[step]]\nabove = 0.5\nnodes = {10**30}\n", "must lie"),
        ("[[step]]\nabove = 1.0\nnodes = 2\n", r"lie in \[0, 1\)"),
        ("[[step]]\nabove = -0.1\nnodes = 2\n", r"lie in \[0, 1\)"),
        ("[[step]]\nabove = nan\nnodes = 2\n", r"lie in \[0, 1\)"),
        ("[[step]]\nabove = 0.1\nnodes = 2\n[[step]]\nabove = 0.5\nnodes = 4\n", "must fall"),
        ("[[step]]\nabove = 0.5\nnodes = 2\n[[step]]\nabove = 0.5\nnodes = 4\n", "must fall"),
    ],
)
def test_bad_table_is_refused(tmp_path, text, message):
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=rf"bad\.toml: .*{message}"):
        load_schedule(str(file))


def test_missing_file_lists_the_names():
    with pytest.raises(InputError, match=r"No such file.*use one, adaptive, paper or a file"):
        load_schedule("eight")
