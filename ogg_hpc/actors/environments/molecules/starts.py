"""Molecules that episodes start from: one SMILES, or a file of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rdkit import Chem, rdBase

from ogg_hpc.actors.environments.molecules.chemistry import graph_of, molecule_of, smiles_of
from ogg_hpc.actors.environments.molecules.molecular_graph import MolecularGraph
from ogg_hpc.actors.environments.molecules.settings import MoleculeSettings
from ogg_hpc.errors import InputError, SettingsError

_SEPARATORS = re.compile(r"[\s,;]+")


@dataclass(frozen=True)
class Start:
    """What an episode starts from.

    Attributes
    ----------
    smiles : str
        Canonical SMILES, without stereochemistry.
    graph : MolecularGraph
        To be copied, not changed.
    molecule : rdkit.Chem.Mol
        The same for RDKit.
    """

    smiles: str
    graph: MolecularGraph
    molecule: Chem.Mol


def make_start(smiles: str, settings: MoleculeSettings) -> Start:
    """Return the start that a SMILES describes.

    Raises
    ------
    ValueError
        It describes no molecule, or one that the settings do not permit; the message says why.
    """
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles)
    if molecule is None:
        raise ValueError("is not a SMILES that RDKit can read")
    graph = graph_of(molecule, settings)
    built = molecule_of(graph)
    return Start(smiles_of(built), graph, built)


def load_starts(settings: MoleculeSettings) -> list[Start]:
    """Return the starts of the settings, in the order of the file; it takes 1 ms for each.

    A file has a SMILES at the beginning of each line; what follows after a blank or a comma is
    ignored, and so are empty lines, lines that begin with ``#`` and a header ``smiles``.

    Raises
    ------
    InputError
        A file that cannot be read or has no SMILES, or a line whose molecule is none or is not
        permitted.
    SettingsError
        A text that is neither a file nor the SMILES of a molecule that is permitted.
    """
    path = Path(settings.start)
    if not path.is_file():
        try:
            return [make_start(settings.start, settings)]
        except ValueError as error:
            raise SettingsError(f"start {settings.start!r} is no file, and {error}") from None
    starts = []
    for number, smiles in _smiles_of(path):
        try:
            starts.append(make_start(smiles, settings))
        except ValueError as error:
            raise InputError(path, f"{smiles} {error}", number) from None
    if not starts:
        raise InputError(path, "has no SMILES; one is expected on each line")
    return starts


def _smiles_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number of each line with a SMILES, and the SMILES."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        word = _SEPARATORS.split(line.strip(), maxsplit=1)[0]
        if word and not word.startswith("#") and word.lower() != "smiles":
            yield number, word
