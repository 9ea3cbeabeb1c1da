from __future__ import annotations

import pytest

from ogg_hpc.actors.environments.molecules.kinds import KINDS
from ogg_hpc.actors.environments.molecules.settings import MoleculeSettings
from ogg_hpc.actors.environments.molecules.starts import load_starts
from ogg_hpc.errors import InputError, SettingsError


def smiles_of(start, **options):
    settings = MoleculeSettings(start=str(start), **options)
    return [each.smiles for each in load_starts(settings)]


def test_a_start_may_be_one_smiles():
    assert smiles_of("OC") == ["CO"]


@pytest.mark.parametrize("separator", [" ", "\t", ",", " , "])
def test_a_file_has_smiles_first_in_its_lines(tmp_path, separator):
    file = tmp_path / "starts.txt"
    lines = ["smiles,plogp", "# two of them", "OC,1", "", "  [NH3+]C,2"]
    file.write_text("\n".join(lines).replace(",", separator))
    assert smiles_of(file) == ["CO", "C[NH3+]"]


def test_molecules_of_low_penalised_log_p_are_starts(shared_data):
    path = shared_data / "mols" / "low_plogp_300.txt"
    if not path.is_file():
        pytest.skip(f"needs {path}")
    assert len(smiles_of(path, kinds=tuple(KINDS))) == 300


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("C\nCO\nC(C\n", 3, r"C\(C is not a SMILES that RDKit can read"),
        ("C\n\n# more\nC[Se]C\n", 4, r"C\[Se\]C has an atom Se"),
        ("CC.C 1.5\n", 1, "CC.C is more than one molecule"),
        ("smiles\n\n", None, "has no SMILES; one is expected on each line"),
    ],
)
def test_files_that_are_wrong(tmp_path, capfd, text, line, message):
    file = tmp_path / "starts.txt"
    file.write_text(text)
    where = f"{file}:{line}: " if line else f"{file}: "
    with pytest.raises(InputError, match=message) as caught:
        smiles_of(file)
    assert str(caught.value).startswith(where)
    assert capfd.readouterr() == ("", "")  # RDKit is silent


def test_a_file_that_is_no_text(tmp_path):
    file = tmp_path / "starts.bin"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"starts.bin: cannot be read"):
        smiles_of(file)


def test_a_start_that_is_neither_file_nor_smiles():
    with pytest.raises(SettingsError, match=r"'no-such.txt' is no file, and is not a SMILES"):
        smiles_of("no-such.txt")
    with pytest.raises(SettingsError, match=r"'CCC' is no file, and has 3 atoms"):
        smiles_of("CCC", max_atoms=2)
