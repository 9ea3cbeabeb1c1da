"""What is written of an embedding is read again, by this program and by others."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ogg_hpc.embedding.embedding import MATRICES, node_labels
from ogg_hpc.embedding.store import (
    EmbeddingHeader,
    check_labels,
    check_output,
    open_writer,
    read_embedding,
)
from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.graph import Labels

WORD2VEC = (".txt", ".vec", ".bin")
ONE_MATRIX = (*WORD2VEC, ".npy")
SUFFIXES = (".h5", ".hdf5", *ONE_MATRIX)

# Names that no white space is in, as `str.split` sees it; numpy drops NULs at their ends.
words = st.text(min_size=1, max_size=8).filter(lambda name: name.split() == [name])
words = words.filter(lambda name: not name.endswith("\0"))


def values(nodes: int, dim: int, seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """Return both matrices, whose numbers have very different sizes."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-30, 30, (nodes, dim))
    return {name: np.float32(scale * rng.standard_normal((nodes, dim))) for name in MATRICES}


def write(
    path: Path,
    matrices: dict[str, NDArray[np.float32]],
    labels: Labels | None = None,
    matrix: str | None = None,
    block: int = 3,
) -> None:
    nodes, dim = matrices["vectors"].shape
    header = EmbeddingHeader(
        nodes, dim, True, tuple(matrices), {"seed": 3, "option": ("a=1",)}, {"graph": "g.txt"}
    )
    with open_writer(path, header, labels, matrix) as writer:
        for name in writer.matrices:
            for lo in range(0, nodes, block):
                writer.append(name, matrices[name][lo : lo + block])


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "labels",
    [None, np.array([7, -3, 2**40, 0, 12, 5, 1]), np.array(["b", "ñ", "10", "a/b", "é", "-", "A"])],
    ids=["without", "integers", "texts"],
)
def test_rows_and_labels_come_back_in_the_order_of_the_nodes(
    tmp_path: Path, suffix: str, labels: Labels | None
) -> None:
    matrices = values(7, 5)
    path = tmp_path / f"out{suffix}"
    write(path, matrices, labels)
    read = read_embedding(path)
    np.testing.assert_array_equal(read.vectors, matrices["vectors"])
    np.testing.assert_array_equal(read.labels, node_labels(labels, 7))
    assert read.labels.dtype.kind == node_labels(labels, 7).dtype.kind
    if suffix in (".h5", ".hdf5"):
        assert read.context is not None
        np.testing.assert_array_equal(read.context, matrices["context"])
        assert read.settings == {"seed": 3, "option": ["a=1"]}
        assert read.provenance == {"graph": "g.txt"}
        assert read.directed


@pytest.mark.parametrize("suffix", ONE_MATRIX)
def test_the_context_is_written_where_it_is_asked_for(tmp_path: Path, suffix: str) -> None:
    matrices = values(7, 5)
    write(tmp_path / f"out{suffix}", matrices, matrix="context")
    read = read_embedding(tmp_path / f"out{suffix}")
    np.testing.assert_array_equal(read.vectors, matrices["context"])


@pytest.mark.parametrize("suffix", WORD2VEC)
@settings(max_examples=40, deadline=None)
@given(labels=st.lists(words, min_size=1, max_size=6, unique=True), seed=st.integers(0, 9))
def test_gensim_finds_each_node_by_its_name(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, labels: list[str], seed: int
) -> None:
    models = pytest.importorskip("gensim.models")
    path = tmp_path_factory.mktemp("word2vec") / f"out{suffix}"
    matrices = values(len(labels), 4, seed)
    write(path, matrices, np.array(labels))
    found = models.KeyedVectors.load_word2vec_format(path, binary=suffix == ".bin")
    assert found.index_to_key == labels
    np.testing.assert_array_equal(found.vectors, matrices["vectors"])
    assert [str(label) for label in read_embedding(path).labels.tolist()] == labels


@settings(max_examples=100, deadline=None)
@given(
    labels=st.lists(
        st.text(max_size=8).filter(lambda name: not name.endswith("\0")), max_size=6, unique=True
    )
)
@pytest.mark.parametrize("suffix", [".h5", ".npy"])
def test_the_other_formats_hold_any_name(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, labels: list[str]
) -> None:
    path = tmp_path_factory.mktemp("any") / f"out{suffix}"
    write(path, values(len(labels), 4), np.array(labels, dtype=np.str_))
    assert [str(label) for label in read_embedding(path).labels.tolist()] == labels


@pytest.mark.parametrize("suffix", WORD2VEC)
@pytest.mark.parametrize("label", ["New York", "a\tb", "a\nb", "", " ", "a\u00a0b", "b\r"])
def test_a_name_that_word2vec_would_read_wrongly_is_refused_before_anything_is_written(
    tmp_path: Path, suffix: str, label: str
) -> None:
    path, labels = tmp_path / f"out{suffix}", np.array(["x", label])
    with pytest.raises(SettingsError, match=r"node 1 .*white space; write \.h5, or \.npy"):
        check_labels(path, labels)
    with pytest.raises(SettingsError, match="white space"):
        write(path, values(2, 3), labels)
    assert list(tmp_path.iterdir()) == []
    check_labels(tmp_path / "out.npy", labels)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_failure_on_the_way_leaves_no_file(
    tmp_path: Path, suffix: str, error: type[BaseException]
) -> None:
    def fail_after_some_rows() -> None:
        with open_writer(tmp_path / f"out{suffix}", EmbeddingHeader(4, 3), None) as writer:
            writer.append(writer.matrices[0], np.zeros((2, 3), np.float32))
            raise error

    with pytest.raises(error):
        fail_after_some_rows()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_rows_leave_no_file(tmp_path: Path, suffix: str) -> None:
    def write_too_few() -> None:
        with open_writer(tmp_path / f"out{suffix}", EmbeddingHeader(4, 3), None) as writer:
            for matrix in writer.matrices:
                writer.append(matrix, np.zeros((3, 3), np.float32))

    with pytest.raises(AssertionError):
        write_too_few()
    assert list(tmp_path.iterdir()) == []


def test_unknown_suffixes_and_matrices_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"suffix says the format.*\.h5.*\.npy"):
        check_output(tmp_path / "out.emb")
    with pytest.raises(SettingsError, match="holds both matrices"):
        check_output(tmp_path / "out.h5", "context")
    with pytest.raises(SettingsError, match="vectors and context"):
        check_output(tmp_path / "out.txt", "hidden")
    with pytest.raises(SettingsError, match="has no context"):
        write(tmp_path / "out.txt", {"vectors": values(2, 3)["vectors"]}, matrix="context")


def test_other_and_newer_and_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "out.h5"
    with pytest.raises(InputError, match="no such file"):
        read_embedding(path)
    write(path, values(50, 8))
    whole = path.read_bytes()
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = 2
    with pytest.raises(InputError, match="version 2, this program reads version 1"):
        read_embedding(path)
    path.write_bytes(whole)
    with h5py.File(path, "r+") as file:
        file.attrs["dim"] = 7
    with pytest.raises(InputError, match="damaged or were edited"):
        read_embedding(path)
    first = values(50, 8)["vectors"].tobytes()
    path.write_bytes(whole.replace(first, first[:-1] + b"?"))
    with pytest.raises(InputError, match=r"'vectors', chunk 0 .* fails its checksum"):
        read_embedding(path)
    path.write_bytes(whole[:-100])
    with pytest.raises(InputError, match="no intact HDF5 file"):
        read_embedding(path)
    with h5py.File(path, "w"):
        pass
    with pytest.raises(InputError, match="no embedding"):
        read_embedding(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"x 1 2\n", ":1: does not begin with a line 'N D'"),  # as GloVe's files
        ("a.txt", b"1 2\nx 1\n", ":2: has 1 numbers instead of 2"),
        ("a.txt", b"1 2\nx 1 y\n", ":2: could not convert"),
        ("a.txt", b"2 1\nx 1\n", ":3: has 0 numbers"),
        ("a.txt", b"1 1\nx 1\ny 2\n", "more than the 1 rows"),
        ("a.bin", b"2 1\nx 1234\n", "ends within row 1 of 2"),
        ("a.bin", b"1 1\nx 12345", "more than the 1 rows"),
        ("a.npy", b"x", "a.npy: is no intact .npy file"),
    ],
)
def test_files_that_do_not_fit_are_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "a.vocab.tsv").write_text("")
    with pytest.raises(InputError, match=message):
        read_embedding(tmp_path / name)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_refused(tmp_path: Path, suffix: str, wrong: float) -> None:
    path, matrices = tmp_path / f"emb{suffix}", values(3, 2)
    matrices["vectors"][1, 1] = wrong
    write(path, matrices, np.array(["a", "b", "c"]))
    with pytest.raises(InputError, match="the vector of node b is not finite"):
        read_embedding(path)


def test_contexts_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    matrices = values(3, 2)
    matrices["context"][2, 0] = np.nan
    write(tmp_path / "emb.h5", matrices)
    with pytest.raises(InputError, match="the vector of node 2 is not finite"):
        read_embedding(tmp_path / "emb.h5")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("labels", [["a", "b", "a"], [7, 1, 7]])
def test_nodes_that_are_named_twice_are_refused(
    tmp_path: Path, suffix: str, labels: list[object]
) -> None:
    path = tmp_path / f"emb{suffix}"
    write(path, values(3, 2), np.array(labels))
    with pytest.raises(InputError, match=f"names node {labels[0]} twice"):
        read_embedding(path)


def test_an_npy_needs_its_vocabulary(tmp_path: Path) -> None:
    write(tmp_path / "a.npy", values(4, 2))
    (tmp_path / "a.vocab.tsv").write_text("0\n1\n")
    with pytest.raises(InputError, match=r"a.vocab.tsv: names 2 nodes, but .*a.npy has 4 rows"):
        read_embedding(tmp_path / "a.npy")
    (tmp_path / "a.vocab.tsv").unlink()
    with pytest.raises(InputError, match=r"a.vocab.tsv: cannot be read"):
        read_embedding(tmp_path / "a.npy")


def test_blocks_of_the_store_are_whole_chunks(tmp_path: Path) -> None:
    header = EmbeddingHeader(40_000, 300, matrices=("vectors",))
    with open_writer(tmp_path / "out.h5", header, None) as writer:
        for lo in range(0, header.nodes, writer.block_rows):
            rows = min(header.nodes - lo, writer.block_rows)
            writer.append("vectors", np.zeros((rows, 300), np.float32))
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["vectors"].chunks == (2**20 // (4 * 300), 300)
        assert writer.block_rows % file["vectors"].chunks[0] == 0


def test_other_programs_rows_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"2 2\nx 0.5 -1 \r\ny 1e-3 2\r\n")  # as word2vec's own
    read = read_embedding(tmp_path / "a.txt")
    np.testing.assert_array_equal(read.vectors, np.float32([[0.5, -1], [1e-3, 2]]))
    numbers = np.arange(4, dtype="<f4").reshape(2, 2)
    rows = b"x " + numbers[0].tobytes() + b"y " + numbers[1].tobytes()
    (tmp_path / "a.bin").write_bytes(b"2 2\n" + rows)  # without line feeds, as gensim's
    read = read_embedding(tmp_path / "a.bin")
    np.testing.assert_array_equal(read.vectors, numbers)
    assert read.labels.tolist() == ["x", "y"]
