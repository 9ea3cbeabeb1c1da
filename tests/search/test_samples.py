import numpy as np
import pytest

import ogg_hpc
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.policies.file import load_policy
from ogg_hpc.search.samples import SPREAD, sampled


def test_first_sample_is_the_policy_itself_and_others_are_near_and_repeatable():
    stored = load_policy("mvc", "mvc")
    assert sampled(stored, seed=1, sample=0) is stored
    one, again, other = (sampled(stored, seed=1, sample=sample) for sample in (1, 1, 2))
    for name, array in stored.arrays.items():
        np.testing.assert_array_equal(one.arrays[name], again.arrays[name])
        assert (one.arrays[name] != other.arrays[name]).all()
        scale = np.sqrt(np.mean(array**2))
        assert np.abs(one.arrays[name] - array).max() < 5 * SPREAD * scale


def test_noise_of_a_large_array_has_the_stated_spread():
    stored = load_policy("mvc-s2v", "mvc")
    name = max(stored.arrays, key=lambda name: stored.arrays[name].size)
    noise = sampled(stored, seed=0, sample=1).arrays[name] - stored.arrays[name]
    expected = SPREAD * np.sqrt(np.mean(stored.arrays[name] ** 2))
    assert np.sqrt(np.mean(noise**2)) == pytest.approx(expected, rel=0.1)


def test_more_samples_are_never_worse_and_find_better_covers():
    sizes = []
    for samples in (1, 4, 12):
        solved = [
            ogg_hpc.solve(erdos_renyi(100, 0.15, seed), samples=samples, reduce=False)
            for seed in range(5)
        ]
        assert {each.record["samples"] for each in solved} == {samples}
        sizes.append([each.record["objective"] for each in solved])
    one, four, twelve = np.array(sizes)
    assert (four <= one).all()
    assert (twelve <= four).all()
    assert twelve.sum() < one.sum()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"samples": 0}, "samples must be at least 1"),
        ({"samples": 2, "policy": "max-degree"}, "max-degree is a heuristic; choose a policy"),
        ({"samples": 2, "policy": "inverse-degree"}, "inverse-degree is a heuristic"),
    ],
)
def test_samples_need_a_policy_and_a_number(settings, message):
    with pytest.raises(SettingsError, match=message):
        ogg_hpc.solve(erdos_renyi(10, 0.3, 1), **settings)
