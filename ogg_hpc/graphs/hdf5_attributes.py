"""Attributes that say what an HDF5 file is, with a checksum: HDF5 keeps none of their values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ogg_hpc.errors import InputError


def write_attributes(file: h5py.File, header: Mapping[str, str | int | float | bool]) -> None:
    """Write the attributes of a file, and their checksum."""
    for name, value in {**header, "checksum": checksum_of(header)}.items():
        # Of fixed length: others lie in a heap without checksums, and HDF5 reads some
        # damaged heaps for ever.
        if isinstance(value, str):
            text = value.encode()
            file.attrs.create(name, text, dtype=h5py.string_dtype("utf-8", max(1, len(text))))
        else:
            file.attrs[name] = value


def open_hdf5(path: Path, **options: Any) -> h5py.File:
    """Open a finished HDF5 file for reading.

    Parameters
    ----------
    path
        The file.
    **options
        Of ``h5py.File``.

    Raises
    ------
    InputError
        There is none, or it is not intact.
    """
    try:
        # A finished file is never written again, and locks fail on some file systems.
        return h5py.File(path, "r", locking=False, **options)
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except OSError as error:
        if "unable to lock file" in str(error):  # the variable has been set, and counts more
            message = "is locked; finished stores need no locks: HDF5_USE_FILE_LOCKING=FALSE"
        else:
            message = f"is no intact HDF5 file ({error})"
        raise InputError(path, message) from error


def read_attributes(file: h5py.File, path: Path) -> dict[str, Any]:
    """Return the attributes of a file as Python's own kinds, with the checksum not yet checked.

    Raises
    ------
    InputError
        They cannot be read.
    """
    try:
        return {name: _plain(value) for name, value in file.attrs.items()}
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        raise InputError(path, f"its attributes are damaged ({error})") from error


def check_attributes(attributes: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return attributes without their checksum.

    Raises
    ------
    InputError
        They are not those that it was computed from.
    """
    header = dict(attributes)
    if header.pop("checksum", None) != checksum_of(header):
        raise InputError(path, "its attributes are damaged or were edited")
    return header


def checksum_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a mapping, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Return the value of an attribute as Python's own kind; files from before have strings."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain.decode() if isinstance(plain, bytes) else plain
