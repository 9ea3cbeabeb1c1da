"""Checkpoints: folders that appear whole or not at all, of which the last few are kept.

A checkpoint is a folder ``step-00000100`` with files of any kind and a manifest, which holds the
format, the step, and the size and SHA-256 digest of each file. It is prepared under a temporary
name beside its final one, brought to disk, and renamed. No checkpoint is ever written over: a
second one of the same step is called ``step-00000100-2``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.files import (
    remove_leftovers,
    sha256_of_file,
    sync,
    temporary_name,
    writing,
)

FORMAT = "ogg-hpc-checkpoint/1"
MANIFEST = "manifest.json"
_NAME = re.compile(r"step-([0-9]{8,})(?:-([0-9]+))?")


class CheckpointStore:
    """The checkpoints of one run, for one process to write.

    Parameters
    ----------
    folder
        Where they lie; made with the first one.
    content
        Format and version of the files in them, such as ``ogg-hpc-training/1``.
    keep
        How many valid ones are kept.

    Attributes
    ----------
    damaged : dict of Path to str
        Those that `newest` has passed over, and why.
    """

    def __init__(self, folder: Path, content: str, keep: int) -> None:
        self.folder = folder
        self._content, self._keep = content, keep
        self.damaged: dict[Path, str] = {}

    def commit(self, step: int, write: Callable[[Path], None]) -> Path:
        """Add a checkpoint and remove those that are no longer kept.

        Parameters
        ----------
        step
            The step it is of.
        write
            Writes the files into the folder that it is given.

        Returns
        -------
        Path
            The checkpoint.

        Raises
        ------
        InputError
            The disk is full, or the folder cannot be written. Earlier checkpoints stay.
        """
        path = self._free_name(step)
        temporary = temporary_name(path)
        try:
            with writing(path):
                if not self.folder.is_dir():
                    self.folder.mkdir(parents=True)
                    sync(self.folder.parent)
                temporary.mkdir()
                write(temporary)
                self._write_manifest(temporary, step)
                for file in temporary.iterdir():
                    sync(file)
                sync(temporary)
                os.replace(temporary, path)
                sync(self.folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        self._remove_old()
        return path

    def newest(self) -> Path | None:
        """Return the newest valid checkpoint, after removing what killed processes have left.

        Those that are newer and not valid are left as they are and noted in `damaged`.

        Returns
        -------
        Path or None
            None where there are no checkpoints at all.

        Raises
        ------
        InputError
            There are some, and none is valid.
        """
        remove_leftovers(self.folder)
        for path in reversed(self._all()):
            fault = self._fault(path)
            if fault is None:
                return path
            self.damaged[path] = fault
        if self.damaged:
            faults = "; ".join(f"{path.name}: {fault}" for path, fault in self.damaged.items())
            raise InputError(
                self.folder, f"no checkpoint is valid ({faults}); restore one, or start a new run"
            )
        return None

    def _all(self) -> list[Path]:
        """Return all checkpoints, the newest last."""
        return [path for *_, path in self._numbered()]

    def _numbered(self) -> list[tuple[int, int, Path]]:
        """Return step, number among those of the step, and path of all checkpoints, in order."""
        found = []
        if self.folder.is_dir():
            for path in self.folder.iterdir():
                if match := _NAME.fullmatch(path.name):
                    found.append((int(match[1]), int(match[2] or 1), path))
        return sorted(found)

    def _free_name(self, step: int) -> Path:
        numbers = [number for of_step, number, _ in self._numbered() if of_step == step]
        suffix = f"-{max(numbers) + 1}" if numbers else ""
        return self.folder / f"step-{step:08d}{suffix}"

    def _write_manifest(self, folder: Path, step: int) -> None:
        files = {
            path.name: {"bytes": path.stat().st_size, "sha256": sha256_of_file(path)}
            for path in sorted(folder.iterdir())
        }
        manifest = {"format": FORMAT, "content": self._content, "step": step, "files": files}
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")

    def _fault(self, path: Path) -> str | None:
        """Return what is wrong with a checkpoint, or None."""
        try:
            manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
            return self._difference(path, manifest)
        except FileNotFoundError as error:
            return f"{Path(error.filename).name} is missing"
        except OSError as error:
            return f"cannot be read: {error.strerror or error}"
        except (ValueError, KeyError, TypeError, AttributeError):
            return f"{MANIFEST} is damaged"

    def _difference(self, path: Path, manifest: Any) -> str | None:
        """Return what is not as the manifest says, or None."""
        for key, known in (("format", FORMAT), ("content", self._content)):
            if manifest[key] != known:
                return f"{key} {manifest[key]!r} is not {known}; use a matching version"
        match = _NAME.fullmatch(path.name)
        if match is None or int(match[1]) != manifest["step"]:
            return f"is of step {manifest['step']}, by {MANIFEST}"
        for name, file in manifest["files"].items():
            size = (path / name).stat().st_size
            if size != file["bytes"]:
                return f"{name} has {size} bytes, not {file['bytes']}"
            if sha256_of_file(path / name) != file["sha256"]:
                return f"{name} is damaged: its checksum is not that of {MANIFEST}"
        return None

    def _remove_old(self) -> None:
        kept = [path for path in self._all() if path not in self.damaged]
        for path in kept[: -self._keep]:
            # Renamed first: a kill must not leave what looks like a damaged checkpoint.
            temporary = temporary_name(path)
            with writing(path):
                os.replace(path, temporary)
            shutil.rmtree(temporary, ignore_errors=True)
