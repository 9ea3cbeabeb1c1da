from __future__ import annotations

import pytest
from rdkit import Chem

from ogg_hpc.actors.environments.molecules.filters import make_filters
from ogg_hpc.actors.environments.molecules.settings import FILTERS

REFUSED = {
    "steric": "C1=C=CC1",
    "zinc": "CCSF",  # a halide of sulphur
    "brenk": "CCBr",  # an alkyl halide
    "nih": "BrCOBr",
    "pains": "CC=S",
}


@pytest.mark.parametrize("name", FILTERS)
def test_each_filter_refuses_what_it_is_for_and_passes_what_is_ordinary(name):
    refuses = make_filters([name])[name]
    assert refuses(Chem.MolFromSmiles(REFUSED[name]))
    assert not refuses(Chem.MolFromSmiles("Cc1ccccc1CNC(C)C"))


def test_filters_are_asked_in_the_order_of_the_settings():
    assert list(make_filters(["pains", "steric", "zinc"])) == ["pains", "steric", "zinc"]
