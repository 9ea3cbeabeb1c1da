"""Known sizes of public graphs, with all their quirks."""

from pathlib import Path

import numpy as np
import pytest

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.readers import read_graph

SIZES = {
    "socfb/socfb-American75.mtx": (6386, 217662),
    "socfb/socfb-Caltech36.mtx": (769, 16656),
    "socfb/socfb-Haverford76.mtx": (1446, 59589),
    "socfb/socfb-MIT.mtx": (6402, 251230),
    "socfb/socfb-Reed98.mtx": (962, 18812),
    "socfb/socfb-Simmons81.mtx": (1518, 32988),
    "socfb/socfb-Swarthmore42.mtx": (1659, 61050),
    "socfb/socfb-Vanderbilt48.mtx": (8069, 427832),
    "gset/G1.txt": (800, 19176),
    "gset/G14.txt": (800, 4694),
    "gset/G22.txt": (2000, 19990),
    "gset/G32.txt": (2000, 4000),
    "gset/G39.txt": (2000, 11778),
    "gset/G43.txt": (1000, 9990),
    "gset/G55.txt": (5000, 12498),
    "gset/G70.txt": (10000, 9999),
    "mvc/email.graph": (1133, 5451),
    "mvc/jazz.graph": (198, 2742),
    "mvc/karate.graph": (34, 78),
    "mvc/power.graph": (4941, 6594),
    "mvc/star.graph": (11023, 62184),
    "mvc/frb30-15-1.mis": (450, 17827),
    "mvc/frb30-15-2.clq": (450, 83151),
    "mvc/brock200_2.clq": (200, 9876),
    "mvc/C125.9.clq": (125, 6963),
    "mvc/vc-exact_009.txt": (38453, 174645),
    "mvc/lastfm-asia.txt": (7624, 27806),
    "embed/PPI.mat": (3890, 37845),
    "embed/blogcatalog.mat": (10312, 333983),
    "embed/POS.mat": (4777, 92295),
    "embed/wiki-Vote.txt": (7115, 100762),
    "embed/karate.edgelist": (34, 77),
    "embed/dblp.ungraph": (51264, 127968),
    "messy/G14_utf16.txt": (800, 4694),
}


@pytest.mark.parametrize("name", SIZES)
def test_public_graph_has_its_known_size(shared_data: Path, name: str):
    graph = read_graph(shared_data / name)
    assert (graph.n, graph.m) == SIZES[name]
    assert not graph.directed


def test_self_loops_of_embedding_data_are_counted(shared_data: Path):
    assert read_graph(shared_data / "embed/PPI.mat").self_loops == 894
    assert read_graph(shared_data / "embed/POS.mat").self_loops == 222


def test_weights_of_pos_are_kept_and_ones_are_not(shared_data: Path):
    weights = read_graph(shared_data / "embed/POS.mat").weights
    assert weights is not None
    assert (weights.min(), weights.max()) == (0.5, 1941.5)
    assert read_graph(shared_data / "embed/PPI.mat").weights is None


def test_gset_keeps_signed_weights_and_isolated_nodes(shared_data: Path):
    signed = read_graph(shared_data / "gset/G39.txt")
    assert set(np.unique(signed.weights)) == {-1.0, 1.0}
    sparse = read_graph(shared_data / "gset/G70.txt")
    assert sparse.weights is None
    assert np.count_nonzero(sparse.degrees == 0) == 1354


def test_known_cut_has_its_known_value(shared_data: Path):
    graph = read_graph(shared_data / "gset/G14.txt")
    side = np.loadtxt(shared_data / "gset_solutions/G14_3064.txt", dtype=int)
    u, v, _ = graph.edges()
    assert np.count_nonzero(side[u] != side[v]) == 3064


def test_utf16_copy_equals_the_plain_file(shared_data: Path):
    plain = read_graph(shared_data / "gset/G14.txt")
    messy = read_graph(shared_data / "messy/G14_utf16.txt")
    np.testing.assert_array_equal(plain.columns, messy.columns)


def test_declared_count_one_above_the_largest_id_is_a_warning(shared_data: Path):
    graph = read_graph(shared_data / "mvc/vc-exact_009.txt")
    assert "38452" in graph.warnings[0]
    assert graph.degrees[-1] == 0


def test_headed_list_with_id_0_counts_from_0(shared_data: Path):
    graph = read_graph(shared_data / "mvc/lastfm-asia.txt")
    assert graph.labels_of([0, graph.n - 1]) == [0, 7623]


def test_snap_graph_is_directed_on_demand(shared_data: Path):
    path = shared_data / "embed/wiki-Vote.txt"
    assert "directed" in read_graph(path).warnings[0]
    graph = read_graph(path, directed=True)
    assert graph.directed
    assert graph.m == 103689
    assert graph.warnings == ()


def test_community_file_is_no_graph(shared_data: Path):
    with pytest.raises(InputError, match="--format"):
        read_graph(shared_data / "embed/dblp.cmty")
