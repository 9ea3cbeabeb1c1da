import numpy as np
import pytest

from ogg_hpc.errors import InputError, OggError
from ogg_hpc.runtime import communicator

DTYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8]
TAILS = [(), (3,), (2, 3), (0,)]


def inputs(comm, shapes, dtype, seed=0):
    """Every rank's array, the same on all ranks; small integers, so that sums are exact."""
    arrays = []
    for rank, shape in enumerate(shapes):
        generator = np.random.default_rng([seed, rank])
        arrays.append(generator.integers(0, 30, shape).astype(dtype))
    assert len(arrays) == comm.size
    return arrays


def uneven_counts(comm):
    """3, 0, 5, 2, … rows: one of several ranks has none."""
    return [(3, 0, 5, 2)[rank % 4] for rank in range(comm.size)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["sum", "max", "min"])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (4, 3), (2, 3, 2), (0,), (0, 3)])
def test_allreduce_combines_elementwise(comm, shape, op, dtype):
    arrays = inputs(comm, [shape] * comm.size, dtype)
    expected = getattr(np, op)(np.stack(arrays), axis=0).astype(dtype)
    result = comm.allreduce(arrays[comm.rank], op)
    assert result.dtype == dtype
    assert result.shape == shape
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", [np.uint64, np.int32, np.uint8])
def test_allreduce_combines_bits(comm, dtype):
    arrays = inputs(comm, [(4, 3)] * comm.size, dtype)
    result = comm.allreduce(arrays[comm.rank], "or")
    np.testing.assert_array_equal(result, np.bitwise_or.reduce(arrays), strict=True)


@pytest.mark.parametrize("dtype", [*DTYPES, np.bool_])
@pytest.mark.parametrize("tail", TAILS)
def test_allgatherv_concatenates_in_rank_order(comm, tail, dtype):
    counts = uneven_counts(comm)
    arrays = inputs(comm, [(count, *tail) for count in counts], dtype)
    result = comm.allgatherv(arrays[comm.rank], counts)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, np.concatenate(arrays))


def test_allgatherv_of_no_rows_at_all(comm):
    assert comm.allgatherv(np.empty((0, 3)), [0] * comm.size).shape == (0, 3)


def test_allgatherv_takes_arrays_that_are_not_contiguous(comm):
    counts = uneven_counts(comm)
    arrays = inputs(comm, [(4, count) for count in counts], np.float64)
    result = comm.allgatherv(arrays[comm.rank].T[:, ::2], counts)
    np.testing.assert_array_equal(result, np.concatenate([a.T[:, ::2] for a in arrays]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("tail", TAILS)
def test_reduce_scatter_leaves_each_rank_its_rows_of_the_sum(comm, tail, dtype):
    counts = uneven_counts(comm)
    arrays = inputs(comm, [(sum(counts), *tail)] * comm.size, dtype)
    total = np.sum(arrays, axis=0).astype(dtype)
    lo = sum(counts[: comm.rank])
    result = comm.reduce_scatter(arrays[comm.rank], counts)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, total[lo : lo + counts[comm.rank]])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("tail", TAILS)
def test_alltoallv_delivers_rows_in_the_order_of_their_senders(comm, tail, dtype):
    # counts[i, j] rows go from rank i to rank j; some pairs exchange none.
    counts = np.random.default_rng(1).integers(0, 3, (comm.size, comm.size))
    arrays = inputs(comm, [(n, *tail) for n in counts.sum(axis=1)], dtype)
    parts = [
        np.split(array, np.cumsum(row)[:-1]) for array, row in zip(arrays, counts, strict=True)
    ]
    result, received = comm.alltoallv(arrays[comm.rank], counts[comm.rank])
    np.testing.assert_array_equal(received, counts[:, comm.rank])
    expected = np.concatenate([part[comm.rank] for part in parts])
    np.testing.assert_array_equal(result, expected)
    again, _ = comm.alltoallv(arrays[comm.rank], counts[comm.rank], received)
    np.testing.assert_array_equal(again, expected)


@pytest.mark.parametrize("tail", TAILS)
def test_alltoallv_delivers_while_others_are_under_way(comm, tail):
    counts = np.random.default_rng(1).integers(0, 3, (comm.size, comm.size))
    sent, came = counts[comm.rank], counts[:, comm.rank]
    arrays = [inputs(comm, [(n, *tail) for n in counts.sum(axis=1)], np.float32, i) for i in (0, 1)]
    expected = [comm.alltoallv(array[comm.rank], sent)[0] for array in arrays]
    before = comm.report()["alltoallv"]
    waits = [comm.start_alltoallv(array[comm.rank], sent, came) for array in arrays]
    comm.allreduce(np.ones(3))  # another collective meanwhile
    for wait, right in zip(reversed(waits), reversed(expected), strict=True):
        np.testing.assert_array_equal(wait(), right)
    cost = comm.report({"alltoallv": before})["alltoallv"]
    row_bytes = int(np.prod(tail, dtype=np.int64)) * 4
    assert cost["calls"] == 2
    assert cost["bytes"] == 2 * (sent.sum() - sent[comm.rank]) * row_bytes


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("step", [1, -1])
def test_sendrecv_moves_rows_round_a_ring(comm, step, tail, dtype):
    counts = uneven_counts(comm)
    arrays = inputs(comm, [(count, *tail) for count in counts], dtype)
    to, source = (comm.rank + step) % comm.size, (comm.rank - step) % comm.size
    wait = comm.start_sendrecv(arrays[comm.rank], to, counts[source], source)
    comm.allreduce(np.ones(1))  # other work meanwhile
    np.testing.assert_array_equal(wait(), arrays[source], strict=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0,)])
def test_broadcast_hands_out_the_roots_array(comm, shape, dtype):
    root = comm.size - 1
    arrays = inputs(comm, [shape] * comm.size, dtype)
    result = comm.broadcast(arrays[comm.rank], root)
    assert result.shape == shape
    np.testing.assert_array_equal(result, arrays[root])


def test_collectives_leave_their_input_alone(comm):
    mine = np.full((comm.size, 2), float(comm.rank))
    comm.allreduce(mine)
    comm.broadcast(mine)
    comm.reduce_scatter(mine, [1] * comm.size)
    np.testing.assert_array_equal(mine, np.full((comm.size, 2), float(comm.rank)))


def test_splitting_large_messages_changes_nothing(comm, monkeypatch):
    counts = uneven_counts(comm)
    arrays = inputs(comm, [(sum(counts), 3, 4)] * comm.size, np.float64)
    mine = arrays[comm.rank]
    calls = [
        lambda: comm.allreduce(mine),
        lambda: comm.broadcast(mine, comm.size - 1),
        lambda: comm.reduce_scatter(mine, counts),
        lambda: comm.reduce_scatter(mine[:, 0, :1], counts),
        lambda: comm.allreduce(mine[:0]),
    ]
    whole = [call() for call in calls]
    monkeypatch.setattr(communicator, "_MOST_ELEMENTS", 7)
    for call, expected in zip(calls, whole, strict=True):
        np.testing.assert_array_equal(call(), expected)


def test_best_gives_ties_to_the_lowest_id_over_all_ranks(comm):
    # Higher ranks hold lower ids; all scores tie.
    mine = np.arange(2)[None] + 2 * (comm.size - 1 - comm.rank)
    scores, ids, counts = comm.best(np.full((1, 2), 0.5), mine, np.array([2]))
    assert ids.tolist() == [[0, 1]]
    assert scores.tolist() == [[0.5, 0.5]]
    assert counts.tolist() == [2 * comm.size]
    assert ids.dtype == counts.dtype == np.int64


def test_best_of_fewer_than_were_asked_for_is_minus_infinity(comm):
    mine = np.array([[1.0 if comm.rank == 0 else -np.inf, -np.inf]])
    scores, ids, counts = comm.best(mine, np.array([[7, 0]]), np.array([comm.rank == 0]))
    assert scores.tolist() == [[1.0, -np.inf]]
    assert ids[0, 0] == 7
    assert counts.tolist() == [1]


@pytest.mark.parametrize("seed", range(5))
def test_best_equals_sorting_everything(comm, seed):
    groups, d = 4, 3
    generator = np.random.default_rng(seed)
    scores = generator.integers(0, 4, (comm.size, groups, d)).astype(float)
    scores[generator.random(scores.shape) < 0.2] = -np.inf
    ids = generator.permutation(scores.size).reshape(scores.shape)
    counts = generator.integers(0, 9, (comm.size, groups))
    best, chosen, total = comm.best(scores[comm.rank], ids[comm.rank], counts[comm.rank])
    for group in range(groups):
        pairs = sorted(
            zip(-scores[:, group].ravel(), ids[:, group].ravel(), strict=True),
        )[:d]
        assert list(zip(-best[group], chosen[group], strict=True)) == pairs
    np.testing.assert_array_equal(total, counts.sum(axis=0))


def test_objects_reach_every_rank(comm):
    assert comm.gather_objects({"rank": comm.rank}) == [{"rank": i} for i in range(comm.size)]
    assert comm.broadcast_object(f"rank {comm.rank}", comm.size - 1) == f"rank {comm.size - 1}"
    everyone = comm.gather_on_root({"rank": comm.rank})
    assert everyone == ([{"rank": i} for i in range(comm.size)] if comm.rank == 0 else None)
    assert comm.scatter_from_root(everyone) == {"rank": comm.rank}
    comm.barrier()


def test_split_joins_the_ranks_of_one_colour(comm):
    part = comm.split(comm.rank % 2)
    members = [rank for rank in range(comm.size) if rank % 2 == comm.rank % 2]
    assert part.size == len(members)
    assert members[part.rank] == comm.rank
    assert part.allreduce(np.array([comm.rank]))[0] == sum(members)
    assert part.device is comm.device


def test_a_part_counts_towards_the_whole(comm):
    comm.allreduce(np.ones(1))
    calls = comm.report()["allreduce"]["calls"]
    comm.split(comm.rank).allreduce(np.ones(1))
    comm.alone().allreduce(np.ones(1))
    assert comm.report()["allreduce"]["calls"] == calls + 2


def test_a_rank_alone_hears_no_other(comm):
    parts = [comm.alone() for _ in range(5000)]  # more than MPI has communicators
    own = parts[-1].allreduce(np.array([comm.rank]))
    assert (own[0], parts[-1].rank, parts[-1].size) == (comm.rank, 0, 1)
    assert parts[-1].device is comm.device


def test_bytes_are_those_of_bandwidth_optimal_algorithms(comm):
    part = comm.split(0)
    part.counts = {}
    P, rows = part.size, 5
    mine = np.ones((rows, 3), np.float32)
    all_rows = np.ones((P * rows, 3), np.float32)
    part.allreduce(all_rows)
    part.allgatherv(mine, [rows] * P)
    part.allgatherv(mine, [rows] * P)
    part.reduce_scatter(all_rows, [rows] * P)
    part.alltoallv(all_rows, [rows] * P)
    part.broadcast(all_rows)
    part.start_sendrecv(mine, (part.rank + 1) % P, rows, (part.rank - 1) % P)()
    report = part.report()
    n = all_rows.nbytes
    assert {name: count["bytes"] for name, count in report.items()} == {
        "allreduce": 2 * n * (P - 1) // P,
        "allgatherv": 2 * (n * (P - 1) // P),
        "reduce_scatter": n * (P - 1) // P,
        "alltoallv": n * (P - 1) // P,
        "broadcast": n * (P - 1) // P,
        "sendrecv": mine.nbytes if P > 1 else 0,
    }
    assert report["allgatherv"]["calls"] == 2
    assert {count["path"] for count in report.values()} == {"host"}
    assert all(count["seconds"] > 0 for count in report.values())


def test_on_root_hands_its_result_to_all(comm):
    calls = []

    def work():
        calls.append(comm.rank)
        return {"answer": np.arange(3)}

    np.testing.assert_array_equal(comm.on_root(work)["answer"], np.arange(3))
    assert calls == ([0] if comm.rank == 0 else [])


def test_on_root_hands_a_users_error_to_all(comm):
    def work():
        raise InputError("graph.txt", "no such node", 7)

    with pytest.raises(InputError, match=r"^graph\.txt:7: no such node$") as caught:
        comm.on_root(work)
    assert caught.value.collective
    assert caught.value.exit_code == 2


def test_on_root_hands_any_other_exception_to_all(comm):
    def work():
        return [][1]

    with pytest.raises(IndexError, match="list index out of range") as caught:
        comm.on_root(work)
    assert not isinstance(caught.value, OggError)
    assert caught.value.raised_on_root


def test_on_root_hands_over_exceptions_that_do_not_pickle(comm):
    class LocalError(Exception):
        pass

    def work():
        raise LocalError("mine")

    expected = LocalError if comm.size == 1 or comm.rank == 0 else RuntimeError
    with pytest.raises(expected, match="mine") as caught:
        comm.on_root(work)
    assert caught.value.raised_on_root


def test_on_root_fails_on_all_ranks_if_its_result_does_not_pickle(comm):
    if comm.size == 1:
        pytest.skip("nothing is sent on one rank")
    with pytest.raises(TypeError, match="function cannot be sent to other ranks"):
        comm.on_root(lambda: lambda: 0)


def test_on_all_raises_the_lowest_ranks_error_everywhere(comm):
    def work():
        if comm.rank >= comm.size // 2:
            raise InputError(f"part {comm.rank}", "is damaged")
        return comm.rank

    with pytest.raises(InputError, match=f"^part {comm.size // 2}: is damaged$") as caught:
        comm.on_all(work)
    assert caught.value.collective
    assert comm.on_all(lambda: comm.rank) == comm.rank


def test_no_rank_is_numbered_twice_on_a_node(comm):
    places = comm.gather_objects((comm.local_rank, comm.local_size))
    assert sorted(place for place, _ in places) == list(range(comm.size))
    assert {size for _, size in places} == {comm.size}


def test_flag_of_any_rank_is_known_to_all(comm):
    for rank in range(comm.size):
        flags = np.array([comm.rank == rank, comm.rank, 0], np.int64)
        assert comm.agree(flags).tolist() == [1, comm.size - 1, 0]
    assert comm.report()["agree"]["calls"] >= comm.size


def random_rows(comm, rows, seed):
    """Some rows of each rank, in the order of ranks: ranks, numbers there, counts."""
    generator = np.random.default_rng([comm.rank, seed])
    counts = generator.integers(0, rows + 1, comm.size)
    slots = [generator.permutation(rows)[:count] for count in counts]
    return np.repeat(np.arange(comm.size), counts), np.concatenate(slots).astype(np.int32), counts


@pytest.mark.parametrize("width", [1, 5])
def test_rows_are_read_from_any_rank(comm, width):
    window = comm.allocate_rows(4, width)
    assert not window.own.any()
    window.own[:] = 10 * comm.rank + np.arange(4)[:, None]
    comm.barrier()
    for seed in range(3):
        ranks, slots, counts = random_rows(comm, 4, seed)
        for wait in [window.start_get(slots, counts) for _ in range(2)]:
            expected = np.tile(10 * ranks + slots, (width, 1)).T
            np.testing.assert_array_equal(wait(), expected)
    comm.barrier()
    window.free()


def test_additions_of_all_ranks_add_up(comm):
    window, expected = comm.allocate_rows(4, 3), np.zeros((4, 3))
    for seed in range(3):
        ranks, slots, counts = random_rows(comm, 4, seed)
        added = np.tile(np.arange(1, 4, dtype=np.float32), (len(slots), 1))
        window.start_add(added, slots, counts)()
        for their_ranks, their_slots in comm.gather_objects((ranks, slots)):
            expected[their_slots[their_ranks == comm.rank]] += np.arange(1, 4)
    comm.barrier()
    np.testing.assert_array_equal(window.own, expected)
    window.free()


def test_calls_on_windows_count_what_crosses_ranks(comm):
    if comm.size == 1:
        pytest.skip("nothing crosses")
    window = comm.allocate_rows(2, 3)
    before = comm.report()
    slots, counts = np.tile(np.arange(2, dtype=np.int32), comm.size), np.full(comm.size, 2)
    window.start_add(window.start_get(slots, counts)(), slots, counts)()
    cost = comm.report(before)
    for name in ("get", "accumulate"):
        assert cost[name]["calls"] == 1
        assert cost[name]["bytes"] == (comm.size - 1) * 2 * 12
    comm.barrier()
    window.free()
