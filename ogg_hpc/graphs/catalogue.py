"""The catalogue of public graphs: names, sources and sizes, read from TOML."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from ogg_hpc.errors import InputError, SettingsError

VERSION = 1


@dataclass(frozen=True)
class CatalogueEntry:
    """One public graph.

    Attributes
    ----------
    name, family, about, page, licence : str
        What it is, and where its source describes it.
    url : str
        Where to download it.
    nodes, edges : int
        Its size after self loops are dropped and repeated edges merged.
    format : str, optional
        Format of the file as `read_graph` names it; found by content when None.
    member : str, optional
        Name of the file within a zip or tar archive.
    directed : bool
        Whether each line is an arc.
    bytes : int, optional
        Size of the download.
    sha1, sha256 : str, optional
        Checksums of the download, in hexadecimal.
    """

    name: str
    family: str
    about: str
    page: str
    licence: str
    url: str
    nodes: int
    edges: int
    format: str | None = None
    member: str | None = None
    directed: bool = False
    bytes: int | None = None
    sha1: str | None = None
    sha256: str | None = None


def load_catalogue(path: str | Path | None = None) -> dict[str, CatalogueEntry]:
    """Return the entries of a catalogue by name.

    Parameters
    ----------
    path
        A TOML file in the form of the package's own, which is the default.

    Raises
    ------
    InputError
        A file that cannot be read, or has unknown or missing keys or an unknown version.
    """
    source = files("ogg_hpc.graphs") / "catalogue.toml" if path is None else Path(path)
    try:
        content = tomllib.loads(source.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(str(source), "no such file") from None
    except (OSError, ValueError) as error:
        raise InputError(str(source), f"is no TOML file ({error})") from error
    if content.get("version") != VERSION:
        raise InputError(
            str(source), f"has version {content.get('version')}, expected version = {VERSION}"
        )
    entries: dict[str, CatalogueEntry] = {}
    for family in content.get("family", []):
        shared = {key: value for key, value in family.items() if key not in ("name", "graphs")}
        for graph in family.get("graphs", []):
            entry = _entry(str(source), {"family": family.get("name"), **shared, **graph})
            if entry.name in entries:
                raise InputError(str(source), f"graph {entry.name!r} is listed twice")
            entries[entry.name] = entry
    return entries


def find_entry(entries: dict[str, CatalogueEntry], name: str) -> CatalogueEntry:
    """Return the entry of a name, in whatever case.

    Raises
    ------
    SettingsError
        An unknown name; the message suggests near ones.
    """
    if name in entries:
        return entries[name]
    from difflib import get_close_matches

    folded = {known.lower(): known for known in entries}
    if name.lower() in folded:
        return entries[folded[name.lower()]]
    near = [folded[match] for match in get_close_matches(name.lower(), folded, n=3)]
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise SettingsError(f"the catalogue has no graph {name!r}{hint} (no NAME lists all)")


def _entry(source: str, values: dict[str, Any]) -> CatalogueEntry:
    name = str(values.get("name"))
    for key in ("url", "member"):
        if key in values:
            values[key] = values[key].replace("{name}", name)
    try:
        entry = CatalogueEntry(**values)
    except TypeError as error:
        message = str(error).replace("CatalogueEntry.__init__() ", "")
        raise InputError(source, f"graph {name!r}: {message}") from None
    for field in fields(entry):
        value = getattr(entry, field.name)
        expected = {"int": int, "str": str, "bool": bool}[str(field.type).split(" ")[0]]
        if not isinstance(value, expected) and not (value is None and "None" in str(field.type)):
            raise InputError(source, f"graph {name!r}: key {field.name!r} must be {field.type}")
    return entry
