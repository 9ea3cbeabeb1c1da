from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from rdkit import Chem

from ogg_hpc.actors.environments.molecules import scores
from ogg_hpc.actors.environments.molecules.environment import MoleculeEnvironment
from ogg_hpc.actors.environments.molecules.kinds import KINDS
from ogg_hpc.actors.environments.molecules.random_policy import random_action
from ogg_hpc.actors.environments.molecules.spaces import largest_orders
from ogg_hpc.actors.environments.registry import make_environment
from ogg_hpc.actors.schema import Schema
from ogg_hpc.errors import MissingExtraError, OggError

STOP = np.array([0, 0, 0, 1])


def new_atom(environment, kind, *, at=0, order=1):
    """Return the action that adds an atom."""
    settings = environment.settings
    return np.array([at, settings.max_atoms + settings.kinds.index(kind), order - 1, 0])


def play(environment, seed, stop):
    """Play an episode at random; return its steps and what the environment says of it."""
    generator = np.random.default_rng(seed)
    ends = int(environment.action_space.nvec[1])
    observation, _ = environment.reset(seed=seed)
    steps = []
    while True:
        action = random_action(observation, ends, generator, stop)
        observation, reward, terminated, truncated, info = environment.step(action)
        steps.append((action, reward))
        if terminated or truncated:
            assert terminated
            return steps, info["episode"]
        assert info == {}


@pytest.fixture(scope="module")
def environment():
    return MoleculeEnvironment()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reward": "plogp", "min_atoms": 5, "step_reward": 0.1},
        {"reward": "similarity", "start": "c1ccccc1C(=O)[O-]", "filters": ["steric", "zinc"]},
        {"kinds": ["C"], "max_atoms": 2, "max_rings": 0},
        {"kinds": list(KINDS), "max_atoms": 127},
    ],
)
def test_the_checker_of_gymnasium_passes(options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # It would render in other modes, if there were any.
        warnings.filterwarnings("ignore", message=".*alternative render modes")
        check_env(MoleculeEnvironment(**options))


@pytest.mark.parametrize(
    ("episodes", "stop", "options"),
    [
        (1000, 0.05, {}),
        (300, 0.0, {}),
        (600, 0.02, {"kinds": list(KINDS)}),
        (600, 0.02, {"kinds": ["C", "N", "O", "S", "N+", "O-", "N-"], "max_rings": 12}),
        (300, 0.02, {"kinds": ["C", "N"], "max_atoms": 12, "max_rings": 20, "largest_ring": 12}),
        (200, 0.05, {"start": "O=C([O-])c1cc[nH+]cc1"}),
    ],
)
def test_every_molecule_is_valid(monkeypatch, episodes, stop, options):
    """Sanitises, has its SMILES read back as the same, and is what the agent has built."""
    environment = MoleculeEnvironment(**options)
    monkeypatch.setattr(scores, "qed", lambda molecule: 0.5)  # takes most of the time
    for seed in range(episodes):
        steps, episode = play(environment, seed, stop)
        assert episode["invalid"] == 0
        molecule = Chem.MolFromSmiles(episode["smiles"])
        assert molecule is not None
        assert Chem.MolToSmiles(molecule) == episode["smiles"]
        start = Chem.MolFromSmiles(episode["start"])
        assert molecule.GetNumAtoms() == episode["atoms"] <= environment.settings.max_atoms
        assert molecule.GetNumBonds() == start.GetNumBonds() + len(steps) - 1
        assert molecule.GetNumBonds() - molecule.GetNumAtoms() + 1 == episode["rings"]
        assert len(Chem.GetMolFrags(molecule)) == 1


def test_an_agent_that_ignores_the_masks_builds_valid_molecules_too():
    environment = MoleculeEnvironment(max_atoms=8, min_atoms=8, max_steps=400)
    environment.action_space.seed(0)
    for seed in range(20):
        environment.reset(seed=seed)
        over = False
        while not over:
            _, _, terminated, truncated, info = environment.step(environment.action_space.sample())
            over = terminated or truncated
        molecule = Chem.MolFromSmiles(info["episode"]["smiles"])
        assert molecule.GetNumAtoms() == info["episode"]["atoms"]
        assert info["episode"]["invalid"] > 0


@pytest.mark.parametrize("options", [{}, {"kinds": ["C"], "max_atoms": 2}, {"max_atoms": 127}])
def test_observations_are_in_their_space(options):
    environment = MoleculeEnvironment(**options)
    generator = np.random.default_rng(0)
    ends = int(environment.action_space.nvec[1])
    for seed in range(5):
        observation, _ = environment.reset(seed=seed)
        terminated = False
        while not terminated:
            assert observation in environment.observation_space
            action = random_action(observation, ends, generator, stop=0.0)
            observation, _, terminated, *_ = environment.step(action)
        assert observation in environment.observation_space


def test_charges_are_built(environment):
    environment.reset(seed=0)
    for action in (
        new_atom(environment, "N+"),
        new_atom(environment, "O", at=1, order=2),
        new_atom(environment, "O-", at=1),
    ):
        environment.step(action)
    *_, info = environment.step(STOP)
    assert info["episode"]["smiles"] == "C[N+](=O)[O-]"


def test_the_agent_that_stops_gets_the_worth(environment):
    environment.reset(seed=0)
    before = environment.step(new_atom(environment, "O"))
    assert before[1:4] == (0.0, False, False)
    _, reward, terminated, truncated, info = environment.step(STOP)
    assert (terminated, truncated) == (True, False)
    episode = info["episode"]
    assert episode["smiles"] == "CO"
    assert episode["stopped"]
    assert reward == episode["score"] == scores.qed(Chem.MolFromSmiles("CO"))
    assert episode["parts"] == {"qed": reward}


def test_the_agent_that_runs_out_of_steps_is_truncated_and_its_molecule_not_scored():
    environment = MoleculeEnvironment(max_steps=3, step_reward=0.25)
    environment.reset(seed=0)
    for _ in range(2):
        assert environment.step(new_atom(environment, "C"))[1:4] == (0.25, False, False)
    _, reward, terminated, truncated, info = environment.step(new_atom(environment, "C"))
    assert (reward, terminated, truncated) == (0.25, False, True)
    episode = info["episode"]
    assert episode["smiles"] == "CC(C)C"
    assert not episode["stopped"]
    assert episode["score"] is None
    assert (episode["oracle_calls"], episode["molecules"]) == (0, 0)


def test_the_agent_that_stops_in_the_last_step_is_not_truncated():
    environment = MoleculeEnvironment(max_steps=2)
    environment.reset(seed=0)
    environment.step(new_atom(environment, "C"))
    assert environment.step(STOP)[2:4] == (True, False)


def invalid_actions(environment, observation):
    """Return all actions that the masks forbid."""
    sizes = environment.action_space.nvec
    orders = largest_orders(observation["action_mask"], int(sizes[1]))
    for first, second, order in np.ndindex(*sizes[:3]):
        if orders[first, second] <= order:
            yield np.array([first, second, order, 0])
    if not observation["stop_mask"][1]:
        yield STOP


def test_actions_that_are_not_allowed_change_nothing_and_cost():
    environment = MoleculeEnvironment(
        max_atoms=6, min_atoms=5, kinds=["C", "O"], max_steps=10_000, invalid_penalty=0.5
    )
    environment.reset(seed=0)
    environment.step(new_atom(environment, "C", order=2))
    before, *_ = environment.step(new_atom(environment, "O"))
    count = 0
    for action in invalid_actions(environment, before):
        after, reward, terminated, truncated, info = environment.step(action)
        assert (reward, terminated, truncated, info) == (-0.5, False, False, {})
        for name, array in before.items():
            np.testing.assert_array_equal(after[name], array)
        count += 1
    assert count > 100
    for kind in ("C", "C"):
        environment.step(new_atom(environment, kind, at=1))
    *_, info = environment.step(STOP)
    assert info["episode"]["invalid"] == count


def test_the_masks_are_exact_through_an_episode(environment):
    """Whatever the masks allow is taken, and nothing else, along random molecules."""
    generator = np.random.default_rng(7)
    ends = int(environment.action_space.nvec[1])
    observation, _ = environment.reset(seed=7)
    for _ in range(40):
        before = largest_orders(observation["action_mask"], ends)
        action = environment.action_space.sample()
        action[3] = 0
        allowed = before[action[0], action[1]] > action[2]
        observation, reward, *_ = environment.step(action)
        assert (reward == 0.0) == allowed
        action = random_action(observation, ends, generator, stop=0.0)
        if action[3]:
            return
        observation, reward, *_ = environment.step(action)
        assert reward == 0.0


def test_the_agent_may_not_stop_before_the_fewest_atoms():
    environment = MoleculeEnvironment(min_atoms=3)
    observation, _ = environment.reset(seed=0)
    masks = [observation["stop_mask"].tolist()]
    for _ in range(2):
        observation, *_ = environment.step(new_atom(environment, "C"))
        masks.append(observation["stop_mask"].tolist())
    assert masks == [[1, 0], [1, 0], [1, 1]]


@pytest.mark.parametrize("options", [{}, {"max_atoms": 12}, {"kinds": ["F", "O"], "start": "O"}])
def test_every_molecule_has_the_fewest_atoms(options):
    environment = MoleculeEnvironment(min_atoms=12, **options)
    atoms = [play(environment, seed, stop=0.9)[1]["atoms"] for seed in range(100)]
    assert min(atoms) == 12


def test_what_would_leave_nothing_to_add_to_is_forbidden_before_the_fewest_atoms():
    environment = MoleculeEnvironment(min_atoms=4, kinds=["C", "O", "F"], start="CO")

    def orders(*actions):
        observation, _ = environment.reset(seed=0)
        for action in actions:
            observation, *_ = environment.step(action)
        return largest_orders(observation["action_mask"], int(environment.action_space.nvec[1]))

    new = slice(environment.settings.max_atoms, None)  # free valence: 3 on C, 1 on O
    assert orders()[:2, new].tolist() == [[3, 2, 1], [1, 1, 1]]
    double = new_atom(environment, "O", order=2)  # leaves 1 on C, 1 on O; the fourth may end it
    assert orders(double)[:2, new].tolist() == [[1, 1, 1], [1, 1, 1]]
    environment = MoleculeEnvironment(min_atoms=5, kinds=["C", "O", "F"], start="CO")
    assert orders(double)[:2, new].tolist() == [[1, 1, 1], [1, 1, 1]]
    ended = new_atom(environment, "F", at=1)  # leaves 1 on C: F would be the end
    assert orders(double, ended)[0, new].tolist() == [1, 1, 1]
    environment = MoleculeEnvironment(min_atoms=6, kinds=["C", "O", "F"], start="CO")
    assert orders(double, ended)[0, new].tolist() == [1, 1, 0]


def test_the_agent_must_stop_where_nothing_can_be_added():
    environment = MoleculeEnvironment(kinds=["F"], start="F", min_atoms=5)
    observation, _ = environment.reset(seed=0)
    assert observation["stop_mask"].tolist() == [1, 0]
    observation, *_ = environment.step(new_atom(environment, "F"))
    assert observation["stop_mask"].tolist() == [0, 1]
    assert not observation["action_mask"].any()
    assert environment.step(STOP)[2]


def test_observations_tell_of_the_molecule():
    environment = MoleculeEnvironment(kinds=["C", "N", "O"], max_atoms=4, max_rings=1)
    environment.reset(seed=0)
    environment.step(new_atom(environment, "N", order=2))
    observation, *_ = environment.step(new_atom(environment, "O", at=1))
    assert observation["atoms"].tolist() == [1, 2, 3, 0]
    assert observation["bonds"].tolist() == [[0, 1, 2], [1, 2, 1], [0, 0, 0], [0, 0, 0]]
    assert observation["free_valence"].tolist() == [2, 0, 1, 0]
    assert largest_orders(observation["action_mask"], 7).tolist() == [
        [0, 0, 1, 0, 2, 2, 2],  # a ring of three with O, or a new atom
        [0, 0, 0, 0, 0, 0, 0],
        [1, 0, 0, 0, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, 0],
    ]


def test_starts_are_drawn_by_the_seed(tmp_path):
    file = tmp_path / "starts.txt"
    file.write_text("C\nCC\nCCC\nCCCC\n")

    def drawn(seed):
        environment = MoleculeEnvironment(start=str(file))
        environment.reset(seed=seed)
        counts = []
        for _ in range(12):
            counts.append(environment.step(STOP)[4]["episode"]["start"])
            environment.reset()
        return counts

    assert drawn(1) == drawn(1) != drawn(2)
    assert set(drawn(1)) == {"C", "CC", "CCC", "CCCC"}


def test_counts_go_on_from_episode_to_episode():
    environment = MoleculeEnvironment()
    counts = []
    for kind in ("C", "N", "C"):
        environment.reset(seed=0)
        environment.step(new_atom(environment, kind))
        episode = environment.step(STOP)[4]["episode"]
        counts.append([episode[name] for name in ("molecules", "distinct", "oracle_calls")])
    assert counts == [[1, 1, 1], [2, 2, 2], [3, 2, 2]]


def test_an_episode_is_plain_json(environment):
    _, episode = play(environment, seed=3, stop=0.1)
    assert json.loads(json.dumps(episode)) == episode


def test_actors_know_it_by_name_and_tell_learners_its_arrays():
    environment = make_environment("molecules", {"kinds": ["C", "N"], "max_atoms": 5})
    assert isinstance(environment, MoleculeEnvironment)
    schema = Schema.of(environment)
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema
    observation, _ = environment.reset(seed=0)
    for name, array in schema.flatten_observation(observation).items():
        np.testing.assert_array_equal(array, observation[name])


def test_options_that_do_not_fit_are_told():
    with pytest.raises(OggError, match="unknown key max_atom; did you mean max_atoms"):
        MoleculeEnvironment(max_atom=3)


def run_python(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_rdkit_is_loaded_for_the_environment_alone_and_torch_never():
    code = (
        "import sys, ogg_hpc.actors.environments.molecules.spaces;"
        "print('rdkit' in sys.modules, end=' ');"
        "import ogg_hpc.actors.environments.molecules.environment;"
        "print('rdkit' in sys.modules, 'torch' in sys.modules)"
    )
    assert run_python(code) == "False True False"


def test_without_rdkit_the_extra_is_named():
    code = (
        "import sys; sys.modules['rdkit'] = None\n"
        "from ogg_hpc.errors import OggError\n"
        "try:\n"
        "    import ogg_hpc.actors.environments.molecules.environment\n"
        "except OggError as error:\n"
        "    print(error)\n"
    )
    assert run_python(code) == str(MissingExtraError("rdkit", "molecules"))
