from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from gymnasium import Env

from ogg_hpc.actors.environments.molecules.settings import MoleculeSettings
from ogg_hpc.actors.environments.registry import make_environment
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.errors import SettingsError
from ogg_hpc.settings import build, describe


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"reward": "docking"},
            r"reward is qed, plogp, similarity or FILE.py:CLASS, not 'docking'",
        ),
        ({"kinds": ["C", "Xe"]}, "unknown kind of atom 'Xe'; known: B, C"),
        ({"kinds": []}, "at least one kind of atom"),
        ({"kinds": ["C", "C"]}, "none twice"),
        ({"max_atoms": 1}, "max_atoms must be from 2 to 127; it is 1"),
        ({"max_atoms": 128}, "max_atoms must be from 2 to 127"),
        ({"min_atoms": 39}, "min_atoms must be from 1 to 38; it is 39"),
        ({"min_atoms": 0}, "min_atoms must be from 1 to 38"),
        ({"max_rings": -1}, "max_rings must be from 0"),
        ({"smallest_ring": 2}, "smallest_ring must be from 3 to 8"),
        ({"smallest_ring": 9}, "smallest_ring must be from 3 to 8"),
        ({"largest_ring": 128}, "largest_ring must be from 3 to 127"),
        ({"max_steps": 1}, "max_steps must be at least 2; it is 1"),
        ({"invalid_penalty": -0.1}, "invalid_penalty must not be negative"),
        ({"step_reward": float("nan")}, "step_reward must be finite"),
        (
            {"filters": ["steric", "zink"]},
            "filters are steric, zinc, brenk, nih, pains, not 'zink'",
        ),
        ({"max_atom": 20}, "unknown key max_atom; did you mean max_atoms"),
        ({"max_atoms": "many"}, "max_atoms must be an integer"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(SettingsError, match=message):
        build(MoleculeSettings, options)


def test_the_page_on_molecules_has_all_options_and_examples_that_work_together():
    page = (Path(__file__).parents[4] / "docs" / "molecules.md").read_text(encoding="utf-8")
    for name, _, help_text in describe(MoleculeSettings):
        assert f"`{name}`" in page
        assert help_text
    examples = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    run = build(ActorsSettings, tomllib.loads("\n".join(examples)))
    assert isinstance(make_environment(run.environment.name, run.environment.options), Env)


def test_bonds_are_those_of_a_tree_and_one_for_each_ring():
    assert MoleculeSettings(max_atoms=10, max_rings=3).max_bonds == 12
