"""Pictures of embeddings."""

from pathlib import Path

import numpy as np
import pytest

from ogg_hpc.embedding.plot import principal_components, read_classes, write_plot
from ogg_hpc.errors import InputError, MissingExtraError, SettingsError
from ogg_hpc.graphs.graph import Graph

VECTORS = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
LABELS = np.array(["a", "b b", "c", "d"])


def test_points_on_a_plane_keep_their_distances() -> None:
    rng = np.random.default_rng(0)
    flat = rng.standard_normal((50, 2))
    rotation, _ = np.linalg.qr(rng.standard_normal((10, 10)))
    found = principal_components((flat @ rotation[:2] + 5).astype(np.float32))

    def distances(points):
        return np.linalg.norm(points[:, None] - points[None], axis=-1)

    np.testing.assert_allclose(distances(found), distances(flat), atol=1e-5)
    assert found[:, 0].std() >= found[:, 1].std()


@pytest.mark.parametrize("shape", [(5, 1), (1, 5), (3, 3)])
def test_directions_that_there_are_not_are_zero(shape: tuple[int, int]) -> None:
    found = principal_components(np.ones(shape, dtype=np.float32))
    np.testing.assert_array_equal(found, np.zeros((shape[0], 2)))


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_picture_is_drawn(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    graph = Graph.from_edges(3, [0, 1], [1, 2], labels=np.array(["d", "b b", "a"]))
    classes = {"a": "x", "d": "y"}
    path = tmp_path / f"out{suffix}"
    write_plot(path, VECTORS, LABELS, graph, classes)
    assert path.stat().st_size > 1000
    if suffix == ".svg":
        assert all(f"<!-- {word} -->" in path.read_text() for word in ("b b", "x", "others"))


def test_nodes_without_vectors_are_named(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    graph = Graph.from_edges(2, [0], [1], labels=np.array(["a", "z"]))
    with pytest.raises(SettingsError, match="node 'z' has no vector"):
        write_plot(tmp_path / "out.png", VECTORS, LABELS, graph)
    with pytest.raises(SettingsError, match="node 7 has no vector"):
        write_plot(tmp_path / "out.png", VECTORS, LABELS, classes={7: "x"})


def test_without_matplotlib_the_command_that_brings_it_is_told(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ogg-hpc\[plot\]'"):
        write_plot(tmp_path / "out.png", VECTORS, LABELS)


def test_classes_are_read_by_label(tmp_path: Path) -> None:
    path = tmp_path / "classes.txt"
    path.write_text("# who is what\n1 red\n30\tblue\n1 green\n\n")
    assert read_classes(path) == {1: "red", 30: "blue"}
    path.write_text("New York red\n1 blue\n")
    assert read_classes(path) == {"New York": "red", "1": "blue"}
    path.write_text("1 red\n2\n")
    with pytest.raises(InputError, match=r"classes.txt:2: expected a label and a class"):
        read_classes(path)
