"""A study's counts of steps of an embedding on several ranks."""

import pytest

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.scaling.embedding import Embedding
from ogg_hpc.scaling.measure import measure
from ogg_hpc.scaling.points import Point
from ogg_hpc.scaling.study import Case

GRAPH = "ba:n=400,d=4,seed=1"
SMALL = ("method=app", "walks=8", "batch_pairs=300", "dim=64", "shared_negatives=4")


def point(comm, *overrides, steps=3, scaling="strong", graph=GRAPH):
    case = Case(
        kind="embedding", graph=GRAPH, scaling=scaling, steps=steps, overrides=SMALL + overrides
    )
    return Point(study="small", case=case, ranks=comm.size, graph=graph)


@pytest.mark.parametrize("strategy", ["simple", "partitioned", "dot", "rotate"])
def test_a_step_sends_about_what_the_strategy_should(comm, strategy):
    record = measure(comm, point(comm, f"strategy={strategy}"))
    assert record.engine == strategy
    assert (record.nodes, record.entries) == (400, 2 * record.edges)
    # An epoch is too short for a whole window of rotate.
    assert record.steps == (11 if strategy == "rotate" else 3)
    assert (record.traffic["paper"] == 0) == (comm.size == 1)
    if comm.size > 1:
        # Pairs, ids and the losses of batches come on top.
        assert 0.8 < record.bytes / record.traffic["paper"] < 2


def test_partitioned_sends_less_than_simple(comm):
    sent = {
        strategy: measure(comm, point(comm, f"strategy={strategy}")).bytes
        for strategy in ("simple", "partitioned")
    }
    assert sent["partitioned"] <= 0.7 * sent["simple"]


def test_steps_begin_again_when_an_epoch_ends(comm):
    work = Embedding(comm, point(comm), Clock(comm, "graph", "setup"))
    assert {work.run(4).steps for _ in range(4)} == {4}


def test_batches_grow_with_the_graph(comm):
    grown = f"ba:n={400 * comm.size},d=4,seed=1"
    work = Embedding(comm, point(comm, scaling="weak", graph=grown), Clock(comm, "graph", "setup"))
    assert work.nodes == 400 * comm.size
    with pytest.raises(SettingsError, match="has 11 batches, and 12 steps"):
        work.run(12)
