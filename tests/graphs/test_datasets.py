import importlib.util
import lzma
import sys
from pathlib import Path

import pytest

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import GraphStore, check_store, read_store_graph
from ogg_hpc.runtime.files import sha256_of_file

ROOT = Path(__file__).parents[2]
DEBIAN = ROOT / "datasets" / "debian-bookworm.h5"


@pytest.fixture(scope="module")
def debian() -> Graph:
    return read_store_graph(DEBIAN)


def test_the_debian_graph_is_sound_and_as_its_readme_says() -> None:
    assert check_store(DEBIAN) == []
    text = (DEBIAN.parent / "README.md").read_text()
    assert sha256_of_file(DEBIAN) in text
    with GraphStore(DEBIAN) as store:
        assert store.version == 2
        assert str(store.attributes["source_sha256"]) in text
        assert f"{store.nodes[0]:,}" in text
        assert f"{store.nnz[0] // 2:,}" in text


def test_known_relations_of_debian_packages(debian: Graph) -> None:
    for a, b in [("python3", "python3-minimal"), ("bash", "libc6"), ("apt", "libapt-pkg6.0")]:
        i, j = debian.ids_of([a, b])
        assert j in debian.neighbours(int(i))
    i, j = debian.ids_of(["python3", "libreoffice"])
    assert j not in debian.neighbours(int(i))


INDEX = """\
Package: a
Version: 1
Pre-Depends: b (>= 1.0)
Depends: c:any | virtual,
 d [amd64]
Suggests: e

Package: b
Recommends: a, b
Description: not a field
 Depends: e

Package: c

Package: d
Depends: elsewhere

Package: e
"""


@pytest.mark.parametrize("suffix", ["", ".xz"])
def test_the_recipe_reads_a_packages_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    spec = importlib.util.spec_from_file_location(
        "make_debian_graph", ROOT / "scripts" / "make_debian_graph.py"
    )
    assert spec is not None
    assert spec.loader is not None
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    index = tmp_path / f"Packages{suffix}"
    index.write_bytes(lzma.compress(INDEX.encode()) if suffix else INDEX.encode())
    output = tmp_path / "graph.h5"
    monkeypatch.setattr(sys, "argv", ["recipe", str(index), str(output), "--release", "test"])
    recipe.main()
    graph = read_store_graph(output)
    assert graph.labels_of(range(graph.n)) == ["a", "b", "c", "d", "e"]
    u, v, _ = graph.edges()
    assert list(zip(u.tolist(), v.tolist(), strict=True)) == [(0, 1), (0, 2), (0, 3)]
