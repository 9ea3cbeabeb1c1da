from pathlib import Path

import numpy as np
import pytest

from ogg_hpc.embedding.store import EmbeddingHeader, open_writer, read_embedding

VECTORS = np.random.default_rng(0).standard_normal((3, 2)).astype(np.float32)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "EMB.h5"
    header = EmbeddingHeader(3, 2, matrices=("vectors",))
    with open_writer(path, header, np.array(["a", "b b", "c"])) as writer:
        writer.append("vectors", VECTORS)
    return path


def test_the_suffix_says_the_format(ogg, stored: Path) -> None:
    out = stored.with_name("out.npy")
    assert ogg("embed-export", stored, out) == (0, f"{out}: 3 nodes, 2 numbers each\n", "")
    np.testing.assert_array_equal(read_embedding(out).vectors, VECTORS)


def test_a_picture_is_drawn_with_edges_and_classes(ogg, stored: Path) -> None:
    pytest.importorskip("matplotlib")
    graph, classes = stored.with_name("graph.tsv"), stored.with_name("classes.txt")
    graph.write_text("a\tb b\nb b\tc\n")
    classes.write_text("a x\nc y\n")
    out = stored.with_name("out.png")
    code, said, _ = ogg("embed-export", stored, out, "--graph", graph, "--classes", classes)
    assert (code, said) == (0, f"{out}: 3 nodes\n")
    assert out.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["out.txt"], "node 1 is called 'b b'"),
        (["out.emb"], "the suffix says the format"),
        (["out.npy", "--matrix", "context"], "has no context"),
        (["out.png", "--matrix", "context"], "has no context"),
        (["out.npy", "--graph", "g.txt"], "--graph and --classes are for pictures"),
        (["out.png", "--graph", "graph.tsv"], "node z has no vector"),
        (["out.png", "--classes", "missing.txt"], "missing.txt"),
    ],
)
def test_what_does_not_fit_is_told_in_one_message(
    ogg, stored: Path, monkeypatch, arguments: list[str], message: str
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(stored.parent)
    Path("graph.tsv").write_text("a\tz\n")
    code, out, err = ogg("embed-export", stored, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
