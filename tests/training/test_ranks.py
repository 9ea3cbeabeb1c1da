"""What a training run must not depend on: how many ranks share a graph."""

import json
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="module")
def found(run_ranks, tmp_path_factory):
    """Small runs on one, two, three and four ranks, all started by one launcher."""
    script = Path(__file__).with_name("rank_equality.py")
    done = run_ranks(4, [script, tmp_path_factory.mktemp("ranks")], limit=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("engine", ["reference", "scalar", "messages"])
@pytest.mark.parametrize("ranks", ["P2", "P3"])
def test_losses_of_fixed_updates_are_those_of_one_rank(found, ranks, engine):
    losses = np.array(found["P1"]["fixed"][engine])
    assert len(losses) == 50
    assert losses[-10:].mean() < losses[:10].mean()
    np.testing.assert_allclose(found[ranks]["fixed"][engine], losses, rtol=0, atol=1e-5)


def test_engines_have_the_same_losses(found):
    losses = found["P1"]["fixed"]
    np.testing.assert_allclose(losses["scalar"], losses["reference"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("ranks", ["P2", "P3"])
def test_actions_are_those_of_one_rank(found, ranks):
    assert found[ranks]["actions"] == found["P1"]["actions"]
    assert len(set(found["P1"]["actions"][0])) > 4
    assert found[ranks]["ratios"] == found["P1"]["ratios"]


def test_two_ranks_that_share_graphs_learn_what_one_does(found):
    assert found["P2"]["groups"] == found["P1"]["groups"] == 1
    np.testing.assert_allclose(
        found["P2"]["parameters"], found["P1"]["parameters"], rtol=0, atol=1e-9
    )


def test_results_depend_on_the_number_of_groups_alone(found):
    two, four = found["P2R1"], found["P4R2"]
    assert two["groups"] == four["groups"] == 2
    assert two["actions"] == four["actions"]
    assert two["actions"][0] != two["actions"][1]
    assert two["ratios"] == four["ratios"]
    np.testing.assert_allclose(four["parameters"], two["parameters"], rtol=0, atol=1e-9)
    difference = np.subtract(two["parameters"], found["P1"]["parameters"])
    assert np.abs(difference).max() > 1e-4


def test_groups_resume_bit_for_bit(found):
    assert found["P4R2 resumed"] == found["P4R2"]
