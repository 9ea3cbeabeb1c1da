"""Where the files of a run lie."""

from __future__ import annotations

from pathlib import Path


def run_folder(output: Path) -> Path:
    """Return the folder of the run that writes an embedding: beside it, its name with ``.run``."""
    return output.with_name(f"{output.name}.run")
