import numpy as np
import pytest
import torch

from ogg_hpc.errors import SettingsError
from ogg_hpc.policies.initial import uniform_parameter
from ogg_hpc.policies.registry import make_policy, policy_class
from ogg_hpc.policies.structure2vec import Structure2Vec


def parameters(policy):
    return torch.cat([p.detach().reshape(-1) for p in policy.parameters()]).numpy()


def test_networks_by_name_and_by_file(own_network):
    assert policy_class("s2v") is Structure2Vec
    assert policy_class(own_network).__name__ == "Slope"
    with pytest.raises(SettingsError, match="'gcn' is unknown; use s2v, degree-messages or FILE"):
        policy_class("gcn")
    with pytest.raises(SettingsError, match="no such file"):
        policy_class("none.py:Net")


def test_model_table_is_checked():
    policy = make_policy("s2v", {"width": 3, "layers": 1}, seed=0)
    assert (policy.settings.width, policy.settings.layers) == (3, 1)
    for model, message in (
        ({"widht": 3}, r"unknown key model\.widht; did you mean width"),
        ({"width": "3"}, r"model\.width must be an integer"),
        ({"width": 0}, r"model\.width and model\.layers must be at least 1"),
        ({"degree_unit": "two"}, r"model\.degree_unit is one or mean, not 'two'"),
        ({"graph_term": "max"}, r"model\.graph_term is mean or sum, not 'max'"),
    ):
        with pytest.raises(SettingsError, match=message):
            make_policy("s2v", model, seed=0)


def test_initial_parameters_are_a_function_of_the_seed_alone():
    torch.manual_seed(1)
    first = parameters(make_policy("s2v", {}, seed=3))
    torch.manual_seed(2)
    torch.rand(5)
    np.testing.assert_array_equal(parameters(make_policy("s2v", {}, seed=3)), first)
    assert not np.isin(parameters(make_policy("s2v", {}, seed=4)), first).any()


def test_streams_differ_by_name_and_fill_the_range():
    a = uniform_parameter("a", (40, 50), 0.5, seed=1).detach().numpy()
    b = uniform_parameter("b", (40, 50), 0.5, seed=1).detach().numpy()
    assert a.dtype == np.float64
    assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 0.1
    for values in (a, b):
        assert (np.abs(values) < 0.5).all()
        assert abs(values.mean()) < 0.03
        assert abs(values.std() - 0.5 / np.sqrt(3)) < 0.02
