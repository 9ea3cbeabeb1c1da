"""What strategies send, beside what the literature promises."""

import numpy as np
import pytest

from ogg_hpc.embedding.model import Model
from ogg_hpc.embedding.negatives import NegativeSampler
from ogg_hpc.embedding.objective import SGNS
from ogg_hpc.embedding.sampling.pairs import Pairs
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.strategies.registry import strategy_class
from ogg_hpc.embedding.window import make_window, share_of
from ogg_hpc.runtime.clock import Clock

N, DIM, BATCHES, BATCH_PAIRS, NEGATIVE = 20_000, 16, 3, 2000, 5


def model(shared_negatives):
    sampler = NegativeSampler(np.ones(N), 0.75, seed=1)
    return Model(N, DIM, False, SGNS(), sampler, NEGATIVE, shared_negatives, 1.0, seed=1)


def edges():
    """Pairs of which each is an item; some nodes are more frequent."""
    nodes = np.random.default_rng(0).random((BATCHES * BATCH_PAIRS, 1, 2)) ** 1.5 * N
    return nodes.astype(np.int32)


def walks():
    """Items of 200 pairs of 20 nodes."""
    generator = np.random.default_rng(0)
    walks = BATCHES * BATCH_PAIRS // 200
    nodes = generator.integers(0, N, (walks, 20, 1))
    places = generator.integers(0, 20, (walks, 400, 1))
    return np.take_along_axis(nodes, places, axis=1).reshape(walks, 200, 2).astype(np.int32)


def train(comm, name, shared_negatives=20, drawn=edges, **settings):
    """Train pairs in batches of whole items; return the traffic."""
    kind = strategy_class(name)
    strategy = kind(
        comm,
        model(shared_negatives),
        EmbedSettings(strategy=name, dim=DIM, **settings),
        Clock(comm, *kind.phases),
    )
    layout, items = strategy.layout, drawn()
    batch_items, pairs_each = len(items) // BATCHES, items.shape[1]
    share = share_of(layout.worker, len(layout.workers), 0, BATCHES, batch_items, len(items))
    nodes = items[share.items].reshape(-1, 2)
    pairs = Pairs(nodes[:, 0], nodes[:, 1], np.full(len(share.items), pairs_each))
    strategy.train(make_window(0, share, pairs, np.full(BATCHES, 0.025)))
    report = strategy.traffic.report(comm)
    strategy.free()
    return report


def rows(report):
    kinds = [report["kinds"].get(f"{m}_{w}") for m in MATRICES for w in ("pulled", "pushed")]
    return sum(kind["crossed"] for kind in kinds if kind)


MATRICES = ("vectors", "context")


@pytest.mark.parametrize("exchange", ["alltoallv", "onesided"])
def test_partitioned_sends_half_as_many_rows_as_simple(comm, exchange):
    simple, partitioned = (
        rows(train(comm, s, exchange=exchange)) for s in ("simple", "partitioned")
    )
    if comm.size == 1:
        assert simple == partitioned == 0
    else:
        assert partitioned / simple == pytest.approx(0.5, abs=0.03)


def test_pairs_of_walks_are_better_left_together_by_many_workers(comm):
    simple, partitioned = (rows(train(comm, s, drawn=walks)) for s in ("simple", "partitioned"))
    if comm.size == 2:
        assert 0.7 * simple < partitioned < simple
    elif comm.size == 4:
        assert partitioned > 1.2 * simple


def test_without_shared_negatives_partitioned_saves_little(comm):
    if comm.size == 1:
        pytest.skip("nothing crosses")
    simple, partitioned = (rows(train(comm, s, 0)) for s in ("simple", "partitioned"))
    assert 0.75 < partitioned / simple < 0.95
    assert simple > 2 * rows(train(comm, "simple"))


@pytest.mark.parametrize("servers", [0, 1])
@pytest.mark.parametrize(
    ("name", "paper"), [("simple", "4mD"), ("partitioned", "2mD"), ("dot", "4m")]
)
def test_what_is_sent_is_what_the_formula_says(comm, name, paper, servers):
    if servers >= comm.size:
        pytest.skip("needs a worker")
    report = train(comm, name, servers=servers)
    formula = report["formula"]
    assert formula["paper"] == paper
    if comm.size == 1:
        assert (formula["counted_bytes"], formula["ratio"]) == (0, None)
    else:
        assert formula["ratio"] == pytest.approx(1, abs=1e-9 if name == "dot" else 0.05)


def test_formulas_are_those_of_distinct_rows_and_of_scores(comm):
    alone = {name: train(comm.alone(), name)["kinds"] for name in ("simple", "dot")}
    sources, contexts = (alone["simple"][f"{m}_pulled"]["count"] for m in MATRICES)
    simple = train(comm, "simple")["kinds"]
    # A row is wanted by each worker that meets it.
    for matrix, distinct in zip(MATRICES, (sources, contexts), strict=True):
        pulled, pushed = (simple[f"{matrix}_{what}"] for what in ("pulled", "pushed"))
        assert pulled == pushed
        assert distinct <= pulled["count"] <= comm.size * distinct
        assert pulled["bytes"] == 4 * DIM * pulled["crossed"]
    # A source meets the shared negatives once, each pair its own.
    numbers = BATCHES * BATCH_PAIRS + 20 * sources
    dot = train(comm, "dot")["kinds"]
    assert dot["dots"]["count"] == dot["slopes"]["count"] == comm.size * numbers
    assert dot["dots"]["crossed"] == dot["slopes"]["crossed"] == (comm.size - 1) * numbers
    own = train(comm, "dot", 0)["kinds"]["dots"]["count"]
    assert own == comm.size * BATCHES * BATCH_PAIRS * (1 + NEGATIVE)


@pytest.mark.parametrize("name", ["simple", "partitioned"])
def test_counts_of_traffic_are_those_of_the_communicator(comm, name):
    before = comm.report()
    report = train(comm, name)
    cost = comm.report(before).get("alltoallv", {"bytes": 0})["bytes"]
    # Besides, it is told how much comes: once for pairs or vectors, and once for contexts.
    numbers = 8 * BATCHES * (comm.size - 1) * 2
    sent = sum(kind["bytes"] for kind in report["kinds"].values())
    assert sum(comm.gather_objects(cost - numbers)) == sent


@pytest.mark.parametrize("name", ["simple", "partitioned"])
def test_frequent_nodes_of_neighbouring_ids_are_spread_evenly(comm, name):
    report = train(comm, name)
    computed, served = report["computed"], report["served"]
    assert computed["mean"] == pytest.approx(BATCHES * BATCH_PAIRS / comm.size)
    assert 1 <= computed["imbalance"] < 1.1
    assert (served["mean"] > 0) == (comm.size > 1)  # a rank that is alone serves nobody
    assert 1 <= served["imbalance"] < 1.1
