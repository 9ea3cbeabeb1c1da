"""Rotation trains the vectors of a plain schedule of blocks, on every number of ranks."""

import dataclasses

import numpy as np
import pytest
from embedding_epochs import (
    BATCH_ITEMS,
    BATCHES,
    EPOCH,
    ITEMS,
    WINDOW,
    gathered,
    learning_rates,
    make_model,
    make_strategy,
    pairs_of_items,
    train,
)
from plain_rotation import train_by_blocks

from ogg_hpc.embedding.objective import SGNS
from ogg_hpc.embedding.sampling.pairs import Pairs
from ogg_hpc.embedding.window import make_window, share_of
from ogg_hpc.errors import SettingsError

RATE = float(learning_rates()[0])


class OwnSGNS(SGNS):
    """An objective that no compiled code knows of."""


def rotation(comm, model, parts=4, **settings):
    return make_strategy(comm, "rotate", model, parts=parts, learning_rate=RATE, **settings)


def windows(n):
    """First batch, (sources, contexts) of all items in order, and learning rates."""
    for first in range(0, BATCHES, WINDOW):
        batches = min(WINDOW, BATCHES - first)
        items = range(first * BATCH_ITEMS, min((first + batches) * BATCH_ITEMS, ITEMS))
        pairs = np.concatenate([pairs_of_items(n)[item] for item in items])
        yield first, pairs, learning_rates()[first : first + batches]


# Steps of one pair, of some, and of as many as there may be; parts without nodes.
@pytest.mark.parametrize(("n", "row_limit"), [(23, 0.1), (23, 5.0), (23, 1e9), (3, 0.1), (3, 2.0)])
@pytest.mark.parametrize("shared_negatives", [0, 3])
@pytest.mark.parametrize("parts", [4, 5, 7])
def test_rotation_equals_a_plain_schedule_of_blocks(comm, n, parts, shared_negatives, row_limit):
    model = make_model(n=n, shared_negatives=shared_negatives, row_limit=row_limit)
    strategy = rotation(comm, model, parts)
    losses = train(comm, strategy, n)
    X, Y, loss = train_by_blocks(model, parts, EPOCH, windows(n), RATE)
    assert losses[:, 1].sum() == sum(len(pairs) for _, pairs, _ in windows(n))
    np.testing.assert_allclose(losses[:, 0].sum(), loss, rtol=1e-5)
    for matrix, right in (("vectors", X), ("context", Y)):
        rows = gathered(strategy, matrix, n)
        if comm.rank == 0:
            np.testing.assert_allclose(rows, right, atol=1e-5)


@pytest.mark.parametrize("own_objective", [False, True])
def test_rotation_gives_the_same_bits_on_every_number_of_ranks(comm, alone, own_objective):
    model = make_model(row_limit=2.0)
    if own_objective:
        model = dataclasses.replace(model, objective=OwnSGNS())
    together, single = rotation(comm, model, 6), rotation(alone, model, 6)
    train(comm, together, model.n)
    train(alone, single, model.n)
    for matrix in ("vectors", "context"):
        rows, right = (gathered(strategy, matrix, model.n) for strategy in (together, single))
        if comm.rank == 0:
            np.testing.assert_array_equal(rows, right)


def test_parts_change_results_and_ranks_do_not(comm):
    model = make_model()
    few, many = (rotation(comm, model, parts) for parts in (4, 8))
    for strategy in few, many:
        train(comm, strategy, model.n)
    rows = [gathered(strategy, "vectors", model.n) for strategy in (few, many)]
    if comm.rank == 0:
        assert not np.allclose(*rows, atol=1e-3)


def test_traffic_of_a_window_is_all_rows_of_contexts_whatever_the_pairs(comm):
    model = make_model(n=23, dim=5)
    strategy = rotation(comm, model)
    before = comm.report().get("sendrecv", {"bytes": 0})["bytes"]
    train(comm, strategy, model.n)
    sent = comm.report()["sendrecv"]["bytes"] - before
    rotations = len(list(windows(model.n)))
    crossing = comm.size > 1
    assert sent == 4 * 5 * 23 * rotations * crossing  # 4DN a rank and rotation
    report = strategy.traffic.report(comm)
    moved = report["kinds"]["context_moved"]
    assert moved["bytes"] == comm.size * sent
    assert report["formula"]["counted_bytes"] == report["formula"]["predicted_bytes"]
    assert report["formula"]["counted_bytes"] == moved["bytes"]
    drawn = sum(len(pairs) for _, pairs, _ in windows(model.n))
    assert report["kinds"]["pairs"]["count"] == drawn
    assert (report["kinds"]["pairs"]["bytes"] > 0) == crossing


def test_restored_rows_are_gathered_as_they_were(comm):
    model = make_model()
    strategy = rotation(comm, model)
    rows = np.random.default_rng(0).standard_normal((model.n, model.dim)).astype(np.float32)
    for matrix in ("vectors", "context"):
        strategy.restore(matrix, 0, model.n, rows if comm.rank == 0 else None)
        found = gathered(strategy, matrix, model.n)
        if comm.rank == 0:
            np.testing.assert_array_equal(found, rows)


def test_windows_may_have_no_pairs(comm):
    model = make_model()
    strategy = rotation(comm, model)
    share = share_of(strategy.layout.worker, comm.size, 0, 1, 3, 3)
    none = np.empty(0, np.int32)
    pairs = Pairs(none, none, np.zeros(len(share.items), np.int64))
    losses = strategy.train(make_window(0, share, pairs, np.array([0.1])))
    assert losses.tolist() == [[0, 0]]


def test_rotation_refuses_tied_vectors_and_names_the_remedy(comm):
    with pytest.raises(SettingsError, match="use --order second, or another --strategy"):
        rotation(comm, make_model(tied=True))


def test_rotation_refuses_more_ranks_than_parts(comm):
    if comm.size == 1:
        pytest.skip("one rank is never too many")
    with pytest.raises(SettingsError, match=rf"too few for {comm.size} ranks.*--parts {comm.size}"):
        rotation(comm, make_model(), parts=comm.size - 1)


@pytest.mark.parametrize("settings", [{"staleness": 1}, {"exchange": "onesided"}])
def test_rotation_refuses_settings_of_pulls_and_pushes(comm, settings):
    with pytest.raises(SettingsError, match="rotate pulls and pushes no rows"):
        rotation(comm, make_model(), **settings)


def test_rotation_refuses_servers(comm):
    if comm.size == 1:
        pytest.skip("one rank cannot be a server alone")
    with pytest.raises(SettingsError, match="rotate pulls and pushes no rows"):
        rotation(comm, make_model(), servers=1)
