"""The page that specifies files of embeddings tells the truth."""

import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from ogg_hpc.embedding.export import export_embedding
from ogg_hpc.embedding.formats.hdf5 import FORMAT, VERSION
from ogg_hpc.embedding.store import EmbeddingHeader, open_writer

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "embedding.md").read_text()
RNG = np.random.default_rng(0)
VECTORS, CONTEXT = RNG.standard_normal((2, 30, 4)).astype(np.float32)
NAMES = [f"ñ {i}" for i in range(30)]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the files that the page reads, and go to their folder."""
    header = EmbeddingHeader(30, 4, settings={"seed": 3})
    for name, labels in (("EMB", 2 * np.arange(30)), ("named", np.array(NAMES))):
        with open_writer(tmp_path / f"{name}.h5", header, labels) as writer:
            writer.append("vectors", VECTORS)
            writer.append("context", CONTEXT)
    for suffix in ("txt", "bin", "npy"):
        export_embedding(tmp_path / "EMB.h5", tmp_path / f"vectors.{suffix}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_its_code_reads_embeddings(files: Path) -> None:
    pytest.importorskip("gensim")
    known: dict[str, object] = {}
    found = []
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, known)
        found.append(dict(known))
    whole, named, rows, library, word2vec, keyed = found
    np.testing.assert_array_equal(whole["vectors"], VECTORS)
    np.testing.assert_array_equal(whole["context"], CONTEXT)
    np.testing.assert_array_equal(whole["vector_of"][58], VECTORS[29])
    assert whole["settings"] == {"seed": 3}
    assert named["names"] == NAMES
    np.testing.assert_array_equal(rows["some"], VECTORS[10:20])
    np.testing.assert_allclose(library["scores"], VECTORS @ CONTEXT.T)
    for vectors in (word2vec["text"], word2vec["binary"], keyed["keyed"]):
        np.testing.assert_array_equal(vectors["34"], VECTORS[17])


def test_it_names_each_dataset_with_its_type(files: Path) -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| (\w+) \|", PAGE, re.MULTILINE)
    types = {}
    for name in ("EMB.h5", "named.h5"):
        with h5py.File(files / name) as file:
            types |= {name: str(dataset.dtype) for name, dataset in file.items()}
    assert dict(rows) == types


def test_files_are_laid_out_as_it_says(files: Path) -> None:
    attributes = PAGE.split("**Attributes**")[1].split("### Reading")[0]
    with h5py.File(files / "EMB.h5") as file:
        assert set(file.attrs) <= set(re.findall(r"`(\w+)`", attributes))
        assert f"`format` = `{FORMAT}`, `version` = {VERSION}" in attributes
        properties = file["vectors"].id.get_create_plist()
        filters = [properties.get_filter(i)[0] for i in range(properties.get_nfilters())]
        assert filters == [h5py.h5z.FILTER_FLETCHER32]
