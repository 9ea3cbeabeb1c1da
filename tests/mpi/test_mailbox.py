"""Messages between ranks that do not wait for one another."""

import resource
import time

import numpy as np
import pytest

LARGE = 8 << 20


@pytest.fixture
def mailbox(comm):
    mailbox = comm.mailbox()
    yield mailbox
    mailbox.close()


def fetch(mailbox, number):
    """Return so many messages, by sender."""
    found, deadline = {}, time.monotonic() + 60
    while sum(map(len, found.values())) < number:
        for rank, data in mailbox.arrived(0.1):
            found.setdefault(rank, []).append(data)
        assert time.monotonic() < deadline
    return found


def content(sender, receiver, length):
    return np.random.default_rng([sender, receiver, length]).bytes(length)


def others(comm):
    return [rank for rank in range(comm.size) if rank != comm.rank]


def test_nothing_comes_where_nothing_was_sent(mailbox):
    assert mailbox.arrived() == []
    assert mailbox.arrived(0.01) == []


@pytest.mark.parametrize("length", [0, 1, 1000, LARGE])
def test_messages_arrive_as_they_were_sent(comm, mailbox, length):
    for rank in others(comm):
        mailbox.post(rank, content(comm.rank, rank, length))
    found = fetch(mailbox, comm.size - 1)
    assert found == {rank: [content(rank, comm.rank, length)] for rank in others(comm)}


def test_messages_of_one_rank_keep_their_order_whatever_their_size(comm, mailbox):
    lengths = [5, LARGE, 1, 70_000, 0, LARGE // 2, *range(20)]
    for length in lengths:
        for rank in others(comm):
            mailbox.post(rank, content(comm.rank, rank, length))
    found = fetch(mailbox, len(lengths) * (comm.size - 1))
    assert found == {
        rank: [content(rank, comm.rank, length) for length in lengths] for rank in others(comm)
    }


def test_many_small_messages_arrive(comm, mailbox):
    number = 1000
    for i in range(number):
        for rank in others(comm):
            mailbox.post(rank, i.to_bytes(4))
    found = fetch(mailbox, number * (comm.size - 1))
    wanted = [i.to_bytes(4) for i in range(number)]
    assert found == dict.fromkeys(others(comm), wanted)


def test_a_rank_at_other_work_keeps_nobody_waiting(comm, mailbox):
    if comm.size == 1:
        pytest.skip("needs two ranks")
    if comm.rank == 0:
        start = time.monotonic()
        for rank in others(comm):
            mailbox.post(rank, bytes(LARGE))
        assert time.monotonic() - start < 1
    comm.barrier()  # rank 0 looks at its mailbox no earlier than here
    if comm.rank == 0:
        fetch(mailbox, comm.size - 1)
    else:
        fetch(mailbox, 1)
        mailbox.post(0, b"got it")


def test_messages_do_not_meet_the_collectives_of_others(comm, mailbox):
    for rank in others(comm):
        mailbox.post(rank, b"letter")
    assert comm.allreduce(np.ones(3)).tolist() == [comm.size] * 3
    assert comm.gather_objects(comm.rank) == list(range(comm.size))
    assert fetch(mailbox, comm.size - 1) == {rank: [b"letter"] for rank in others(comm)}


@pytest.mark.parametrize("length", [10, LARGE])
def test_close_throws_away_what_nobody_has_fetched(comm, length):
    for _ in range(3):
        mailbox = comm.mailbox()
        for rank in others(comm):
            mailbox.post(rank, bytes(length))
        mailbox.close()
    mailbox = comm.mailbox()
    assert mailbox.arrived(0.02) == []
    mailbox.close()


def test_a_waiting_rank_hardly_uses_its_core(mailbox):
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.monotonic()
    mailbox.arrived(1.0)
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    assert time.monotonic() - start >= 1
    assert seconds < 0.2


def test_no_request_is_left_when_all_has_arrived(comm, mailbox):
    for _ in range(50):
        for rank in others(comm):
            mailbox.post(rank, bytes(100_000))
    fetch(mailbox, 50 * (comm.size - 1))
    deadline = time.monotonic() + 60
    while mailbox.pending and time.monotonic() < deadline:
        mailbox.arrived(0.01)
    assert mailbox.pending == 0
