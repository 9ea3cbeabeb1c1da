"""A run that embeds a graph: its loop, its checkpoints, its output, its record."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ogg_hpc.embedding.embedding import EmbeddingHeader
from ogg_hpc.embedding.folder import EmbeddingFolder, Progress, lasting
from ogg_hpc.embedding.graph_input import OpenedGraph, open_walk_graph
from ogg_hpc.embedding.losses import Losses
from ogg_hpc.embedding.memory import check_memory
from ogg_hpc.embedding.model import Matrix
from ogg_hpc.embedding.output import matrices_of, write_output
from ogg_hpc.embedding.paths import run_folder
from ogg_hpc.embedding.plan import model_plans
from ogg_hpc.embedding.record import graph_digest, graph_facts, network_model
from ogg_hpc.embedding.remarks import remarks
from ogg_hpc.embedding.row_blocks import Block, bounds, hand_to_root, open_rows, write_rows
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.store import check_labels, check_output
from ogg_hpc.embedding.strategies.registry import strategy_class
from ogg_hpc.embedding.trainer import Trainer
from ogg_hpc.errors import OggError
from ogg_hpc.graphs.members import check_apart
from ogg_hpc.runtime.boundary import MAX_REQUEUES, Boundary
from ogg_hpc.runtime.clock import Clock, over_ranks
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.environment import commit, hosts, versions
from ogg_hpc.runtime.log import log_to, say
from ogg_hpc.runtime.on_root import OnRoot
from ogg_hpc.runtime.progress import progress_bar
from ogg_hpc.runtime.run_folder import LOG_FILE, describe_start, hosts_without
from ogg_hpc.runtime.signals import Came, none_came


def embed(
    comm: Communicator,
    graph: str,
    settings: EmbedSettings,
    output: Path,
    *,
    resume: bool = False,
    stop: Came = none_came,
    max_requeues: int = MAX_REQUEUES,
) -> dict[str, Any]:
    """Embed the nodes of a graph (collective).

    Parameters
    ----------
    comm
        All ranks.
    graph
        What `open_walk_graph` opens: a file, ``STORE:INDEX``, …
    settings
        How.
    output
        The file of the embedding, whose suffix says its format. Beside it lies the folder of the
        run, its name with ``.run``: ``settings.json``, ``environment.json``, ``log.txt``,
        ``metrics.jsonl``, ``checkpoints/`` until the output is there, then ``record.json``.
    resume
        Continue from the newest valid checkpoint, if there is a run. On the same number of ranks
        the run ends with the very vectors of an undisturbed one.
    stop
        Tells the signal that has asked this rank to come to an end. All ranks do so together
        before their next window, when any of them was asked to.
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
    DivergedError
        The loss left the finite numbers.
    OggError
        A graph, settings or files that do not fit, or files that cannot be written.
    """
    start = time.perf_counter()

    def check_files() -> None:
        check_apart(output, graph)
        check_output(output)

    comm.on_root(check_files)
    files = OnRoot(comm, lambda: EmbeddingFolder(output, settings))
    if resume:
        finished = files.do(lambda files: files.finished(graph))
        if finished is not None:
            say(comm, f"{output} is finished: nothing to do")
            return dict(finished)
    else:
        files.do(EmbeddingFolder.check_new)
    with log_to(comm, run_folder(output) / LOG_FILE):
        phases = strategy_class(settings.strategy).phases
        clock = Clock(comm, "read", "setup", "sample", *phases, "checkpoint", "write")
        with clock("read"):
            opened = open_walk_graph(comm, graph, settings)
        run = _Run(comm, settings, graph, opened, output, files, start, clock)
        try:
            with clock("setup"):
                run.begin(resume)
            run.train(run.boundary(stop, max_requeues))
            return run.finish()
        except OggError as error:
            if error.collective:
                run.free()
            raise
        finally:
            if files.value is not None:
                files.value.close()


class _Window(NamedTuple):
    """A window among those of all models and epochs."""

    trainer: Trainer
    epoch: int  # of the model
    epoch_number: int  # over all models
    first: int  # batch of the epoch
    end: int
    step: int  # batch of the run


class _Run:
    """A run under way, on all ranks."""

    def __init__(
        self,
        comm: Communicator,
        settings: EmbedSettings,
        path: str,
        opened: OpenedGraph,
        output: Path,
        files: OnRoot[EmbeddingFolder],
        start: float,
        clock: Clock,
    ) -> None:
        self._comm, self._settings, self._opened, self._output = comm, settings, opened, output
        self._path, self._files, self._start, self._clock = path, files, start, clock
        comm.on_root(lambda: check_labels(output, opened.labels))
        with clock("setup"):
            plans = model_plans(settings)
            check_memory(comm, opened.graph.n, plans, settings.servers)
            self._trainers = [Trainer(comm, opened.graph, plan, clock) for plan in plans]
        self._steps = sum(trainer.steps for trainer in self._trainers)
        self._facts = graph_facts(opened)
        same = {
            "settings": lasting(settings),
            "graph": {**self._facts, "digest": graph_digest(opened)},
            "models": [trainer.about() for trainer in self._trainers],
        }
        self._progress = Progress(same)
        self._losses = Losses()
        self._trained = 0, 0.0  # pairs and seconds since the run was started, or started again

    def begin(self, resume: bool) -> None:
        """Start the run, or take it up where its newest valid checkpoint left it."""
        checkpoint = Path()  # on rank 0

        def find() -> Progress | None:
            nonlocal checkpoint
            files = self._files.get()
            saved = files.saved(self._progress.same)
            for text in files.damaged():
                say(self._comm, f"warning: {text}: skipped")
            if saved is None:
                return None
            checkpoint, progress = saved
            return progress

        progress = self._comm.on_root(find) if resume else None
        if progress is not None:
            self._take_up(progress, checkpoint)
        elif not resume:
            self._files.do(EmbeddingFolder.forget)
        self._files.do(lambda files: files.begin(self._progress, tensorboard=True))
        start = describe_start(self._comm, self._progress.step)
        self._files.do(lambda files: files.add_start(start))
        self._warn()

    def _take_up(self, progress: Progress, checkpoint: Path) -> None:
        for trainer, matrix, name in self._matrices():
            stored = OnRoot(self._comm, partial(open_rows, checkpoint, name)).value
            for lo, hi in bounds(self._opened.graph.n, trainer.plan.settings.dim):
                rows = None if stored is None else np.array(stored[lo:hi])
                trainer.strategy.restore(matrix, lo, hi, rows)
        self._start -= progress.seconds
        self._progress, self._losses = progress, Losses(progress.losses)
        say(self._comm, f"resumed at step {progress.step} of {self._steps}")

    def _matrices(self) -> Iterator[tuple[Trainer, Matrix, str]]:
        """Yield all that is trained, with its name in a checkpoint."""
        for number, trainer in enumerate(self._trainers):
            for matrix in trainer.plan.matrices:
                yield trainer, matrix, f"{matrix}-{number}"

    def _warn(self) -> None:
        """Say what the user should know before the work begins."""
        folder = run_folder(self._output)
        texts = [f"warning: {text}" for text in self._opened.warnings]
        texts += remarks(self._settings, self._facts, self._trainers, self._output)
        texts += [
            f"warning: {host} does not see {folder}, so that a run resumed there would start anew; "
            "choose an --output that all hosts share"
            for host in hosts_without(self._comm, folder)
        ]
        for text in texts:
            say(self._comm, text)

    def boundary(self, stop: Came, max_requeues: int) -> Boundary:
        """Return what writes checkpoints and stops the run."""
        return Boundary(
            self._comm,
            self._files,
            self._progress,
            self._save,
            steps=self._steps,
            minutes=self._settings.checkpoint_minutes,
            stop=stop,
            max_requeues=max_requeues,
            resume=shlex.join(
                ["ogg-hpc", "embed", self._path, "--output", str(self._output), "--resume"]
            ),
        )

    def train(self, boundary: Boundary) -> None:
        """Train what is left of all models, window after window."""
        each_epoch = self._settings.checkpoint_minutes == 0
        with progress_bar(self._comm, "embedding", self._steps) as show:
            for window in self._windows():
                if window.step < self._progress.step:
                    continue
                boundary.reached(window.step, due=each_epoch and window.first == 0)
                text = self._train_window(window)
                show(self._progress.step, text)
            boundary.reached(self._steps, due=True)

    def _windows(self) -> Iterator[_Window]:
        step = epoch_number = 0
        for trainer in self._trainers:
            for epoch in range(self._settings.epochs):
                for first, end in trainer.windows():
                    yield _Window(trainer, epoch, epoch_number, first, end, step)
                    step += end - first
                epoch_number += 1

    def _train_window(self, window: _Window) -> str:
        """Train a window; return a short text on it."""
        start = time.perf_counter()
        trainer, progress = window.trainer, self._progress
        sums = trainer.train(window.epoch, window.first, window.end)
        seconds = time.perf_counter() - start
        loss, pairs = sums.sum(axis=0).tolist()
        self._losses.add(window.epoch_number, window.first, trainer.batches, sums)
        self._trained = self._trained[0] + int(pairs), self._trained[1] + seconds
        progress.training_seconds += seconds
        progress.step = window.step + window.end - window.first
        rate = self._trained[0] / self._trained[1]
        mean = loss / pairs if pairs else None
        if self._files.value is not None:
            rates = trainer.learning_rates(window.epoch, window.first, window.end)
            values = {"loss": mean, "learning_rate": float(rates[-1]), "pairs_per_second": rate}
            self._files.value.metrics.write(
                progress.step, {"epoch": window.epoch_number, "pairs": int(pairs), **values}
            )
        left = progress.training_seconds / progress.step * (self._steps - progress.step)
        shown = "no pairs" if mean is None else f"loss {mean:.4g}"
        return f"{shown}, {rate:,.0f} pairs/s, {_duration(left)} left"

    def _save(self, step: int) -> None:
        progress = self._progress
        progress.step, progress.seconds = step, self._elapsed()
        progress.losses = self._losses.state()

        def write(blocks: Iterator[Block]) -> None:
            self._files.get().commit(progress, lambda folder: write_rows(folder, blocks))

        with self._clock("checkpoint"):
            hand_to_root(self._comm, self._rows(), write)

    def _rows(self) -> Iterator[Block]:
        """Gather the rows of all models, block by block (collective)."""
        for trainer, matrix, name in self._matrices():
            shape = (self._opened.graph.n, trainer.plan.settings.dim)
            for lo, hi in bounds(*shape):
                yield Block(name, shape, trainer.strategy.gather(matrix, lo, hi))

    def finish(self) -> dict[str, Any]:
        """Write the output and the record, and return it."""
        graph = {"path": self._path, **self._facts}
        with self._clock("write"):
            header = EmbeddingHeader(
                nodes=self._opened.graph.n,
                dim=self._settings.dim,
                directed=self._opened.graph.directed,
                matrices=matrices_of(self._trainers),
                settings=self._settings.plain(),
                provenance={
                    "graph": graph,
                    "pairs": self._losses.pairs,
                    "losses": self._epochs(),
                    "commit": self._comm.on_root(commit),
                    "versions": versions(),
                },
            )
            write_output(self._comm, self._output, self._trainers, header, self._opened.labels)
        record = {
            "output": str(self._output),
            "folder": str(run_folder(self._output)),
            "graph": graph,
            **self._about(),
        }
        self._files.do(lambda files: files.write_record(record))
        self._files.do(EmbeddingFolder.remove_checkpoints)
        self.free()
        return record

    def free(self) -> None:
        """Give the memory back that ranks share (collective)."""
        for trainer in self._trainers:
            trainer.strategy.free()
        self._opened.graph.free()

    def _about(self) -> dict[str, Any]:
        """Return what the record says of the run itself (collective)."""
        comm, settings, trainers = self._comm, self._settings, self._trainers
        traffic = [trainer.strategy.traffic.report(comm) for trainer in trainers]
        pairs, seconds = self._trained
        return {
            "method": settings.method,
            "strategy": settings.strategy,
            "settings": settings.plain(),
            "models": [
                {
                    **trainer.about(),
                    "traffic": counted,
                    "modelled_network_seconds": network_model(counted, comm.size),
                }
                for trainer, counted in zip(trainers, traffic, strict=True)
            ],
            "pairs": self._losses.pairs,
            "losses": self._epochs(),
            "pairs_per_second": pairs / seconds if seconds else None,
            "ranks": comm.size,
            "workers": trainers[0].workers,
            "servers": len(trainers[0].strategy.layout.servers),
            "device": comm.device.name,
            "commit": comm.on_root(commit),
            "hosts": hosts(comm),
            "seconds": self._elapsed(),
            "phases": over_ranks(comm, self._clock.report()),
            "collectives": comm.report(),
            "peak_memory_bytes": max(comm.gather_objects(comm.device.peak_memory_bytes())),
            "versions": versions(),
        }

    def _epochs(self) -> list[dict[str, Any]]:
        """Return what is known of the loss in each epoch of each model."""
        names = [trainer.plan.name for trainer in self._trainers]
        epochs = [(name, epoch) for name in names for epoch in range(self._settings.epochs)]
        return [
            {"model": name, "epoch": epoch + 1, **found}
            for (name, epoch), found in zip(epochs, self._losses.report(), strict=True)
        ]

    def _elapsed(self) -> float:
        return time.perf_counter() - self._start


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
