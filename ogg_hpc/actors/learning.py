"""The part of the learners in a run: its loop, its checkpoints, its policy, its record."""

from __future__ import annotations

import time
from typing import Any

from ogg_hpc.actors.algorithm import Algorithm
from ogg_hpc.actors.cell import PHASES, Cell
from ogg_hpc.actors.folder import POLICY, ActorsFolder, Progress, Saved, lasting
from ogg_hpc.actors.policy_file import SavedPolicy, save_policy
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.runtime.boundary import Boundary
from ogg_hpc.runtime.clock import Clock, over_ranks
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.environment import commit, versions
from ogg_hpc.runtime.log import say
from ogg_hpc.runtime.on_root import OnRoot
from ogg_hpc.runtime.progress import progress_bar
from ogg_hpc.runtime.run_folder import newest_saved
from ogg_hpc.runtime.signals import Came


class Learning:
    """A run under way, on all learners (all methods are collective over them).

    Parameters
    ----------
    learners
        The learners.
    settings
        The run.
    schema
        What is observed and done.
    algorithm
        How to learn.
    cell
        This learner's actors.
    files
        The folder of the run.
    clock
        Seconds of its phases.
    start
        When it was started, by `time.perf_counter`.
    """

    def __init__(
        self,
        learners: Communicator,
        settings: ActorsSettings,
        schema: Schema,
        algorithm: Algorithm,
        cell: Cell,
        files: OnRoot[ActorsFolder],
        clock: Clock,
        start: float,
    ) -> None:
        self._learners, self._settings, self._schema = learners, settings, schema
        self._algorithm, self._cell, self._files = algorithm, cell, files
        self._clock, self._start = clock, start
        self._progress = Progress(lasting(settings))
        self._first = 0, 0.0  # step and time at which the loop begins

    def begin(self, resume: bool, about: dict[str, Any]) -> None:
        """Start the run, or take it up where its newest valid checkpoint left it.

        Parameters
        ----------
        resume
            Whether to look for a checkpoint.
        about
            What ``environment.json`` is to say of this start.
        """
        saved: Saved | None = None  # on rank 0

        def find() -> Progress | None:
            nonlocal saved
            files = self._files.get()
            saved = newest_saved(self._learners, files, files.saved)
            return None if saved is None else saved.progress

        progress = self._learners.on_root(find) if resume else None
        if progress is not None:
            self._algorithm.restore(None if saved is None else saved.state)
            self._start -= progress.seconds
            self._progress = progress
            self._cell.resume_at(progress.step)
            say(self._learners, f"resumed at step {progress.step} of {self._settings.steps}")
        tensorboard = self._settings.output.tensorboard
        self._files.do(lambda files: files.begin(self._progress, tensorboard))
        self._files.do(lambda files: files.add_start({**about, "step": self._progress.step}))

    def learn(self, stop: Came, max_requeues: int) -> None:
        """Collect and update until all steps are made.

        Raises
        ------
        StoppedError
            A signal came; see `Boundary`.
        """
        settings, progress = self._settings, self._progress
        boundary = Boundary(
            self._learners,
            self._files,
            progress,
            self._save,
            steps=settings.steps,
            minutes=settings.output.checkpoint_minutes,
            stop=stop,
            max_requeues=max_requeues,
            resume=self._files.do(lambda files: f"ogg-hpc actors run --resume {files.path}"),
        )
        every = settings.output.checkpoint_every
        saved, self._first = progress.step, (progress.step, time.perf_counter())
        self._cell.publish(self._algorithm.arrays())
        with progress_bar(self._learners, "learning", settings.steps) as show:
            while progress.step < settings.steps:
                due = progress.step // every > saved // every
                boundary.reached(progress.step, due)
                saved = progress.step if due else saved
                show(min(progress.step, settings.steps), self._advance())
        boundary.reached(progress.step, due=True)

    def _advance(self) -> str:
        """Make a round, or what else the algorithm makes of it; return a short text on it."""
        before = self._clock.report()
        with self._clock("learn"):
            advance = self._algorithm.advance(self._cell)
        after = self._clock.report()
        spent = {name: after[name] - before[name] for name in ("learn", *PHASES)}
        self._progress.step += advance.steps
        rate = self._rate()
        if self._files.value is not None and advance.values:
            values = {
                **advance.values,
                "steps_per_second": rate,
                "seconds": self._elapsed(),
                "spent": spent,
            }
            self._files.value.metrics.write(self._progress.step, values)
        return f"{advance.text}, {rate:,.0f} steps/s"

    def _save(self, step: int) -> None:
        self._progress.step, self._progress.seconds = step, self._elapsed()
        with self._clock("checkpoint"):
            state = self._algorithm.state()

            def write(files: ActorsFolder) -> None:
                assert state is not None
                files.save(self._progress, state)
                self._algorithm.save(files.path)

            self._files.do(write)

    def finish(self, about: dict[str, Any]) -> dict[str, Any]:
        """Write the policy and the record, and return it.

        Parameters
        ----------
        about
            What the record says of the ranks.
        """
        learners, settings, step = self._learners, self._settings, self._progress.step
        arrays = self._algorithm.arrays()

        def write_policy(files: ActorsFolder) -> None:
            origin = {"step": step, "commit": commit(), "versions": versions()}
            policy = SavedPolicy(arrays, self._schema, settings, origin)
            save_policy(files.path / POLICY, policy)

        self._files.do(write_policy)
        record = {
            "folder": str(self._files.do(lambda files: files.path)),
            "algorithm": settings.algorithm,
            "environment": settings.environment.name,
            "network": settings.network.name,
            "steps": step,
            "steps_per_second": self._rate(),
            **about,
            "learners": learners.size,
            "device": learners.device.name,
            "commit": learners.on_root(commit),
            "seconds": self._elapsed(),
            "phases": over_ranks(learners, self._clock.report()),
            "collectives": learners.report(),
            "collection": self._cell.measurement.over(learners),
            **self._algorithm.record(),
            "peak_memory_bytes": max(learners.gather_objects(learners.device.peak_memory_bytes())),
            "versions": versions(),
        }
        self._files.do(lambda files: files.write_record(record))
        return record

    def _rate(self) -> float:
        """Return the steps a second since the run was started, or started again."""
        step, began = self._first
        return (self._progress.step - step) / max(time.perf_counter() - began, 1e-9)

    def _elapsed(self) -> float:
        return time.perf_counter() - self._start
