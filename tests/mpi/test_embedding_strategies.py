"""All strategies train the same vectors, on every number of ranks."""

import dataclasses

import numpy as np
import plain_embedding
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

from ogg_hpc.errors import SettingsError

ONE_SIDED = {"exchange": "onesided"}
STRATEGIES = ("simple", "partitioned", "dot")


def plainly(model, staleness=0):
    batches = []
    for batch in range(BATCHES):
        items = np.arange(batch * BATCH_ITEMS, min((batch + 1) * BATCH_ITEMS, ITEMS))
        drawn = [pairs_of_items(model.n)[item] for item in items]
        nodes = np.concatenate(drawn)
        places = np.concatenate([np.arange(len(item)) for item in drawn])
        of_items = np.repeat(items, [len(item) for item in drawn])
        batches.append((nodes[:, 0], nodes[:, 1], of_items, places))
    counts = [len(batch[0]) for batch in batches]
    return (
        *plain_embedding.train(model, EPOCH, batches, learning_rates(), staleness, WINDOW),
        counts,
    )


def check(comm, name, model, staleness=0, **settings):
    strategy = make_strategy(comm, name, model, staleness=staleness, **settings)
    losses = train(comm, strategy, model.n)
    X, Y, right_losses, counts = plainly(model, staleness)
    np.testing.assert_allclose(losses[:, 0], right_losses, rtol=1e-5)
    assert losses[:, 1].tolist() == counts
    rights = {"vectors": X} if model.tied else {"vectors": X, "context": Y}
    for matrix, right in rights.items():
        rows = gathered(strategy, matrix, model.n)
        if comm.rank == 0:
            np.testing.assert_allclose(rows, right, atol=1e-5)
        else:
            assert rows is None
    return strategy


@pytest.mark.parametrize("staleness", [0, 1])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("shared_negatives", [0, 7])
@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_equals_plain_descent(comm, name, shared_negatives, tied, staleness):
    model = make_model(tied=tied, shared_negatives=shared_negatives)
    check(comm, name, model, staleness)


@pytest.mark.parametrize("name", STRATEGIES)
def test_steps_of_hubs_are_bounded_over_all_ranks(comm, name):
    model = make_model(row_limit=0.5)
    unbounded = dataclasses.replace(model, row_limit=1e9)
    assert not np.allclose(plainly(model)[0], plainly(unbounded)[0], atol=1e-2)
    check(comm, name, model)


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_ranks_may_have_no_rows_columns_or_pairs(comm, name, n):
    check(comm, name, make_model(n=n, dim=1, row_limit=0.3))


@pytest.mark.parametrize("staleness", [0, 1])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("name", STRATEGIES)
def test_servers_may_hold_rows_alone(comm, name, tied, staleness):
    for servers in range(1, comm.size):
        strategy = check(comm, name, make_model(tied=tied), staleness, servers=servers)
        assert strategy.layout.worker == (comm.rank if comm.rank < comm.size - servers else None)


def test_servers_leave_a_rank_to_compute(comm):
    with pytest.raises(SettingsError, match=f"none of {comm.size} ranks to sample and compute"):
        make_strategy(comm, "simple", make_model(), servers=comm.size)


@pytest.mark.parametrize(
    ("name", "settings"), [*((name, {}) for name in STRATEGIES), ("simple", ONE_SIDED)]
)
def test_restored_rows_are_gathered_as_they_were(comm, name, settings):
    model = make_model()
    strategy = make_strategy(comm, name, model, servers=comm.size // 2, **settings)
    generator = np.random.default_rng(0)
    for matrix in ("vectors", "context"):
        rows = generator.random((model.n, model.dim)).astype(np.float32)
        for lo in range(0, model.n, 6):
            hi = min(lo + 6, model.n)
            strategy.restore(matrix, lo, hi, rows[lo:hi] if comm.rank == 0 else None)
        again = gathered(strategy, matrix, model.n)
        if comm.rank == 0:
            np.testing.assert_array_equal(again, rows)
    strategy.free()


def losses_of_epochs(comm, name, **settings):
    model = make_model(negative=2, shared_negatives=5)
    strategy = make_strategy(comm, name, model, **settings)
    losses = [train(comm, strategy, model.n, epoch, scale=0.5)[:, 0].sum() for epoch in range(10)]
    strategy.free()
    return losses


@pytest.mark.parametrize(("name", "staleness"), [("simple", 0), ("partitioned", 1)])
def test_one_sided_exchanges_learn_as_well(comm, alone, name, staleness):
    exact = losses_of_epochs(alone, name)
    loose = losses_of_epochs(comm, name, staleness=staleness, **ONE_SIDED)
    assert loose[0] > 1.2 * loose[-1]
    assert loose[-1] == pytest.approx(exact[-1], rel=0.05)


class Counted:
    """A window of MPI that notes its operations: with whom, and on how many rows."""

    def __init__(self, window):
        self._window, self.calls = window, []

    def Get(self, here, target, there):  # noqa: N802
        self.calls.append(("get", target, here[1]))
        self._window.Get(here, target, there)

    def Accumulate(self, here, target, there, op):  # noqa: N802
        self.calls.append(("add", target, here[1]))
        self._window.Accumulate(here, target, there, op)

    def __getattr__(self, name):
        return getattr(self._window, name)


def test_a_batch_takes_one_operation_on_each_owner_of_its_rows(comm):
    if comm.size == 1:
        pytest.skip("nothing crosses")
    model = make_model()
    strategy = make_strategy(comm, "simple", model, **ONE_SIDED)
    windows = []
    for table in strategy.tables.values():
        table._window._window = Counted(table._window._window)
        windows.append(table._window._window)
    train(comm, strategy, model.n)
    for window, matrix in zip(windows, strategy.tables, strict=True):
        for what, kind in (("get", "pulled"), ("add", "pushed")):
            calls = [call for call in window.calls if call[0] == what]
            assert len(calls) <= BATCHES * comm.size
            rows = sum(rows for _, _, rows in calls)
            assert rows == strategy.traffic.kinds[f"{matrix}_{kind}"].count
            assert rows > len(calls)
    strategy.free()


def test_columns_have_no_one_sided_form(comm):
    with pytest.raises(SettingsError, match="dot exchanges no rows"):
        make_strategy(comm, "dot", make_model(), **ONE_SIDED)
