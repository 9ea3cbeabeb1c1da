"""A run of actors and learners: who does what, and how it begins and ends."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ogg_hpc.actors.algorithms import make_algorithm
from ogg_hpc.actors.cell import PHASES, Cell
from ogg_hpc.actors.collectors.registry import collector_class
from ogg_hpc.actors.environments.registry import make_environment
from ogg_hpc.actors.folder import ActorsFolder
from ogg_hpc.actors.host import Host
from ogg_hpc.actors.learning import Learning
from ogg_hpc.actors.roles import take_role
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.actors.setup import Setup
from ogg_hpc.actors.transport import Transport
from ogg_hpc.actors.transports.inside import InsideTransport
from ogg_hpc.actors.transports.mpi import MPITransport, act
from ogg_hpc.errors import OggError, SettingsError
from ogg_hpc.runtime.boundary import MAX_REQUEUES
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.environment import hosts
from ogg_hpc.runtime.launch import use_device
from ogg_hpc.runtime.log import LOG, log_to, say
from ogg_hpc.runtime.on_root import OnRoot
from ogg_hpc.runtime.run_folder import LOG_FILE, describe_start
from ogg_hpc.runtime.signals import Came, none_came


def run(
    comm: Communicator,
    settings: ActorsSettings,
    folder: Path,
    *,
    resume: bool = False,
    stop: Came = none_came,
    max_requeues: int = MAX_REQUEUES,
    device: str = "auto",
    gpu_aware: str = "auto",
) -> dict[str, Any]:
    """Learn from actors (collective).

    Parameters
    ----------
    comm
        All ranks, on CPUs; those that learn take a GPU where there is one.
    settings
        The run.
    folder
        Where everything goes: ``settings.json``, ``environment.json``, ``log.txt``,
        ``metrics.jsonl``, ``checkpoints/``, and at the end ``policy.safetensors`` and
        ``record.json``.
    resume
        Continue from the newest valid checkpoint in the folder, if there is a run in it, on any
        number of ranks. Running episodes start anew.
    stop
        Tells the signal that has asked this rank to come to an end. All ranks do so together,
        when any of the learners was asked to.
    max_requeues
        How often the run may ask to be submitted again.
    device, gpu_aware
        Of the learners; see `ogg_hpc.runtime.launch.start`.

    Returns
    -------
    dict
        The content of ``record.json``.

    Raises
    ------
    StoppedError
        A signal came. There is a checkpoint, and the marker ``UNFINISHED``, unless
        `max_requeues` is reached.
    OggError
        Settings or files that do not fit, files that cannot be written, or an environment that
        fails again and again.
    """
    start = time.perf_counter()

    def finished() -> dict[str, Any] | None:
        files = ActorsFolder(folder, settings)
        if resume:
            return files.finished()
        files.check_new()
        return None

    record = comm.on_root(finished)
    if record is not None:
        say(comm, f"{folder} is finished at step {record['steps']}: nothing to do")
        return record
    with log_to(comm, folder / LOG_FILE):
        job = _Job(comm, settings, folder, device, gpu_aware)
        record = _together(comm, lambda: job.work(resume, stop, max_requeues, start))
        job.free()
        return record


class _Job:
    """What a rank has and does in a run (creation is collective)."""

    def __init__(
        self,
        comm: Communicator,
        settings: ActorsSettings,
        folder: Path,
        device: str,
        gpu_aware: str,
    ) -> None:
        self._settings, self._folder = settings, folder
        # Here, where all ranks hear of an environment that cannot be made: later, some only act.
        self._schema = comm.on_root(lambda: _schema(settings))
        self._role = role = take_role(comm, settings.roles, device)
        learns = role.kind == "learner"
        comm.on_all(lambda: use_device(comm, device, role.place, gpu_aware) if learns else None)
        self._places = {"ranks": comm.size, "hosts": hosts(comm)}
        self._start = describe_start(comm, 0)
        self._learners = comm.split(int(not learns))
        self._mailbox = comm.mailbox()
        self._acts = role.kind == "actor" or (learns and settings.roles.local and not role.actors)
        node, mine = comm.node(), os.sched_getaffinity(0)
        everyone = node.gather_objects((learns, self._acts, mine))
        node.free()
        self._learners_here = sum(learns for learns, _, _ in everyone)
        sharing = sum(acts and not mine.isdisjoint(cores) for _, acts, cores in everyone)
        self._cores = max(1, len(mine) // max(1, sharing))

    def work(
        self, resume: bool, stop: Came, max_requeues: int, start: float
    ) -> dict[str, Any] | None:
        """Do this rank's part of the run; return the record on those that learn."""
        match self._role.kind:
            case "learner":
                return self._learn(resume, stop, max_requeues, start)
            case "actor":
                act(self._mailbox, self._role.rank, self._host())
        return None

    def free(self) -> None:
        """Give back what MPI has given (collective)."""
        self._mailbox.close()
        self._learners.free()

    def _learn(self, resume: bool, stop: Came, max_requeues: int, start: float) -> dict[str, Any]:
        learners, settings, schema = self._learners, self._settings, self._schema
        files = OnRoot(learners, lambda: ActorsFolder(self._folder, settings))
        clock = Clock(learners, "setup", *PHASES, "learn", "checkpoint")
        finished = False
        with ExitStack() as at_end:
            if files.value is not None:
                at_end.callback(files.value.close)
            with clock("setup"):
                layout = collector_class(settings.algorithm).layout(schema)
                cell = Cell(
                    self._transports(),
                    Setup(self._role.learner, settings, schema, layout),
                    clock,
                    lambda: stop() is not None,
                    tell=self._tell,
                )
                at_end.callback(lambda: cell.close(finished))
                learners.on_all(cell.check)
                algorithm = make_algorithm(learners, settings, schema)
                learning = Learning(
                    learners, settings, schema, algorithm, cell, files, clock, start
                )
                learning.begin(resume, self._start)
            learning.learn(stop, max_requeues)
            finished = True
            return learning.finish(self._places)

    def _transports(self) -> list[Transport]:
        """Return the ways to the hosts of this learner."""
        role, settings, ways = self._role, self._settings, list[Transport]()
        if role.actors:
            ways.append(MPITransport(self._mailbox, role.actors))
        elif self._acts:
            ways.append(InsideTransport(self._host()))
        if settings.remote.listen:
            ways.append(self._controller())
        return ways

    def _controller(self) -> Transport:
        from ogg_hpc.actors.gateway.announcement import controllers_folder, node_name
        from ogg_hpc.actors.gateway.controller_process import ControllerProcess
        from ogg_hpc.actors.transports.controller import ControllerTransport

        lease, place = self._settings.collection.lease, self._role.place
        process = None
        if self._role.leads_node:
            process = ControllerProcess(
                self._folder, self._settings.remote, self._learners_here, lease
            )
        way = ControllerTransport(self._folder, place, self._schema.digest(), lease, process)
        if process is not None:
            file = controllers_folder(self._folder) / f"{node_name()}.json"
            self._tell(
                f"remote actors connect to {way.address}: ogg-hpc actors actor --connect {file}"
            )
        return way

    def _tell(self, text: str) -> None:
        """Say what concerns one learner: the first to people, the others to the log."""
        if self._learners.rank == 0:
            say(self._learners, text)
        else:
            LOG.info(text)

    def _host(self) -> Host:
        roles = self._settings.roles
        return Host(roles.processes or self._cores, roles.environments)


def _schema(settings: ActorsSettings) -> Schema:
    """Return what the environment shows and takes, by an environment that is closed again."""
    name = settings.environment.name
    try:
        env = make_environment(name, settings.environment.options)
        try:
            return Schema.of(env)
        finally:
            env.close()
    except OggError:
        raise
    except Exception as error:  # whatever a user's own class raises
        raise SettingsError(
            f"environment {name} cannot be made: {type(error).__name__}: {error}"
        ) from error


def _together(comm: Communicator, work: Callable[[], dict[str, Any] | None]) -> dict[str, Any]:
    """Do this rank's part of a run; all ranks return what rank 0 has, or raise its error."""
    record: dict[str, Any] | None = None
    failure: OggError | None = None
    try:
        record = work()
    except OggError as error:
        if not error.collective:
            raise  # which ends the job
        failure = error
    record, failure = comm.broadcast_object((record, failure))
    if failure is not None:
        raise failure.shared()
    assert record is not None
    return record
