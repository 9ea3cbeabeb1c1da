"""The marker by which a jobscript decides whether to submit a run again.

It lies in the folder of a run that a signal has stopped and that is to be continued. Neither the
end of a run nor an error leaves one, so that a run that fails is not submitted for ever.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ogg_hpc.runtime.files import write_json, writing

MARKER = "UNFINISHED"


def leave_marker(folder: Path, content: dict[str, Any]) -> None:
    """Write the marker: a JSON object that tells where the run stands.

    Raises
    ------
    InputError
        The folder cannot be written.
    """
    write_json(folder / MARKER, content)


def remove_marker(folder: Path) -> None:
    """Remove the marker, if there is one.

    To be called before anything that can fail.

    Raises
    ------
    InputError
        The folder cannot be written.
    """
    with writing(folder / MARKER):
        (folder / MARKER).unlink(missing_ok=True)
