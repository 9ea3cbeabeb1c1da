from __future__ import annotations

from pathlib import Path

import pytest
from rdkit import Chem

from ogg_hpc.actors.environments.molecules import scores
from ogg_hpc.actors.environments.molecules.rewards import make_reward
from ogg_hpc.actors.environments.molecules.settings import MoleculeSettings
from ogg_hpc.errors import SettingsError

EXAMPLES = Path(__file__).parents[4] / "examples"
METHANE, ANILINE, TOLUENE = (Chem.MolFromSmiles(each) for each in ("C", "Nc1ccccc1", "Cc1ccccc1"))
OWN = """
from ogg_hpc.actors.environments.molecules.rewards import Reward, Score

class Carbons(Reward):
    def __init__(self, each=1.0):
        self.each = each

    def score(self, molecule, start):
        count = sum(atom.GetSymbol() == "C" for atom in molecule.GetAtoms())
        return Score(self.each * count, {"carbons": count})

class Nothing:
    pass
"""


def reward(name, **options):
    return make_reward(MoleculeSettings(reward=name, reward_options=options))


def test_qed_and_penalised_log_p_are_the_scores():
    found = reward("qed").score(ANILINE, METHANE)
    assert found.value == found.parts["qed"] == scores.qed(ANILINE)
    found = reward("plogp").score(ANILINE, METHANE)
    assert found.parts == scores.penalised_log_p(ANILINE)
    assert found.value == found.parts["plogp"]


def test_a_molecule_near_its_start_is_worth_what_it_gained():
    found = reward("similarity", threshold=0.2).score(TOLUENE, ANILINE)
    values = [scores.penalised_log_p(each)["plogp"] for each in (ANILINE, TOLUENE)]
    assert 0.2 < found.parts["similarity"] < 1
    assert found.value == found.parts["gain"] == pytest.approx(values[1] - values[0])
    assert reward("similarity").score(ANILINE, ANILINE).value == 0


def test_a_molecule_far_from_its_start_pays_for_what_is_lacking():
    near = reward("similarity", threshold=0.0).score(TOLUENE, ANILINE)
    found = reward("similarity", threshold=0.9, weight=10.0).score(TOLUENE, ANILINE)
    lacking = 0.9 - found.parts["similarity"]
    assert lacking > 0.1
    assert found.value == pytest.approx(near.value - 10 * lacking)


def test_a_reward_of_ones_own(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(OWN)
    assert reward(f"{file}:Carbons", each=2).score(TOLUENE, METHANE).value == 14
    with pytest.raises(SettingsError, match=r"reward_options do not suit .*:Carbons: .*'ech'"):
        reward(f"{file}:Carbons", ech=2)
    with pytest.raises(SettingsError, match=r"Nothing has to be a subclass of .*Reward"):
        reward(f"{file}:Nothing")
    with pytest.raises(SettingsError, match="no such file"):
        reward(f"{tmp_path}/none.py:Carbons")


def test_the_example_rewards_the_log_p_that_is_asked_for():
    name = f"{EXAMPLES / 'molecule_reward.py'}:Soluble"
    wanted = scores.log_p(TOLUENE)
    assert reward(name, log_p=wanted).score(TOLUENE, METHANE).value == scores.qed(TOLUENE)
    away = reward(name, log_p=wanted + 2, weight=0.1).score(TOLUENE, METHANE)
    assert away.value == pytest.approx(scores.qed(TOLUENE) - 0.2)
    with pytest.raises(SettingsError, match=r"reward_options.log_p must be a number"):
        reward(name, log_p="low")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("qed", {"threshold": 0.5}, "unknown key reward_options.threshold"),
        ("similarity", {"treshold": 0.5}, "did you mean threshold"),
        ("similarity", {"threshold": "half"}, "reward_options.threshold must be a number"),
        ("similarity", {"threshold": 1.5}, "threshold must be from 0 to 1; it is 1.5"),
        ("similarity", {"weight": -1.0}, "weight must be finite, not negative"),
    ],
)
def test_options_that_do_not_fit(name, options, message):
    with pytest.raises(SettingsError, match=message):
        reward(name, **options)
