import pytest

from ogg_hpc.scaling.network import Network, measured_network
from ogg_hpc.scaling.outlook import outlook
from ogg_hpc.scaling.study import Case

STRONG = Case(name="search", graph="er:n=1000,p=0.1")
NETWORK = Network(1e-3, 1e-9, "measured")


def test_a_perfect_machine_predicts_perfect_speed_up(record):
    records = [record(p, 1 / p, collectives={}, traffic={"message": 0, "unit": "nodes"})
               for p in (1, 2)]  # fmt: skip
    predictions = outlook(STRONG, records, [1, 2, 4096], Network(0, 0, "none")).predictions
    assert [each.speed_up for each in predictions] == pytest.approx([1, 2, 4096])
    assert [each.efficiency for each in predictions] == pytest.approx([1, 1, 1])


def test_bytes_beyond_are_those_counted_and_grow_by_their_formulas(record):
    # 8,000 bytes are gathered by all, and each rank sends 24 to each other one.
    def sent(p):
        return {"allgatherv": {"calls": 2, "bytes": 8000 * (p - 1) / p + 24 * (p - 1)}}

    records = [record(p, 1.0, collectives=sent(p)) for p in (1, 2)]
    slow = Network(0.0, 1.0, "given")
    [prediction] = outlook(STRONG, records, [64], NETWORK, slow).predictions
    assert prediction.seconds * prediction.bytes == pytest.approx(8000 * 63 / 64 + 24 * 63)


@pytest.mark.parametrize(
    ("unit", "strong", "weak"), [("entries", 1.0, 64.0), ("share", 1 / 64, 1.0)]
)
def test_bytes_of_pairs_grow_with_all_pairs_or_with_those_of_a_rank(record, unit, strong, weak):
    traffic = {"message": 0, "unit": unit}

    def sent(p):
        share = 1 if unit == "entries" else 1 / p
        return {"exchange": {"calls": 2, "bytes": 8000 * share * (p - 1) / p}}

    records = [record(p, 1.0, collectives=sent(p), traffic=traffic) for p in (1, 2)]
    slow = Network(0.0, 1.0, "given")
    for scaling, amount in (("strong", strong), ("weak", weak)):
        case = Case(name="search", scaling=scaling, graph="er:n=1000,p=0.1")
        [prediction] = outlook(case, records, [64], NETWORK, slow).predictions
        found = prediction.seconds * prediction.bytes
        assert found == pytest.approx(8000 * amount * 63 / 64)


def test_a_modelled_network_replaces_the_measured_one_beyond(record):
    records = [record(p, 1 / p) for p in (1, 2)]
    as_measured = outlook(STRONG, records, [64], NETWORK)
    modelled = outlook(STRONG, records, [64], NETWORK, Network(1e-6, 1e-11, "given"))
    assert modelled.fit == as_measured.fit
    assert modelled.network.source == "given"
    assert modelled.predictions[0].latency < as_measured.predictions[0].latency


@pytest.mark.parametrize(("grows", "expected"), [("entries", 1.0), ("nodes", 16.0)])
def test_the_work_of_a_rank_grows_as_the_study_says(record, grows, expected):
    case = Case(name="search", scaling="weak", grows=grows, graph="er:n=1000,p=0.1")
    free = Network(0, 0, "none")
    first, last = outlook(case, [record(1), record(2)], [1, 16], free).predictions
    assert last.seconds / first.seconds == pytest.approx(expected)
    assert last.efficiency == pytest.approx(1)


def test_points_with_more_ranks_than_cores_have_no_part(record):
    crowded = [{"host": "n1", "ranks": 4, "cores": 2, "gpus": 0, "load": 0.5}]
    fair = [record(1, 1.0), record(2, 0.5)]
    assert outlook(STRONG, [*fair, record(4, 9.0, hosts=crowded)], [8], NETWORK) == outlook(
        STRONG, fair, [8], NETWORK
    )
    assert outlook(STRONG, [record(1), record(4, 9.0, hosts=crowded)], [8], NETWORK) is None


@pytest.mark.parametrize("points", [((1, 1.0), (2, 1e-9)), ((2, 1e-9), (4, 1e-9))])
def test_no_model_of_steps_that_communication_alone_would_explain(record, points):
    assert outlook(STRONG, [record(*point) for point in points], [1, 8], NETWORK) is None


def test_three_points_determine_a_network_of_their_own(record):
    # T(P) = 1/P + 0.01 * 2 log2 P + 1e-5 B(P)
    records = [
        record(p, 1 / p + 0.02 * doublings + 1e-5 * 8000 * (p - 1) / p)
        for doublings, p in enumerate((1, 2, 4, 8))
    ]
    found = outlook(STRONG, records, [16], NETWORK)
    assert found.fit.determined
    assert found.network.source == "fitted"
    assert found.network.latency == pytest.approx(0.01)
    assert found.network.per_byte == pytest.approx(1e-5)


def test_pings_tell_latency_a_doubling_and_seconds_a_byte():
    # On 4 ranks two doublings, and 12 MB that a rank sends in an Allreduce of 8 MB.
    network = measured_network([(1, {}), (4, {"8": 2e-5, "8000000": 2e-5 + 12e-3})])
    assert network.latency == pytest.approx(1e-5)
    assert network.per_byte == pytest.approx(1e-9)
    assert measured_network([(1, {})]) is None
