"""An EMB.h5 in other formats."""

from pathlib import Path

import numpy as np
import pytest

from ogg_hpc.embedding import embedding as module
from ogg_hpc.embedding.export import export_embedding
from ogg_hpc.embedding.store import EmbeddingHeader, open_writer, read_embedding
from ogg_hpc.errors import SettingsError

VECTORS, CONTEXT = np.random.default_rng(0).standard_normal((2, 1000, 8)).astype(np.float32)
LABELS = np.random.default_rng(1).permutation(10**9 + np.arange(1000) * 7)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An embedding of nodes whose names are neither sorted nor in a row."""
    path = tmp_path_factory.mktemp("export") / "EMB.h5"
    with open_writer(path, EmbeddingHeader(1000, 8), LABELS) as writer:
        writer.append("vectors", VECTORS)
        writer.append("context", CONTEXT)
    return path


@pytest.mark.parametrize("suffix", [".txt", ".vec", ".bin", ".npy"])
@pytest.mark.parametrize(("matrix", "rows"), [(None, VECTORS), ("context", CONTEXT)])
def test_every_node_is_there_in_the_order_of_the_graph(
    stored: Path, tmp_path: Path, monkeypatch, suffix: str, matrix: str | None, rows
) -> None:
    monkeypatch.setattr(module, "BLOCK_BYTES", 8 * 4 * 300)  # in blocks with a short last one
    path = tmp_path / f"out{suffix}"
    assert export_embedding(stored, path, matrix) == (1000, 8)
    read = read_embedding(path)
    np.testing.assert_array_equal(read.labels, LABELS)
    np.testing.assert_array_equal(read.vectors, rows)


def test_a_copy_is_the_same_file(stored: Path, tmp_path: Path) -> None:
    export_embedding(stored, tmp_path / "copy.h5")
    assert (tmp_path / "copy.h5").read_bytes() == stored.read_bytes()


def test_one_matrix_of_a_store_is_refused(stored: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="holds both matrices"):
        export_embedding(stored, tmp_path / "copy.h5", "context")
