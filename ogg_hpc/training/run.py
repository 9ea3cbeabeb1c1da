"""A training run: its loop, its checkpoints, its record."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from ogg_hpc.errors import SettingsError
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.runtime.boundary import MAX_REQUEUES, Boundary
from ogg_hpc.runtime.clock import Clock, over_ranks
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.environment import commit, hosts, versions
from ogg_hpc.runtime.log import log_to, say
from ogg_hpc.runtime.on_root import OnRoot
from ogg_hpc.runtime.progress import progress_bar
from ogg_hpc.runtime.run_folder import LOG_FILE, describe_start, newest_saved
from ogg_hpc.runtime.signals import Came, none_came
from ogg_hpc.training.evolution import EvolutionLearner
from ogg_hpc.training.folder import BEST, LAST, Progress, Saved, TrainingFolder, lasting
from ogg_hpc.training.learner import Learner
from ogg_hpc.training.q_learning import QLearner
from ogg_hpc.training.settings import TrainSettings

METHODS: dict[str, Callable[[Communicator, TrainSettings], Learner]] = {
    "q-learning": QLearner,
    "evolution": EvolutionLearner,
}


@contextmanager
def _torch_threads_restored() -> Iterator[None]:
    """Leave torch with as many threads as there were: the scalar engine takes one."""
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@_torch_threads_restored()
def train(
    comm: Communicator,
    settings: TrainSettings,
    folder: Path,
    *,
    resume: bool = False,
    stop: Came = none_came,
    max_requeues: int = MAX_REQUEUES,
) -> dict[str, Any]:
    """Train a policy (collective).

    Parameters
    ----------
    comm
        All ranks.
    settings
        The run.
    folder
        Where everything goes: ``settings.json``, ``environment.json``, ``log.txt``,
        ``metrics.jsonl``, ``checkpoints/``, the policies ``best.npz`` (on held-out graphs) and
        ``last.npz``, ``record.json`` at the end.
    resume
        Continue from the newest valid checkpoint in the folder, if there is a run in it. On the
        same number of ranks the run ends with the very parameters of an undisturbed one.
    stop
        Tells the signal that has asked this rank to come to an end. All ranks do so together
        before their next step, when any of them was asked to.
    max_requeues
        How often the run may ask to be submitted again.

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
        Settings or files that do not fit, or files that cannot be written.
    """
    start = time.perf_counter()
    method = comm.on_all(lambda: _method(settings))
    files = OnRoot(comm, lambda: TrainingFolder(folder, settings))
    if resume:
        finished = files.do(TrainingFolder.finished)
        if finished is not None:
            say(comm, f"{folder} is finished at step {settings.steps}: nothing to do")
            return dict(finished)
    else:
        files.do(TrainingFolder.check_new)
    with log_to(comm, folder / LOG_FILE):
        clock = Clock(comm, "setup", "evaluate", "checkpoint")
        with clock("setup"):
            learner = method(comm, settings)
        run = _Run(comm, settings, learner, files, start, clock)
        try:
            with clock("setup"):
                run.begin(resume)
            boundary = run.boundary(stop, max_requeues)
            with progress_bar(comm, "training", settings.steps) as show:
                for step in range(run.progress.step, settings.steps + 1):
                    boundary.reached(step, due=run.checkpoint_due(step))
                    run.evaluate_when_due(step)
                    if step < settings.steps:
                        show(step + 1, run.advance(step))
            return run.finish()
        finally:
            if files.value is not None:
                files.value.close()


class _Run:
    """A run under way, on all ranks."""

    def __init__(
        self,
        comm: Communicator,
        settings: TrainSettings,
        learner: Learner,
        files: OnRoot[TrainingFolder],
        start: float,
        clock: Clock,
    ) -> None:
        self._comm, self._settings, self._learner = comm, settings, learner
        self._files, self._start, self._clock = files, start, clock
        self.progress = Progress(lasting(settings), learner.groups)

    def begin(self, resume: bool) -> None:
        """Start the run, or take it up where its newest valid checkpoint left it."""
        saved: Saved | None = None  # on rank 0

        def find() -> Progress | None:
            nonlocal saved
            files = self._files.get()
            saved = newest_saved(self._comm, files, files.saved)
            return None if saved is None else saved.progress

        progress = self._comm.on_root(find) if resume else None
        self._files.do(lambda files: files.open(saved))
        if progress is not None:
            self._take_up(progress, saved)
        start = describe_start(self._comm, self.progress.step)
        self._files.do(lambda files: files.add_start(start))

    def _take_up(self, progress: Progress, saved: Saved | None) -> None:
        learner = self._learner
        learner.restore(None if saved is None else saved.state)
        learner.evaluation.restore(progress.first_objectives)
        say(self._comm, f"resumed at step {progress.step} of {self._settings.steps}")
        if progress.groups != learner.groups:
            say(
                self._comm,
                f"{learner.groups} groups of ranks go on with what {progress.groups} held: their "
                "replay buffers and running episodes are shared out anew",
            )
        self._start -= progress.seconds
        progress.groups = learner.groups
        self.progress = progress

    def boundary(self, stop: Came, max_requeues: int) -> Boundary:
        """Return what writes checkpoints and stops the run."""
        folder = self._files.do(lambda files: files.path)
        return Boundary(
            self._comm,
            self._files,
            self.progress,
            self._save,
            steps=self._settings.steps,
            minutes=self._settings.output.checkpoint_minutes,
            stop=stop,
            max_requeues=max_requeues,
            resume=f"ogg-hpc train --resume {folder}",
        )

    def checkpoint_due(self, step: int) -> bool:
        """Return whether a checkpoint belongs before a step, whatever the clock says."""
        every, steps = self._settings.output.checkpoint_every, self._settings.steps
        return step % every == 0 or step == steps

    def _save(self, step: int) -> None:
        self.progress.step = step
        self.progress.seconds = self._elapsed()
        with self._clock("checkpoint"):
            self.progress.first_objectives = self._learner.evaluation.first_objectives()
            state = self._learner.state()

            def write(files: TrainingFolder) -> None:
                assert state is not None
                files.save(self.progress, state)

            self._files.do(write)

    def evaluate_when_due(self, step: int) -> None:
        """Evaluate the policy on held-out graphs, and keep it if none was better."""
        settings = self._settings
        due = step % settings.output.evaluate_every == 0 or step == settings.steps
        if not settings.validation or not due:
            return
        with self._clock("evaluate"):
            self._evaluate(step)

    def _evaluate(self, step: int) -> None:
        progress = self.progress
        ratios = self._learner.ratios()
        score = sum(ratios.values()) / len(ratios)
        if progress.first is None:
            progress.first = {"score": score, "ratios": ratios}
        better = progress.best is None or score < progress.best["score"]
        if better:
            progress.best = {"step": step, "score": score, "ratios": ratios}
            self._save_policy(BEST, step)
        self._note(step, {"ratio": ratios, "score": score, "seconds": self._elapsed()})
        parts = " ".join(f"{name} {ratio:.4f}" for name, ratio in ratios.items())
        say(self._comm, f"step {step}: {parts}{' (best so far)' if better else ''}")

    def advance(self, step: int) -> str:
        """Make a step; return a short text on it."""
        values, text = self._learner.advance(step)
        self._note(step, values)
        if (step + 1) % self._settings.output.check_every == 0:
            self._learner.check_ranks_agree()
        return text

    def finish(self) -> dict[str, Any]:
        """Write the last policy and the record, and return it."""
        comm, settings, learner = self._comm, self._settings, self._learner
        self._save_policy(LAST, settings.steps)
        seconds = {**learner.clock.report(), **self._clock.report()}
        seconds["total"] = seconds.pop("total")  # to the end
        record = {
            "folder": str(self._files.do(lambda files: files.path)),
            "problem": problem_by_name(settings.problem).name,
            "policy": settings.policy,
            "method": settings.method,
            "steps": settings.steps,
            "best": self.progress.best,
            "first": self.progress.first,
            "references": learner.evaluation.kinds(),
            "ranks": comm.size,
            "groups": learner.groups,
            "device": comm.device.name,
            "commit": comm.on_root(commit),
            "hosts": hosts(comm),
            "seconds": self._elapsed(),
            "phases": over_ranks(comm, seconds),
            "collectives": comm.report(),
            **learner.record(),
            "peak_memory_bytes": max(comm.gather_objects(comm.device.peak_memory_bytes())),
            "versions": versions(),
        }
        self._files.do(lambda files: files.write_record(record))
        return record

    def _save_policy(self, name: str, step: int) -> None:
        def write(files: TrainingFolder) -> None:
            training = {
                "settings": asdict(self._settings),
                "step": step,
                "groups": self._learner.groups,
                "best": self.progress.best,
                "seconds": self._elapsed(),
                "versions": versions(),
            }
            self._learner.save_policy(files.path / name, training)

        self._files.do(write)

    def _note(self, step: int, values: dict[str, Any]) -> None:
        if self._files.value is not None:
            self._files.value.metrics.write(step, values)

    def _elapsed(self) -> float:
        return time.perf_counter() - self._start


def _method(settings: TrainSettings) -> Callable[[Communicator, TrainSettings], Learner]:
    if settings.method not in METHODS:
        raise SettingsError(f"method is {' or '.join(METHODS)}, not {settings.method!r}")
    return METHODS[settings.method]
