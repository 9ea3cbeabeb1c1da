"""A learner and its remote hosts, whatever happens to them and to the controller between them."""

import os
import signal
import time
from pathlib import Path

import pytest
from plain_host import hello
from remote_learner import LIMIT
from tcp_proxy import TCPProxy

SIZES = (0, 1, 100, 1 << 18, (1 << 18) + 1, 5 << 20)


def received(learner, connection, count):
    """Return the next messages that a host of this process hears."""
    heard = []

    def complete():
        heard.extend(connection.received())
        return len(heard) >= count

    learner.until(complete)
    return heard


def test_messages_of_any_size_come_whole_and_in_order_both_ways(start_learner, join):
    learner = start_learner()
    hosts = [join(learner, hello()) for _ in range(3)]
    messages = [os.urandom(size) for size in SIZES]
    for _, number in hosts:
        for message in messages:
            learner.transport.send(number, message)
    for connection, number in hosts:
        assert received(learner, connection, len(messages)) == messages
        for message in messages:
            connection.send(message)
        learner.until(lambda number=number: len(learner.said[number]) == len(messages))
        assert learner.said[number] == messages
    assert learner.gone == []


@pytest.mark.parametrize("fault", ["killed", "stopped", "cut off", "slow"])
def test_a_host_that_fails_is_found_and_the_others_stay(start_learner, join, start_host, fault):
    learner = start_learner()
    other, number = join(learner, hello())
    with TCPProxy(learner.port) as proxy:
        process = start_host(learner, proxy.address)
        learner.until(lambda: len(learner.hellos) == 2)
        (failing,) = set(learner.hellos) - {number}
        if fault == "killed":
            process.kill()
        elif fault == "stopped":
            os.kill(process.pid, signal.SIGSTOP)
        elif fault == "cut off":
            proxy.rate = 0
        else:
            learner.transport.send(failing, bytes(1 << 20))  # it is echoed
            proxy.rate = 1000
        seconds = learner.until(lambda: learner.gone)
        assert learner.gone == [failing]
        assert seconds < 10
        learner.transport.send(failing, b"to nobody")
        learner.transport.send(number, b"still here?")
        assert received(learner, other, 1) == [b"still here?"]


def test_a_host_that_was_stopped_hears_that_it_is_gone(start_learner, start_host):
    learner = start_learner()
    process = start_host(learner)
    learner.until(lambda: learner.hellos)
    os.kill(process.pid, signal.SIGSTOP)
    learner.until(lambda: learner.gone)
    os.kill(process.pid, signal.SIGCONT)
    assert process.wait(30) == 0


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGSTOP])
def test_a_controller_that_fails_is_started_again_where_it_was(start_learner, join, by):
    learner = start_learner()
    address = learner.address
    connections = [join(learner, hello()) for _ in range(2)]
    os.kill(learner.controller_pid, by)
    learner.until(lambda: len(learner.gone) == 2)
    learner.until(lambda: learner.transport.restarts == 1)
    learner.until(lambda: all(connection.end for connection, _ in connections))
    learner.until(lambda: learner.address)
    connection, number = join(learner, hello())
    assert learner.address == address
    assert number not in learner.gone
    learner.transport.send(number, b"welcome")
    assert received(learner, connection, 1) == [b"welcome"]


def test_what_was_sent_before_a_host_left_arrives_before_its_end(start_learner, join):
    learner = start_learner()
    connection, number = join(learner, hello())
    connection.send(bytes(3 << 20))
    connection.send(b"goodbye")
    connection.leave(0.0)
    learner.until(lambda: learner.gone)
    assert [len(message) for message in learner.said[number]] == [3 << 20, 7]


def test_a_host_that_is_dropped_hears_the_reason_and_is_heard_no_more(start_learner, join):
    learner = start_learner()
    connection, number = join(learner, hello())
    learner.transport.drop(number, "a fragment that nobody asked for")
    connection.send(b"too late")
    learner.until(lambda: connection.end)
    assert connection.end.value == "refused"
    assert connection.reason == "a fragment that nobody asked for"
    join(learner, hello())
    assert learner.said[number] == learner.gone == []
    assert learner.transport.refused["malformed"] == 1


def test_hosts_hear_that_the_run_is_finished_after_all_that_was_said(start_learner, join):
    learner = start_learner()
    hosts = [join(learner, hello()) for _ in range(2)]
    for _, number in hosts:
        learner.transport.send(number, bytes(4 << 20))
    learner.transport.close()
    for connection, _ in hosts:
        wait_for_end(connection)
        assert [len(message) for message in connection.received()] == [4 << 20]
        assert connection.end.value == "finished"


def test_hosts_of_a_run_that_stops_are_to_look_for_it_again(start_learner, join):
    learner = start_learner()
    connection, _ = join(learner, hello())
    learner.transport.close(finished=False)
    wait_for_end(connection)
    assert connection.end.value == "lost"


def wait_for_end(connection):
    end = time.monotonic() + LIMIT
    while connection.end is None:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_hosts_are_shared_out_by_their_environments_when_all_learners_are_there(
    start_learner, call
):
    learners = [start_learner(learners=2)]
    early = call(learners[0], hello(6))
    learners[0].until(lambda: early.heard)
    assert learners[0].hellos == {}
    learners.append(start_learner(number=1, learners=2))
    wait_for_loads(learners, [6, 0])
    hosts = []
    for capacity, loads in ((2, [6, 2]), (2, [6, 4]), (3, [6, 7]), (1, [7, 7])):
        hosts.append(call(learners[0], hello(capacity)))
        wait_for_loads(learners, loads)
    hosts[2].leave(0.0)
    wait_for_loads(learners, [7, 4])
    call(learners[0], hello(2))
    wait_for_loads(learners, [7, 6])


def test_hosts_of_a_learner_that_is_gone_are_to_come_again_for_the_others(start_learner, call):
    learners = [start_learner(learners=2), start_learner(number=1, learners=2)]
    hosts = [call(learners[0], hello(1))]
    wait_for_loads(learners, [1, 0])
    hosts.append(call(learners[0], hello(2)))
    wait_for_loads(learners, [1, 2])
    learners[1].transport.close(finished=False)
    (lost,) = wait_for_ends(learners[0], hosts, 1)
    assert (lost.end.value, lost.reason) == ("lost", "the learner is gone")
    call(learners[0], hello(2))
    wait_for_loads(learners[:1], [3])


def wait_for_loads(learners, wanted):
    """Poll until the learners have hosts with so many environments, in any order."""

    def loads():
        for learner in learners:
            learner.poll()
        return [
            sum(
                each.integer("capacity")
                for number, each in learner.hellos.items()
                if number not in learner.gone
            )
            for learner in learners
        ]

    learners[0].until(lambda: sorted(loads()) == sorted(wanted))


def wait_for_ends(learner, connections, count):
    learner.until(lambda: sum(each.end is not None for each in connections) == count)
    return [each for each in connections if each.end is not None]


def test_a_learner_that_does_not_read_holds_up_its_hosts_and_fills_no_memory(start_learner, join):
    learner = start_learner(lease=30.0)
    connection, number = join(learner, hello())
    pid = learner.controller_pid
    before = memory_of(pid)
    messages, size = 100, 1 << 20
    for _ in range(messages):
        connection.send(bytes(size))
    most, last = 0, -1
    while (written := read_by(pid)) != last:  # until nothing moves any more
        last = written
        most = max(most, memory_of(pid) - before)
        time.sleep(0.5)
    assert most < 20 << 20
    learner.until(lambda: len(learner.said[number]) == messages)
    assert all(len(message) == size for message in learner.said[number])


def test_a_host_that_does_not_read_holds_up_nobody_else(start_learner, join, start_host):
    learner = start_learner(lease=30.0)
    process = start_host(learner, lease=60.0)
    learner.until(lambda: learner.hellos)
    (stopped,) = learner.hellos
    os.kill(process.pid, signal.SIGSTOP)
    other, number = join(learner, hello())
    before = memory_of(learner.controller_pid)
    weights = bytes(20 << 20)
    for _ in range(10):
        learner.transport.send(stopped, weights)
    learner.transport.send(number, b"quick")
    assert received(learner, other, 1) == [b"quick"]
    assert memory_of(learner.controller_pid) - before < 30 << 20
    os.kill(process.pid, signal.SIGCONT)
    learner.until(lambda: len(learner.said[stopped]) == 10)


def test_many_hosts_that_come_and_go_leave_nothing_behind(start_learner, join):
    learner = start_learner()
    pids = (learner.controller_pid, os.getpid())

    def cycle(times):
        for _ in range(times):
            connection, number = join(learner, hello())
            learner.transport.send(number, bytes(300_000))
            assert len(received(learner, connection, 1)[0]) == 300_000
            connection.close()
            learner.until(lambda number=number: number in learner.gone)

    def taken(pid):
        shared = Path(f"/proc/{pid}/maps").read_text().count("/dev/shm/")
        return memory_of(pid), len(os.listdir(f"/proc/{pid}/fd")), shared

    cycle(30)
    before = [taken(pid) for pid in pids]
    cycle(100)
    for pid, (memory, files, shared) in zip(pids, before, strict=True):
        memory_after, files_after, shared_after = taken(pid)
        assert memory_after - memory < 8 << 20
        assert files_after <= files + 2
        assert shared_after <= shared


def memory_of(pid):
    """Return the bytes of memory that a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def read_by(pid):
    """Return the bytes that a process has read."""
    return int(Path(f"/proc/{pid}/io").read_text().split()[1])
