"""The page that specifies stores tells the truth."""

import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from ogg_hpc.graphs.generators import barabasi_albert
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import Objective, SolvedGraph, check_store, write_store
from ogg_hpc.graphs.store_format import StoreKind, dataset_types

ROOT = Path(__file__).parents[2]
FIRST_PAGE = (ROOT / "README.md").read_text()
PAGE = (ROOT / "docs" / "store.md").read_text()


def test_its_code_reads_stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = barabasi_albert(40, 3, 1)
    write_store(
        tmp_path / "graphs.h5",
        [SolvedGraph(graph, {"mvc": Objective(20, False)}), barabasi_albert(30, 2, 2)],
        {"source": "¡Sí!", "seed": 3, "share": 0.1, "final": True},
    )
    labels = np.array(["a", "ñ", "c"])
    write_store(tmp_path / "named.h5", [Graph.from_edges(3, [0], [1], labels=labels)])
    monkeypatch.chdir(tmp_path)
    known: dict[str, object] = {}
    found = []
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, known)
        found.append(dict(known))
    one, rows, named, _, library = found
    np.testing.assert_array_equal(one["row_offsets"], graph.row_offsets)
    np.testing.assert_array_equal(one["columns"], graph.columns)
    expected = graph.columns[graph.row_offsets[10] : graph.row_offsets[20]]
    np.testing.assert_array_equal(rows["neighbours"], expected)
    np.testing.assert_array_equal(library["neighbours"], expected)
    np.testing.assert_array_equal(rows["degrees"], graph.degrees[10:20])
    assert named["names"] == labels.tolist()
    np.testing.assert_array_equal(library["values"], [20, np.nan])


def test_the_first_page_reads_a_graph_in_five_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = barabasi_albert(40, 3, 1)
    write_store(tmp_path / "graph.h5", [graph])
    monkeypatch.chdir(tmp_path)
    [block] = re.findall(r"```python\n(import h5py\n.*?)```", FIRST_PAGE, re.DOTALL)
    known: dict[str, np.ndarray] = {}
    exec(block, known)
    assert len([line for line in block.splitlines() if line]) <= 5
    np.testing.assert_array_equal(known["neighbours_of_node_5"], graph.neighbours(5))


def test_it_names_each_dataset_with_its_type() -> None:
    rows = re.findall(r"^\| `([\w/]+)` \| [^|]+ \| ([\w ]+) \|", PAGE, re.MULTILINE)
    kinds = [StoreKind(True, True, True, labels) for labels in ("integer", "text")]
    types = {
        name: np.dtype(dtype)
        for kind in kinds
        for name, dtype in dataset_types(kind, problems=["PROBLEM"]).items()
    }
    assert {name: dtype.split(" or ")[0] for name, dtype in rows} == {
        name: str(dtype) for name, dtype in types.items()
    }


def test_files_are_laid_out_as_it_says(tmp_path: Path) -> None:
    path = tmp_path / "graph.h5"
    write_store(path, [barabasi_albert(40_000, 10, 0)])
    assert check_store(path) == []
    with h5py.File(path) as file:
        assert set(file.attrs) <= set(re.findall(r"`(\w+)`", PAGE.split("**Attributes**")[1]))
        for dataset in file.values():
            properties = dataset.id.get_create_plist()
            filters = [properties.get_filter(i)[0] for i in range(properties.get_nfilters())]
            assert filters == [h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_DEFLATE, 3]
            whole = 2**20 // dataset.dtype.itemsize
            assert dataset.chunks == (min(whole, max(1, len(dataset))),)
