"""Studies of actors: the commands, on an environment whose steps take a set time."""

import json

import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("matplotlib")

SMALL = (
    *("--set", "environment.options.seconds=0.005"),
    *("--set", "ppo.round_steps=32", "--set", "ppo.minibatch=32"),
    *("--seeds", "1", "--rounds", "2"),
)


def test_a_study_is_measured_once_and_drawn(ogg, tmp_path):
    command = ["scale", "actors", "synthetic", *SMALL, "--output", tmp_path, "--actors"]
    code, out, err = ogg(*command, 1, 2)
    assert code == 0, err
    record = json.loads((tmp_path / "actors.json").read_text(encoding="utf-8"))
    assert [point["actors"] for point in record["points"]] == [1, 2]
    for found in record["points"]:
        # A step takes 5 ms at least.
        assert 0 < found["rate"] <= found["actors"] / 0.005
        assert found["steps"] == 32
        inside = sum(found[part] for part in ("learn", "collect", "wait", "broadcast"))
        assert inside <= found["seconds"] * 1.001
    assert (tmp_path / "actors.png").stat().st_size > 1000
    _, again, _ = ogg(*command, 1, 2)
    assert json.loads((tmp_path / "actors.json").read_text())["points"] == record["points"]
    assert again.splitlines()[0] == out.splitlines()[0]


def test_calibration_recommends_a_number(ogg):
    code, out, err = ogg("actors", "calibrate", "synthetic", *SMALL, "--actors", 1)
    assert code == 0, err
    assert "recommended: " in out


def test_q_learning_has_no_rounds_to_measure(ogg, tmp_path):
    code, _, err = ogg("scale", "actors", "mvc-dqn", "--output", tmp_path)
    assert code == 2
    assert "algorithm = ppo" in err


def test_a_run_that_fails_is_told_with_its_last_words(ogg, tmp_path):
    command = ["scale", "actors", "synthetic", *SMALL, "--output", tmp_path, "--actors", 1]
    code, _, err = ogg(*command, "--set", "environment.name=nobody.py:Nothing")
    assert code == 2
    assert "nobody.py" in err
