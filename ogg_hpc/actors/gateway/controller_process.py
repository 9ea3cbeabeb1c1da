"""The controller as a process of the first learner of a node, which keeps it alive."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from ogg_hpc.actors.gateway.addresses import parse_address
from ogg_hpc.actors.gateway.announcement import controllers_folder, node_name
from ogg_hpc.actors.gateway.backoff import Backoff
from ogg_hpc.actors.settings import RemoteSettings
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.launch import without_launcher
from ogg_hpc.runtime.log import LOG

_ERROR = "ogg-hpc: "  # how the command line begins its message
_END = 5.0  # seconds that it has to come to its end


class ControllerProcess:
    """Starts ``ogg-hpc actors controller``, and again whenever it has ended.

    Parameters
    ----------
    run_folder
        The folder of the run; what the controller says goes to ``controllers/NODE.log`` there.
    settings
        Where it listens, and with which secrets.
    learners
        How many learners this node has.
    lease
        Seconds; see `server.ControllerOptions`.

    Attributes
    ----------
    restarts : int
        How often it was started again.
    """

    def __init__(
        self, run_folder: Path, settings: RemoteSettings, learners: int, lease: float
    ) -> None:
        self.restarts = 0
        self._said_before = 0  # bytes in the log
        self._log = controllers_folder(run_folder) / f"{node_name()}.log"
        self._listen = parse_address(settings.listen)
        self._command = [sys.executable, "-m", "ogg_hpc", "actors", "controller", str(run_folder)]
        self._command += ["--learners", str(learners), "--lease", str(lease)]
        self._command += ["--parent", str(os.getpid())]
        for option in ("token_file", "certificate", "key"):
            if value := getattr(settings, option):
                self._command += [f"--{option.replace('_', '-')}", value]
        self._backoff = Backoff(0.5, 30.0)
        self._next_start = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with open(self._log, "ab") as log:
            self._said_before = log.tell()
            self._process = subprocess.Popen(
                [*self._command, "--listen", str(self._listen)],
                env=without_launcher(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # what a terminal sends to this job is not for it
            )

    def has_started(self, address: str) -> None:
        """Note where it listens: there it is started again, for its hosts to find it."""
        self._listen = self._listen._replace(port=parse_address(address).port)
        self._backoff.reset()

    def check_started(self) -> None:
        """Find out that it could not start.

        Raises
        ------
        SettingsError
            It has ended; the message is its own.
        """
        if self._process is not None and self._process.poll() is not None:
            raise SettingsError(f"the controller cannot start: {self._last_words()}")

    def keep_alive(self) -> None:
        """Start it again if it has ended, after a pause that grows with each attempt."""
        if self._process is None or self._process.poll() is None:
            return
        now = time.monotonic()
        if self._next_start == 0.0:
            pause = self._backoff.pause()
            self._next_start = now + pause
            LOG.warning(
                f"the controller has ended ({self._last_words()}); "
                f"it is started again in {pause:.1f} s"
            )
        if now >= self._next_start:
            self._next_start = 0.0
            self.restarts += 1
            self.start()

    def kill(self) -> None:
        """End it at once: it does not answer."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def wait(self) -> None:
        """Wait for it to come to its end by itself, for some seconds."""
        if self._process is not None:
            try:
                self._process.wait(_END)
            except subprocess.TimeoutExpired:
                self.kill()

    def _last_words(self) -> str:
        """Return the error that has ended it, or its exit code."""
        assert self._process is not None
        with open(self._log, "rb") as log:
            log.seek(self._said_before)
            lines = log.read().decode(errors="replace").splitlines()
        errors = [line.removeprefix(_ERROR) for line in lines if line.startswith(_ERROR)]
        return errors[-1] if errors else f"exit code {self._process.returncode}; see {self._log}"
