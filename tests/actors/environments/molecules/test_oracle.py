from __future__ import annotations

import json

import pytest
from rdkit import Chem

from ogg_hpc.actors.environments.molecules import oracle as oracle_module
from ogg_hpc.actors.environments.molecules.oracle import Oracle
from ogg_hpc.actors.environments.molecules.settings import MoleculeSettings
from ogg_hpc.actors.environments.molecules.starts import make_start
from ogg_hpc.errors import SettingsError

SETTINGS = MoleculeSettings()
METHANE, ETHANE = (make_start(smiles, SETTINGS) for smiles in ("C", "CC"))


def ask(oracle, smiles, start=METHANE):
    return oracle.score(Chem.MolFromSmiles(smiles), smiles, start)


def test_a_molecule_is_scored_once():
    oracle = Oracle(SETTINGS)
    first, _, again = (ask(oracle, smiles) for smiles in ("CCO", "CCN", "CCO"))
    assert again is first
    assert (oracle.molecules, oracle.distinct, oracle.calls) == (3, 2, 2)


def test_the_same_molecule_from_another_start_is_another():
    oracle = Oracle(MoleculeSettings(reward="similarity"))
    assert ask(oracle, "CCO", METHANE) != ask(oracle, "CCO", ETHANE)
    assert oracle.calls == 2


def test_memory_is_bounded_and_keeps_what_was_asked_for_last(monkeypatch):
    monkeypatch.setattr(oracle_module, "MEMORY", 2)
    oracle = Oracle(SETTINGS)
    for smiles in ("C", "CC", "C", "CCC", "C"):  # CC is forgotten for CCC
        ask(oracle, smiles)
    assert oracle.calls == 3
    ask(oracle, "CC")
    assert oracle.calls == 4


def test_what_a_filter_refuses_costs_no_call():
    oracle = Oracle(MoleculeSettings(filters=("zinc", "steric"), refused_reward=-2.0))
    refused, strained, passed = (ask(oracle, smiles) for smiles in ("CCSF", "C1=C=CC1", "CCO"))
    assert (refused.value, refused.refused_by) == (-2.0, "zinc")
    assert (strained.value, strained.refused_by) == (-2.0, "steric")
    assert passed.value > 0
    assert passed.refused_by == ""
    assert (oracle.molecules, oracle.distinct, oracle.calls) == (3, 3, 1)


def asked_of_ones_own(folder, returned):
    """Return what the oracle makes of what a reward returns, an expression."""
    file = folder / "own.py"
    file.write_text(
        "import numpy as np\n"
        "from ogg_hpc.actors.environments.molecules.rewards import Reward, Score\n"
        "class Own(Reward):\n"
        "    def score(self, molecule, start):\n"
        f"        return {returned}\n"
    )
    return ask(Oracle(MoleculeSettings(reward=f"{file}:Own")), "CO")


@pytest.mark.parametrize(
    "returned",
    [
        "0.5",
        "Score(float('nan'), {})",
        "Score('high', {})",
        "Score(np.float32('inf'), {})",
        "Score(0.5, {'energy': float('-inf')})",
        "Score(0.5, {'energy': None})",
    ],
)
def test_a_reward_of_ones_own_must_return_finite_numbers(tmp_path, returned):
    with pytest.raises(SettingsError, match=r"Own must return a Score of finite numbers; for CO"):
        asked_of_ones_own(tmp_path, returned)


def test_numbers_of_numpy_become_plain_ones(tmp_path):
    score = asked_of_ones_own(tmp_path, "Score(np.float32(0.5), {'atoms': np.int64(2)})")
    assert json.dumps([score.value, score.parts]) == '[0.5, {"atoms": 2.0}]'
