"""Pictures of embeddings."""

from pathlib import Path

import numpy as np
import pytest

from ogg_hpc.embedding.evaluation.classes import Classes
from ogg_hpc.embedding.plot import principal_components, write_plot
from ogg_hpc.errors import MissingExtraError
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
    graph = Graph.from_edges(4, [0, 1], [1, 2])
    members = np.array([[True, True], [False, True], [False, False], [True, False]])
    classes = Classes(members, ["x", "y"], 0)
    path = tmp_path / f"out{suffix}"
    write_plot(path, VECTORS, LABELS, graph, classes)
    assert path.stat().st_size > 1000
    if suffix == ".svg":
        assert all(f"<!-- {word} -->" in path.read_text() for word in ("b b", "x", "y", "others"))


def test_without_matplotlib_the_command_that_brings_it_is_told(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ogg-hpc\[plot\]'"):
        write_plot(tmp_path / "out.png", VECTORS, LABELS)
