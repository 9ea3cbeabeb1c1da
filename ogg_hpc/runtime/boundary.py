"""The moments between the steps of a run, at which it writes checkpoints and may stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from signal import Signals

import numpy as np

from ogg_hpc.errors import StoppedError
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.on_root import OnRoot
from ogg_hpc.runtime.run_folder import RunFolder, Standing
from ogg_hpc.runtime.signals import Came
from ogg_hpc.runtime.unfinished import leave_marker

MAX_REQUEUES = 100


class Boundary:
    """Checkpoints and stops of a run, at boundaries that all its ranks reach together.

    Parameters
    ----------
    comm
        All ranks.
    files
        The folder of the run.
    standing
        Where the run stands now; a stop is counted in it.
    save
        Writes a checkpoint of the step it is given (collective).
    steps
        How many steps the run has.
    minutes
        Most minutes between checkpoints; 0 for no matter.
    stop
        Tells the signal that has asked this rank to come to an end.
    max_requeues
        How often the run may ask to be submitted again.
    resume
        The command that goes on with the run.
    """

    def __init__(
        self,
        comm: Communicator,
        files: OnRoot[RunFolder],
        standing: Standing,
        save: Callable[[int], None],
        *,
        steps: int,
        minutes: float,
        stop: Came,
        max_requeues: int,
        resume: str,
    ) -> None:
        self._comm, self._files, self._standing, self._save = comm, files, standing, save
        self._steps, self._minutes, self._resume = steps, minutes, resume
        self._asked, self._max_requeues = stop, max_requeues
        self._saved_step, self._saved_at = standing.step, time.monotonic()

    def reached(self, step: int, due: bool = False) -> None:
        """Before a step, write a checkpoint if one is due, and stop if a rank was asked to.

        Collective.

        Parameters
        ----------
        step
            Steps made.
        due
            Whether a checkpoint is due, unless there is one of this step; the clock may say so,
            too.

        Raises
        ------
        StoppedError
            A signal came. There is a checkpoint, and the marker ``UNFINISHED``, unless
            `max_requeues` is reached.
        InputError
            The checkpoint, or the curves, cannot be written.
        """
        number, late = self._comm.agree(np.array([self._asked() or 0, self._late(step)], np.int64))
        if number:
            self._stop(step, Signals(number))
        elif late or (due and step > self._saved_step):
            self._save(step)
            self._saved_step, self._saved_at = step, time.monotonic()

    def _late(self, step: int) -> bool:
        """Return on rank 0 whether a checkpoint is due by its clock, or to tell of a failure."""
        if self._files.value is None:
            return False
        since = time.monotonic() - self._saved_at
        late = self._minutes > 0 and step > self._saved_step and since >= 60 * self._minutes
        return late or self._files.value.metrics.failure is not None

    def _stop(self, step: int, signal: Signals) -> None:
        requeues = self._standing.signal_stops
        self._standing.signal_stops += 1
        self._save(step)
        again = requeues < self._max_requeues
        content = {"step": step, "steps": self._steps, "signal": signal.name, "requeues": requeues}

        if again:
            self._files.do(lambda files: leave_marker(files.path, content))
        most = self._max_requeues
        limit = "" if again else f" after {requeues} of {most} requeues (--max-requeues)"
        raise StoppedError(
            f"stopped by {signal.name} at step {step} of {self._steps}{limit}: "
            f"resume with {self._resume}"
        ).shared()
