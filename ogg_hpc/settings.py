"""Settings as dataclasses: one source for TOML files, ``--set``, help texts and records.

A settings class is a frozen dataclass whose fields have a type, a default and a help text in
their metadata (`setting`). Fields may be settings classes themselves (a TOML table) or tuples of
them (an array of tables).
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
import types
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from ogg_hpc.errors import InputError, SettingsError

T = TypeVar("T")


def setting(default: Any, help: str) -> Any:  # noqa: A002 - as in argparse
    """Declare a field of a settings class with its default and its help text."""
    if isinstance(default, type):
        return field(default_factory=default, metadata={"help": help})
    return field(default=default, metadata={"help": help})


def load(kind: type[T], path: str | Path, overrides: Sequence[str] = ()) -> T:
    """Read settings from a TOML file.

    Parameters
    ----------
    kind
        The settings class.
    path
        The file.
    overrides
        ``section.key=value`` texts that win over the file; a value is TOML, or a plain string.

    Raises
    ------
    InputError
        The file is missing, is not TOML, or holds a key or a value that does not fit.
    SettingsError
        An override does not fit.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text)
    except OSError as error:
        raise InputError(path, f"cannot read the settings: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(path, f"not TOML: {error}") from None
    try:
        build(kind, document)
    except _KeyError as error:
        raise InputError(path, str(error), _line_of(text, error.key)) from None
    return build(kind, override(document, overrides))


def override(document: dict[str, Any], assignments: Sequence[str]) -> dict[str, Any]:
    """Return a copy of a TOML document with ``section.key=value`` assignments applied."""
    result = _copy(document)
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals or not name.strip():
            raise SettingsError(f"--set {assignment!r}: expected section.key=value")
        try:
            value: Any = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text.strip()
        *tables, key = name.strip().split(".")
        table = result
        for part in tables:
            table = table.setdefault(part, {})
            if not isinstance(table, dict):
                raise SettingsError(f"--set {assignment!r}: {part} is not a table")
        table[key] = value
    return result


def build(kind: type[T], document: dict[str, Any], prefix: str = "") -> T:
    """Make a settings object from a TOML table, checking every key and type.

    Raises
    ------
    SettingsError
        An unknown key, or a value of the wrong type or outside its range.
    """
    hints = get_type_hints(kind)
    known = {entry.name: entry for entry in fields(kind)}  # type: ignore[arg-type]
    for key in document:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"known keys: {', '.join(known)}"
            raise _KeyError(prefix + key, f"unknown key {prefix + key}; {hint}")
    values = {}
    for key, value in document.items():
        values[key] = _convert(hints[key], value, prefix + key)
    for key, entry in known.items():
        if key not in values and entry.default is MISSING and entry.default_factory is MISSING:
            raise _KeyError(prefix + key, f"the key {prefix + key} is missing")
    try:
        return kind(**values)
    except _KeyError as error:
        raise _KeyError(prefix + error.key, str(error)) from None
    except SettingsError as error:
        raise _KeyError(prefix.rstrip("."), str(error)) from None


def misfit(key: str, message: str) -> SettingsError:
    """Return the error of one setting whose value does not fit, for ``__post_init__`` to raise.

    An error without a key is put down to the table that the settings class is.
    """
    return _KeyError(key, message)


def describe(kind: type[Any], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield (key, default, help) for each setting of a class, tables included."""
    hints = get_type_hints(kind)
    for entry in fields(kind):
        inner = hints[entry.name]
        if get_origin(inner) is tuple and is_dataclass(get_args(inner)[0]):
            yield from describe(get_args(inner)[0], f"[[{prefix}{entry.name}]] ")
        elif is_dataclass(inner):
            yield from describe(inner, f"{prefix}{entry.name}.")  # type: ignore[arg-type]
        else:
            default = "" if entry.default is MISSING else repr(entry.default)
            yield prefix + entry.name, default, entry.metadata.get("help", "")


def differences(own: Any, found: Any, key: str = "") -> Iterator[str]:
    """Yield a text on each plain value found that is not the one asked for."""
    if isinstance(own, dict) and isinstance(found, dict):
        for name in dict.fromkeys([*own, *found]):
            inner = f"{key}.{name}" if key else name
            yield from differences(own.get(name), found.get(name), inner)
    elif isinstance(own, list) and isinstance(found, list) and len(own) == len(found):
        for i, values in enumerate(zip(own, found, strict=True)):
            yield from differences(*values, f"{key}[{i}]")
    elif own != found:
        yield f"{key} = {json.dumps(found)}, not {json.dumps(own)}"


class _KeyError(SettingsError):
    """A setting that does not fit, with the key to blame."""

    def __init__(self, key: str, message: str) -> None:
        # Exceptions cross ranks by pickling, which replays these arguments.
        super().__init__(key, message)
        self.key = key

    def __str__(self) -> str:
        return str(self.args[1])


def _convert(hint: Any, value: Any, name: str) -> Any:
    origin = get_origin(hint)
    if is_dataclass(hint):
        if not isinstance(value, dict):
            raise _KeyError(name, f"{name} must be a table, not {value!r}")
        return build(hint, value, f"{name}.")  # type: ignore[arg-type]
    if origin in (Union, types.UnionType):
        for option in get_args(hint):
            if option is type(None):
                continue
            try:
                return _convert(option, value, name)
            except _KeyError:
                continue
    elif origin is tuple:
        if isinstance(value, list):
            inner = get_args(hint)[0]
            return tuple(_convert(inner, v, f"{name}[{i}]") for i, v in enumerate(value))
    elif origin is dict:
        if isinstance(value, dict):
            return value
    elif hint is float:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    elif isinstance(value, hint) and not (hint is int and isinstance(value, bool)):
        return value
    raise _KeyError(name, f"{name} must be {_words(hint)}, not {value!r}")


def _words(hint: Any) -> str:
    names = {int: "an integer", float: "a number", str: "a string", bool: "true or false"}
    if get_origin(hint) is tuple:
        return "a list"
    if get_origin(hint) is dict:
        return "a table"
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(_words(option) for option in get_args(hint) if option is not type(None))
    return names.get(hint, str(hint))


def _line_of(text: str, key: str) -> int | None:
    """Return the line that sets a key such as ``train[1].count``, or what holds it."""
    without_index = re.sub(r"\[\d+\]$", "", key)
    table, seen = "", Counter[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*(\[\[?)\s*([\w.-]+)\s*\]", line):
            table = header[2]
            if header[1] == "[[":
                table = f"{table}[{seen[table]}]"
                seen[header[2]] += 1
            if key in (table, header[2]):
                return number
        elif entry := re.match(r"\s*([\w.-]+)\s*=", line):
            name = f"{table}.{entry[1]}" if table else entry[1]
            if name in (key, without_index):
                return number
    holder = key.rpartition(".")[0]
    return _line_of(text, holder) if holder else None


def _copy(document: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _copy(value) if isinstance(value, dict) else value for key, value in document.items()
    }
