import pytest

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.settings import build
from ogg_hpc.training.settings import (
    GraphSource,
    LearningSettings,
    OutputSettings,
    ParallelSettings,
    TrainSettings,
    load_train_settings,
)


def test_default_preset_holds_what_was_measured_to_work():
    settings = load_train_settings("default")
    learning = settings.learning
    assert (learning.gamma, learning.n_step, learning.tau) == (1.0, 2, 8)
    assert (learning.reward, learning.targets) == ("per-node", "sampled")
    assert (learning.target_refresh, learning.learning_rate) == (20, 1e-3)
    assert settings.problem == "mvc"
    assert {source.name for source in settings.validation} == {"er20", "ba20"}
    assert all(source.count == 200 for source in settings.validation)


def test_paper_preset_holds_the_papers_settings():
    settings = load_train_settings("paper")
    learning = settings.learning
    assert settings.model == {"width": 32, "layers": 2, "graph_term": "sum"}
    assert (learning.gamma, learning.learning_rate, learning.replay) == (0.9, 1e-5, 50_000)
    assert (learning.epsilon(0), learning.epsilon(10**6)) == (0.9, 0.1)
    assert (learning.n_step, learning.tau, learning.target_refresh) == (1, 1, 0)
    assert (learning.reward, learning.targets) == ("count", "stored")
    assert settings.train[0] == GraphSource(family="er", nodes=20, p=0.15)


@pytest.mark.parametrize("name", ["default", "paper", "mvc-dqn"])
def test_held_out_graphs_are_not_trained_on(name):
    settings = load_train_settings(name)
    assert {s.seed for s in settings.train}.isdisjoint(s.seed for s in settings.validation)


def test_preset_takes_assignments():
    settings = load_train_settings("paper", ["learning.steps=3", "model.width=4"])
    assert (settings.learning.steps, settings.model["width"]) == (3, 4)
    with pytest.raises(SettingsError, match=r"unknown key learning\.step; did you mean steps"):
        load_train_settings("paper", ["learning.step=3"])


def test_file_wins_over_a_preset_and_a_folder_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper").mkdir()
    assert load_train_settings("paper").learning.gamma == 0.9
    (tmp_path / "default").write_text("seed = 5\n[[train]]\nfamily = 'er'\n")
    assert load_train_settings("default").seed == 5
    with pytest.raises(InputError, match=r"nothing: cannot read the settings"):
        load_train_settings("nothing")


def test_epsilon_falls_linearly_and_stays():
    learning = LearningSettings(epsilon_start=0.8, epsilon_end=0.2, epsilon_steps=6)
    found = [learning.epsilon(step) for step in (0, 1, 3, 6, 7, 1000)]
    assert found == pytest.approx([0.8, 0.7, 0.5, 0.2, 0.2, 0.2])


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (LearningSettings, {"steps": 0}, "learning.steps must be at least 1"),
        (LearningSettings, {"tau": 0}, "learning.tau must be at least 1"),
        (LearningSettings, {"replay": 0}, "learning.replay must be at least 1"),
        (LearningSettings, {"reward": "big"}, "learning.reward is"),
        (LearningSettings, {"targets": "old"}, "learning.targets is"),
        (
            LearningSettings,
            {"engine": "fast"},
            "learning.engine is auto or reference or scalar, not 'fast'",
        ),
        (LearningSettings, {"learning_rate": 0.0}, "learning.learning_rate must be positive"),
        (LearningSettings, {"learning_rate": float("nan")}, "learning.learning_rate must be"),
        (LearningSettings, {"epsilon_end": 1.5}, r"learning.epsilon_end must be in \[0, 1\]"),
        (LearningSettings, {"gamma": 1.5}, r"learning.gamma must be in \[0, 1\]"),
        (LearningSettings, {"target_refresh": -1}, "learning.target_refresh must not be negative"),
        (LearningSettings, {"averaging": 1.0}, r"learning.averaging must be in \[0, 1\)"),
        (ParallelSettings, {"ranks_per_graph": -1}, "parallel.ranks_per_graph must not be"),
        (
            ParallelSettings,
            {"collective": "x"},
            "parallel.collective is allgather or allreduce, not 'x'",
        ),
        (ParallelSettings, {"balance": "x"}, "parallel.balance is rows or edges, not 'x'"),
        (OutputSettings, {"evaluate_every": 0}, "output.evaluate_every must be at least 1"),
        (
            TrainSettings,
            {"train": [{"family": "er"}], "graph_cache": -1},
            "graph_cache must be finite and not negative",
        ),
        (TrainSettings, {}, r"no training graphs: add a \[\[train\]\] table"),
    ],
)
def test_value_out_of_range_is_refused(kind, values, message):
    with pytest.raises(SettingsError, match=message):
        build(kind, values)


def test_step_size_falls_by_its_factor_and_no_further():
    learning = LearningSettings(
        learning_rate=0.01, learning_rate_decay=0.1, learning_rate_steps=100
    )
    sizes = [learning.step_size(step) for step in (0, 50, 100, 500)]
    assert sizes == pytest.approx([0.01, 0.01 * 0.1**0.5, 0.001, 0.001])
    assert LearningSettings(learning_rate=0.01).step_size(500) == 0.01
