import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.scaling.model import Fit, Load, Model, efficiency, fit_model
from ogg_hpc.scaling.network import Network

RANKS = (1, 2, 4, 8, 16, 32, 64)
SIZE = st.floats(0.1, 10)


def loads_of(ranks, entries=1e6, calls=2, sent=1e6):
    return [Load(p, entries / p, calls if p > 1 else 0, sent * (p - 1) / p) for p in ranks]


@given(SIZE, SIZE, SIZE)
def test_known_parameters_are_found_again(computing, latency, sending):
    true = Model(computing / 1e6, latency / 12, sending / 1e6)
    loads = loads_of(RANKS)
    fit = fit_model(loads, [true.seconds(load) for load in loads], None)
    assert fit.determined
    assert fit.model.per_entry == pytest.approx(true.per_entry, rel=1e-6)
    assert fit.model.latency == pytest.approx(true.latency, rel=1e-6)
    assert fit.model.per_byte == pytest.approx(true.per_byte, rel=1e-6)
    assert max(map(abs, fit.errors)) < 1e-9


@given(st.lists(st.floats(0.01, 100), min_size=7, max_size=7))
def test_no_parameter_is_negative_whatever_was_measured(seconds):
    model = fit_model(loads_of(RANKS), seconds, None).model
    assert min(model.per_entry, model.latency, model.per_byte) >= 0


@given(SIZE, SIZE, SIZE)
def test_two_points_take_latency_and_bandwidth_from_the_network(computing, latency, sending):
    true = Model(computing / 1e6, latency / 12, sending / 1e6)
    loads = loads_of((1, 2))
    seconds = [true.seconds(load) for load in loads]
    fit = fit_model(loads, seconds, Network(true.latency, true.per_byte, "known"))
    assert not fit.determined
    assert (fit.model.latency, fit.model.per_byte) == (true.latency, true.per_byte)
    assert fit.model.per_entry == pytest.approx(true.per_entry)


def test_one_point_and_no_network_is_computation_alone():
    assert fit_model(loads_of((1,)), [3.0], None) == Fit(Model(3e-6, 0, 0), False, (0.0,))


def test_points_that_are_alike_determine_nothing():
    loads = loads_of((2, 2, 2, 2))
    assert not fit_model(loads, [1.0, 1.01, 0.99, 1.0], None).determined


def test_efficiency_of_a_known_model():
    # T(1) = 1 s, and T(4) = 1/4 + 2 * 2 * 0.05 + 3/4 * 0.4 = 0.75 s.
    model = Model(1e-6, 0.05, 0.4e-6)
    one, four = loads_of((1, 4))
    assert (model.seconds(one), model.seconds(four)) == pytest.approx((1.0, 0.75))
    assert model.parts(four) == pytest.approx((0.25, 0.2, 0.3))
    assert efficiency(one, 1.0, four, 0.75) == pytest.approx(1 / 3)


def test_efficiency_of_constant_work_is_the_ratio_of_times():
    assert efficiency(Load(1, 100, 0, 0), 2.0, Load(8, 100, 2, 9), 2.5) == pytest.approx(0.8)
