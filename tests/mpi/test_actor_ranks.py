"""Ranks that act for a learner in the same job."""

import os
import resource
import signal
import time
from dataclasses import replace

import numpy as np
import pytest
from actor_cells import cell_over_ranks, learner_cell
from small_graphs import RANKS
from stand_in_learner import SCRIPTED

from ogg_hpc.actors.host import Host
from ogg_hpc.actors.roles import take_role
from ogg_hpc.actors.settings import (
    ActorsSettings,
    CollectionSettings,
    EnvironmentSettings,
    NetworkSettings,
    RolesSettings,
)
from ogg_hpc.actors.transports.inside import InsideTransport

pytest.importorskip("gymnasium")


def make_settings(seconds=0.0, slow=None, **collection):
    options = {"seconds": seconds, "length": 7, "slow": slow or {}}
    return ActorsSettings(
        environment=EnvironmentSettings("synthetic", options),
        network=NetworkSettings("mlp", {}),
        collection=CollectionSettings(**({"lease": 30.0} | collection)),
    )


def test_rounds_over_ranks_are_those_of_one_process(comm):
    settings = make_settings(patience=0.0)  # so that no slow machine disturbs the split
    slots = max(1, comm.size - 1)
    with cell_over_ranks(comm, settings, processes=1) as cell:
        if cell is None:
            return
        alone = learner_cell(InsideTransport(Host(1, slots)), settings)
        try:
            for steps in (50, 1, 20):
                found, wanted = cell.collect(steps), alone.collect(steps)
                assert [each.slot for each in found] == [each.slot for each in wanted]
                for one, other in zip(found, wanted, strict=True):
                    assert (one.steps, one.sequence) == (other.steps, other.sequence)
                    for name, array in other.arrays.items():
                        np.testing.assert_array_equal(one.arrays[name], array, err_msg=name)
        finally:
            alone.close()
        assert cell.measurement.steps == 71
        assert cell.measurement.dropped == {}


def test_idle_actor_ranks_hardly_use_their_cores(comm):
    before = resource.getrusage(resource.RUSAGE_SELF)
    with cell_over_ranks(comm, make_settings(), processes=1) as cell:
        if cell is not None:
            cell.collect(10)
            used = resource.getrusage(resource.RUSAGE_SELF)
            time.sleep(2)
    if comm.rank:
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        assert seconds < 1.5  # most of it for the start


@pytest.mark.parametrize(("fault", "lease"), [(signal.SIGKILL, 30.0), (signal.SIGSTOP, 1.5)])
def test_an_environment_process_that_is_killed_or_frozen_is_made_up_for(
    comm, tmp_path, fault, lease
):
    scripted = EnvironmentSettings(SCRIPTED, {"folder": str(tmp_path), "seconds": 0.005})
    settings = replace(make_settings(lease=lease), environment=scripted)
    with cell_over_ranks(comm, settings, processes=2) as cell:
        if cell is None:
            return
        process = int(cell.collect(4)[-1].arrays["reward"][0])  # which the environment tells
        os.kill(process, fault)
        deadline = time.monotonic() + 60
        while not cell.measurement.lost:  # others may have been quicker than its host
            fragments = cell.collect(200)
            assert sum(each.steps for each in fragments) == 200
            assert process not in {int(each.arrays["reward"][0]) for each in fragments}
            assert time.monotonic() < deadline


@pytest.mark.skipif(RANKS < 3, reason="needs two ranks that act")
def test_a_rank_that_is_stopped_holds_nobody_up_and_comes_back(comm):
    pids = comm.gather_objects(os.getpid())
    settings = make_settings(seconds=0.002, lease=2.0, patience=0.0)
    with cell_over_ranks(comm, settings, processes=1) as cell:
        if cell is None:
            return
        cell.collect(20)
        os.kill(pids[-1], signal.SIGSTOP)
        try:
            deadline = time.monotonic() + 60
            while len(cell.slots) == comm.size - 1:
                assert sum(each.steps for each in cell.collect(100)) == 100
                assert time.monotonic() < deadline
            assert cell.measurement.silent >= 1
        finally:
            os.kill(pids[-1], signal.SIGCONT)
        while len(cell.slots) < comm.size - 1:
            assert sum(each.steps for each in cell.collect(100)) == 100
            assert time.monotonic() < deadline


def test_each_rank_has_a_role(comm):
    role = take_role(comm, RolesSettings(), "cpu")
    assert role.kind == ("learner" if comm.rank == 0 else "actor")
    assert (role.learner, role.rank, role.place) == (0, 0, 0)
    assert role.actors == tuple(range(1, comm.size))
    learners = comm.split(role.kind == "learner")
    assert learners.size == (1 if role.kind == "learner" else comm.size - 1)
    learners.free()
