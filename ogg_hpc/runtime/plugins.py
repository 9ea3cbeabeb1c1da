"""A user's own classes, loaded from a Python file."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from ogg_hpc.errors import SettingsError


def load_class(spec: str, base: type) -> type[Any]:
    """Return the class that ``path/to/file.py:ClassName`` names.

    The file is executed once in a process, so that its classes keep their identity.

    Parameters
    ----------
    spec
        The file and the class.
    base
        What the class has to derive from.

    Raises
    ------
    SettingsError
        No such file or class, a file that fails to run, or a class that does not derive from
        `base` or leaves some of its methods out.
    """
    file, _, name = spec.rpartition(":")
    if not file or not name:
        raise SettingsError(f"{spec!r} names no class; expected path/to/file.py:ClassName")
    path = Path(file).resolve()
    if not path.is_file():
        raise SettingsError(f"{spec}: no such file: {file}")
    module = _load(path)
    found: Any = getattr(module, name, None)
    if not inspect.isclass(found):
        raise SettingsError(f"{spec}: {file} defines no class {name}")
    wanted = f"{base.__module__}.{base.__qualname__}"
    if not issubclass(found, base):
        raise SettingsError(f"{spec}: {name} has to be a subclass of {wanted}")
    missing = sorted(getattr(found, "__abstractmethods__", ()))
    if missing:
        raise SettingsError(
            f"{spec}: {name} has to define what {wanted} asks for: {', '.join(missing)}"
        )
    loaded: type[Any] = found
    return loaded


def _load(path: Path) -> ModuleType:
    name = f"ogg_hpc_user_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SettingsError(f"{path}: not a Python file; its name has to end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        where = str(path)
        if isinstance(error, SyntaxError):
            where = f"{path}:{error.lineno}"
        else:
            for frame in traceback.extract_tb(error.__traceback__):
                if frame.filename == str(path):
                    where = f"{path}:{frame.lineno}"
        raise SettingsError(f"{where}: {type(error).__name__}: {error}") from error
    return module
