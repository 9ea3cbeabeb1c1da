"""What rounds have cost, and what more actors would give."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.actors.throughput import PARTS, Throughput, throughput_of
from ogg_hpc.actors.throughput_model import ThroughputModel, fit_throughput
from ogg_hpc.errors import InputError


def point(actors, seconds, learn=0.0, steps=100.0, seed=0):
    return Throughput(actors, seed, 3, steps, seconds, learn, seconds - learn, 0.0, 0.0)


def test_rounds_after_the_first_are_averaged(tmp_path):
    lines = [
        {"step": 10, "seconds": 7.0, "spent": dict.fromkeys(PARTS, 9.0)},
        {"step": 20, "seconds": 8.0, "spent": dict(zip(PARTS, (0.1, 0.6, 0.2, 0.1), strict=True))},
        {"step": 40, "seconds": 11.0, "spent": dict(zip(PARTS, (0.3, 2.4, 0.0, 0.3), strict=True))},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "metrics.jsonl").write_text(text, encoding="utf-8")
    found = throughput_of(tmp_path, actors=4, seed=1)
    assert (found.actors, found.seed, found.rounds) == (4, 1, 2)
    assert (found.steps, found.seconds, found.rate) == (15.0, 2.0, 7.5)
    parts = found.learn, found.collect, found.wait, found.broadcast
    assert parts == pytest.approx((0.2, 1.5, 0.1, 0.2))


def test_one_round_is_too_few(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "seconds": 1.0}\n', encoding="utf-8")
    with pytest.raises(InputError, match="two rounds"):
        throughput_of(tmp_path, actors=1, seed=0)


@settings(max_examples=30)
@given(
    learn=st.floats(0.01, 10),
    collect=st.floats(0.1, 1000),
    overhead=st.floats(1e-4, 1),
    numbers=st.sets(st.integers(1, 256), min_size=2, max_size=6),
)
def test_known_parameters_are_found_again(learn, collect, overhead, numbers):
    known = ThroughputModel(100.0, learn, collect, overhead)
    points = [point(n, 100.0 / known.rate(n), learn) for n in numbers]
    found = fit_throughput(points)
    for n in numbers:
        assert found.rate(n) == pytest.approx(known.rate(n), rel=1e-6)
    assert found.learn == pytest.approx(learn)


def test_a_model_peaks_where_its_derivative_is_zero():
    # Of the form of a published decline past 67 actors: sqrt(T_C / c) = 67.
    model = ThroughputModel(2048.0, 1.0, 7.3, 7.3 / 67**2)
    assert model.peak == pytest.approx(67)
    assert model.rate(67) > max(model.rate(66), model.rate(68))
    assert model.limit == 2048
    assert all(model.rate(n) < model.bound(n) < model.limit for n in (1, 10, 1000))


def test_one_number_of_actors_tells_no_overhead():
    found = fit_throughput([point(2, 5.0, 1.0), point(2, 5.0, 1.0, seed=1)])
    assert (found.learn, found.collect, found.overhead) == pytest.approx((1.0, 8.0, 0.0))
    assert math.isinf(found.peak)


def test_each_of_the_recommended_actors_does_half_of_what_one_does():
    model = ThroughputModel(100.0, 1.0, 9.5, 0.0)
    best = model.worthwhile()
    alone = model.rate(1)
    assert model.rate(best) >= 0.5 * best * alone
    assert model.rate(best + 1) < 0.5 * (best + 1) * alone
    # T(n) = 1 + 9.5 / n is at most 2 T(1) / n = 21 / n up to n = 11.5.
    assert best == 11
