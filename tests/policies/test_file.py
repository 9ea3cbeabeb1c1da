import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.policies.file import load_policy, save_parameters, save_policy, shipped_policies
from ogg_hpc.policies.registry import make_policy
from ogg_hpc.search.solve import solve

TRAINING = {"step": 7, "settings": {"learning": {"gamma": 0.5}}, "seconds": 1.25}


def same_parameters(first, second):
    a, b = first.state_dict(), second.state_dict()
    return list(a) == list(b) and all(torch.equal(a[name], b[name]) for name in a)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A parameter file, its network, and its bytes."""
    path = tmp_path_factory.mktemp("policy") / "policy.npz"
    policy = make_policy("s2v", {"width": 2, "layers": 3, "graph_term": "sum"}, seed=5)
    save_policy(path, policy, "s2v", "mvc", TRAINING)
    return path, policy, path.read_bytes()


def rewrite(path, **changes):
    """Change metadata of a parameter file and leave all else."""
    with np.load(path) as archive:
        arrays = dict(archive)
    metadata = json.loads(str(arrays["metadata"])) | changes
    np.savez(path, **arrays | {"metadata": np.array(json.dumps(metadata))})


@pytest.fixture
def copy(stored, tmp_path):
    path = tmp_path / "copy.npz"
    path.write_bytes(stored[2])
    return path


def test_round_trip(stored):
    path, policy, _ = stored
    found = load_policy(str(path), "mvc")
    assert same_parameters(found.policy(), policy)
    assert found.policy().settings == policy.settings
    assert (found.problem, found.training) == ("mvc", TRAINING)


@settings(max_examples=60)
@given(data=st.data())
def test_damaged_byte_is_refused_or_changes_nothing(stored, tmp_path_factory, data):
    _, policy, content = stored
    place = data.draw(st.integers(0, len(content) - 1))
    damaged = bytearray(content)
    damaged[place] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("damaged") / "policy.npz"
    path.write_bytes(damaged)
    try:
        found = load_policy(str(path), "mvc")
        loaded = found.policy()
    except InputError:
        return
    # Some bytes of an archive mean nothing, such as the time of each member.
    assert same_parameters(loaded, policy)
    assert (found.problem, found.training) == ("mvc", TRAINING)


@pytest.mark.parametrize("part", ["theta1", "theta7", "metadata"])
def test_damaged_number_is_refused(stored, copy, part):
    content = bytearray(stored[2])
    header = content.index(part.encode() + b".npy")
    content[content.index(b"\n", header) + 3] ^= 1  # the data follow the array's header line
    copy.write_bytes(content)
    with pytest.raises(InputError, match=r"copy\.npz: not a parameter file, or a damaged one"):
        load_policy(str(copy), "mvc")


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.99])
def test_truncated_file_is_refused(stored, copy, kept):
    copy.write_bytes(stored[2][: int(kept * len(stored[2]))])
    with pytest.raises(InputError, match="damaged"):
        load_policy(str(copy), "mvc")


def test_parameters_that_do_not_match_their_checksum_are_refused(copy):
    with np.load(copy) as archive:
        arrays = dict(archive)
    arrays["theta1"] = arrays["theta1"] + 1e-12
    np.savez(copy, **arrays)
    with pytest.raises(InputError, match="checksum mismatch"):
        load_policy(str(copy), "mvc")


def test_other_format_or_version_is_refused(copy):
    rewrite(copy, format="ogg-hpc-policy/2")
    with pytest.raises(InputError, match="format 'ogg-hpc-policy/2' is not ogg-hpc-policy/1"):
        load_policy(str(copy), "mvc")
    np.savez(copy, something=np.arange(3))
    with pytest.raises(InputError, match="an archive, but not a parameter file"):
        load_policy(str(copy), "mvc")


def test_other_files_are_refused(tmp_path):
    np.save(tmp_path / "array.npy", np.arange(3))
    (tmp_path / "text.npz").write_text("some text\n")
    for path in (tmp_path, tmp_path / "array.npy", tmp_path / "text.npz"):
        with pytest.raises(InputError, match="not a parameter file"):
            load_policy(str(path), "mvc")


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match="none: no such policy; use max-degree, min-degree"):
        load_policy("none", "mvc")


def test_other_problem_is_refused(stored):
    with pytest.raises(SettingsError, match="was trained for mvc, not for maxcut"):
        load_policy(str(stored[0]), "maxcut")


def test_parameters_of_another_shape_are_refused(copy):
    rewrite(copy, model={"width": 3, "layers": 3, "graph_term": "sum"})
    stored = load_policy(str(copy), "mvc")
    with pytest.raises(InputError, match="its parameters do not fit s2v"):
        stored.policy()


def test_failed_write_leaves_the_old_file(stored, copy):
    with pytest.raises(TypeError, match="JSON"):
        save_policy(copy, stored[1], "s2v", "mvc", {"unwritable": object()})
    assert copy.read_bytes() == stored[2]
    assert list(copy.parent.iterdir()) == [copy]


def test_own_network_needs_the_word_of_the_user(own_network, tmp_path):
    path = tmp_path / "own.npz"
    policy = make_policy(own_network, {"bound": 2.0}, seed=4)
    save_policy(path, policy, own_network, "mvc", {})
    found = load_policy(str(path), "mvc")
    assert same_parameters(found.policy(own_network), policy)
    assert found.policy(own_network).describe() == {"bound": 2.0}
    with pytest.raises(SettingsError, match=r"needs its network: add --policy-class .*:Slope"):
        found.policy()


def test_file_alone_runs_no_code(copy, tmp_path):
    trap = tmp_path / "trap.py"
    trap.write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')\n")
    rewrite(copy, policy=f"{trap}:Trap")
    with pytest.raises(SettingsError, match="--policy-class"):
        load_policy(str(copy), "mvc").policy()
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("name", shipped_policies())
def test_shipped_policy_solves(name):
    problem = name.partition("-")[0]
    assert load_policy(name, problem).training["settings"]
    for engine in ("reference", "scalar"):
        solved = solve(erdos_renyi(40, 0.15, 1), problem, policy=name, engine=engine, reduce=False)
        assert solved.record["feasible"]
        assert solved.record["engine"] == engine


@pytest.mark.parametrize("key", ["policy", "model", "problem", "training", "sha256"])
def test_metadata_without_a_key_is_named(copy, key):
    with np.load(copy) as archive:
        arrays = dict(archive)
    metadata = json.loads(str(arrays["metadata"]))
    del metadata[key]
    np.savez(copy, **arrays | {"metadata": np.array(json.dumps(metadata))})
    with pytest.raises(InputError, match=f"its metadata lacks {key}"):
        load_policy(str(copy), "mvc")


@pytest.mark.parametrize("key", ["policy", "model", "problem", "training"])
@pytest.mark.parametrize("value", [None, 7, ["s2v"]])
def test_metadata_of_another_type_is_refused(copy, key, value):
    rewrite(copy, **{key: value})
    with pytest.raises(InputError, match=f"its metadata has .* as {key}"):
        load_policy(str(copy), "mvc")


@pytest.mark.parametrize("values", [["text"], [1j], [True], [b"bytes"]])
def test_parameters_that_are_no_numbers_are_refused(tmp_path, values):
    save_parameters(tmp_path / "odd.npz", "s2v", {}, {"theta1": np.array(values)}, "mvc", {})
    with pytest.raises(InputError, match="no real numbers"):
        load_policy(str(tmp_path / "odd.npz"), "mvc")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_parameters_of_a_diverged_run_are_refused(tmp_path, value):
    policy = make_policy("s2v", {"width": 2}, seed=5)
    with torch.no_grad():
        policy.theta7[1] = value
    save_policy(tmp_path / "wild.npz", policy, "s2v", "mvc", TRAINING)
    with pytest.raises(InputError, match="not finite"):
        load_policy(str(tmp_path / "wild.npz"), "mvc")
