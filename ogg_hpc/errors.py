"""Errors that a user can cause: one message that says what, where and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Self


class OggError(Exception):
    """Base of all errors shown to the user as one message without a traceback.

    Attributes
    ----------
    exit_code : int
        Exit code of the command line.
    collective : bool
        True when every rank raises this same error, so that one rank may speak for all.
    """

    exit_code = 2
    collective = False

    def shared(self) -> Self:
        """Mark the error as one that every rank raises, and return it."""
        self.collective = True
        return self


class InputError(OggError):
    """A file whose content is wrong.

    Parameters
    ----------
    path
        The file.
    message
        What is wrong and what was expected or can be done.
    line
        One-based line number, where one line is to blame.
    """

    def __init__(self, path: str | Path, message: str, line: int | None = None) -> None:
        where = f"{path}:{line}" if line is not None else str(path)
        super().__init__(f"{where}: {message}")
        # Exceptions cross ranks by pickling, which replays these arguments.
        self.args = (str(path), message, line)
        self._text = f"{where}: {message}"

    def __str__(self) -> str:
        return self._text


class SettingsError(OggError):
    """An option, a configuration key or a combination of them that cannot work."""


class MissingExtraError(OggError):
    """An optional dependency that is not installed.

    Parameters
    ----------
    module
        The module that could not be imported.
    extra
        The extra of ``ogg-hpc`` that brings it.
    """

    def __init__(self, module: str, extra: str) -> None:
        super().__init__(module, extra)

    def __str__(self) -> str:
        module, extra = self.args
        return f"{module} is not installed; run: pip install 'ogg-hpc[{extra}]'"


class InterruptionError(OggError):
    """The user's wish that a command ends at once."""

    exit_code = 130  # as shells report SIGINT


class StoppedError(OggError):
    """A run that a signal has ended, after a checkpoint was written."""

    exit_code = 75  # EX_TEMPFAIL of sysexits.h: try again later


class InfeasibleError(OggError):
    """A result that failed verification and is therefore not written as a solution."""

    exit_code = 3
