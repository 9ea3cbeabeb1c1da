"""Finished parts of a long job that writes one file, kept for when it is interrupted.

They lie in a hidden folder beside the output, ``.NAME.parts`` for an output ``NAME``, until the
job is done. A job that is started again finds them and makes only the others. The name of a part
says which part of which work it is, never which rank has made it, so that another number of ranks
can go on, and no job takes what one of another plan writes to the same output meanwhile.

A part is an uncompressed ``.npz`` archive that appears whole or not at all. It is not brought to
disk at once, as it can be made again: the archive's checksums tell whether it has survived.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError, StoppedError
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.files import (
    DAMAGE,
    read_arrays,
    read_json,
    remove_leftovers,
    temporary_name,
    write_json,
    writing,
)
from ogg_hpc.runtime.unfinished import leave_marker, remove_marker

FORMAT = "ogg-hpc-parts/1"
PLAN = "plan.json"

# A member's header in an archive: 30 bytes, of which the last four are the lengths of what follows.
_MEMBER_HEADER = 30


class Parts:
    """The finished parts of one job; made by `Parts.open`.

    Attributes
    ----------
    folder : Path
        Where they lie.
    """

    def __init__(self, output: Path, folder: Path, work: str) -> None:
        self._output, self.folder, self._work = output, folder, work
        self._intact: set[str] = set()

    @staticmethod
    def open(comm: Communicator, output: str | Path, plan: Mapping[str, Any]) -> Parts:
        """Find the parts that an earlier job has finished, or begin with none (collective).

        What was only begun is removed, also the output itself under its temporary name.

        Parameters
        ----------
        comm
            All ranks of the job. No other job may write the same output at the same time.
        output
            The file that is to be made.
        plan
            What the work is, as JSON: size and time of the input, settings. Neither the number of
            ranks nor memory belongs there. Parts of another plan are removed.

        Raises
        ------
        InputError
            The folder of the output cannot be written.
        """
        output = Path(output)
        folder = output.with_name(f".{output.name}.parts")
        wanted = {"format": FORMAT, "plan": json.loads(json.dumps(plan))}

        def prepare() -> str:
            work = hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()[:12]
            remove_leftovers(output.parent, output.name)
            with suppress(InputError):
                if read_json(folder / PLAN, "a plan of parts") == wanted:
                    _remove_hidden(folder)
                    remove_marker(folder)
                    return work
            with writing(output):
                if folder.exists():
                    shutil.rmtree(folder)
                folder.mkdir(parents=True)
                write_json(folder / PLAN, wanted)
            return work

        return Parts(output, folder, comm.on_root(prepare))

    def path(self, name: str) -> Path:
        """Return the file of a part."""
        return self.folder / f"{name}.{self._work}.npz"

    def has(self, name: str) -> bool:
        """Whether a part is there and intact; one that this object has not written is read."""
        if name not in self._intact and self._is_intact(name):
            self._intact.add(name)
        return name in self._intact

    def missing(self, comm: Communicator, name: Callable[[int], str], count: int) -> list[int]:
        """Return which of the parts ``name(0)`` … ``name(count - 1)`` are not there (collective).

        Each rank looks at some of them.
        """
        mine = [k for k in range(comm.rank, count, comm.size) if not self.has(name(k))]
        return sorted(k for found in comm.gather_objects(mine) for k in found)

    def write(self, name: str, **arrays: Any) -> None:
        """Write a part, whole or not at all.

        Parameters
        ----------
        name
            Which part of the work it is; begins with no dot.
        **arrays
            Its content, by names of members.

        Raises
        ------
        InputError
            The output cannot be written: the disk is full, for example.
        """
        path = self.path(name)
        temporary = temporary_name(path)
        try:
            with writing(self._output):
                np.savez(temporary, allow_pickle=False, **arrays)
                os.replace(temporary, path)
        finally:
            with suppress(OSError):
                temporary.unlink()
        self._intact.add(name)

    def read(self, name: str, members: Collection[str] = ()) -> dict[str, NDArray[Any]]:
        """Return the arrays of a part, or only some of its members.

        Raises
        ------
        InputError
            It is missing or damaged; it counts as missing from now on.
        """
        try:
            return read_arrays(self.path(name), "a finished part", members)
        except (FileNotFoundError, InputError) as error:
            raise self._lost(name, error) from None

    def array(self, name: str, member: str) -> PartArray:
        """Return a one-dimensional member of a part, to be read in pieces.

        Raises
        ------
        InputError
            It is missing or damaged; it counts as missing from now on.
        """
        path = self.path(name)
        try:
            return _locate(path, f"{member}.npy")
        except DAMAGE as error:
            raise self._lost(name, error) from None

    def discard(self, name: str) -> None:
        """Remove a part that is needed no more, if it is there."""
        self._intact.discard(name)
        with suppress(OSError):
            self.path(name).unlink()

    @contextmanager
    def marked_when_stopped(self, comm: Communicator) -> Iterator[None]:
        """Leave the marker of an unfinished run here if a signal ends the block (collective)."""
        try:
            yield
        except StoppedError as error:
            content = {"stopped": str(error)}
            comm.on_root(lambda: leave_marker(self.folder, content))
            raise

    def remove(self, comm: Communicator) -> None:
        """Remove all parts and their folder, when the output is complete (collective)."""
        comm.barrier()
        self._intact.clear()
        comm.on_root(lambda: shutil.rmtree(self.folder, ignore_errors=True))

    def _is_intact(self, name: str) -> bool:
        try:
            with zipfile.ZipFile(self.path(name)) as archive:
                return archive.testzip() is None
        except DAMAGE:
            return False

    def _lost(self, name: str, error: Exception) -> InputError:
        self.discard(name)
        return InputError(
            self.path(name),
            f"a finished part is missing or damaged ({error}); give the same command again, "
            "it makes the part anew",
        )


class PartArray:
    """A one-dimensional array within a file, to be read in pieces.

    Parameters
    ----------
    path
        The file.
    dtype, size
        Of the array.
    offset
        Where it begins, in bytes.
    """

    def __init__(self, path: Path, dtype: np.dtype[Any], size: int, offset: int) -> None:
        self.path, self.dtype, self.size, self._offset = path, dtype, size, offset

    def read(self, lo: int, hi: int) -> NDArray[Any]:
        """Return elements lo … hi - 1.

        Raises
        ------
        InputError
            The file cannot be read, or has become shorter.
        """
        try:
            start = self._offset + lo * self.dtype.itemsize
            values = np.fromfile(self.path, self.dtype, hi - lo, offset=start)
        except OSError as error:
            raise InputError(self.path, f"cannot be read: {error.strerror or error}") from None
        if len(values) < hi - lo:
            raise InputError(self.path, "has become shorter while it was in use")
        return values


def _locate(path: Path, member: str) -> PartArray:
    with zipfile.ZipFile(path) as archive, archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, _, dtype = read_header(stream)
        header = stream.tell()
        start = archive.getinfo(member).header_offset
    with path.open("rb") as file:
        file.seek(start)
        lengths = np.frombuffer(file.read(_MEMBER_HEADER)[-4:], "<u2")
    (size,) = shape
    return PartArray(path, dtype, size, start + _MEMBER_HEADER + int(lengths.sum()) + header)


def _remove_hidden(folder: Path) -> None:
    """Remove what killed ranks had begun: temporary files, which alone are hidden."""
    for path in folder.glob(".*"):
        with suppress(OSError):
            path.unlink()
