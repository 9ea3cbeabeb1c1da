"""Public graphs in pieces: each is read alike, or left to the reader of whole files."""

import gzip
from pathlib import Path

import pytest
from glued_pieces import check_same, glued

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.readers import read_graph

SOCIAL = ("American75", "Caltech36", "Haverford76", "MIT", "Reed98", "Simmons81", "Swarthmore42")
IN_PIECES = [
    *(f"socfb/socfb-{name}.mtx" for name in (*SOCIAL, "Vanderbilt48")),
    "embed/wiki-Vote.txt",
    "embed/karate.edgelist",
    "embed/dblp.ungraph",
    "mvc/frb30-15-2.clq",
]
AS_A_WHOLE = [
    *(f"gset/G{number}.txt" for number in (1, 14, 22, 32, 39, 43, 55, 70)),
    *(f"mvc/{name}.graph" for name in ("email", "jazz", "karate", "power", "star")),
    *(f"mvc/{name}.clq" for name in ("brock200_2", "C125.9")),
    *("mvc/frb30-15-1.mis", "mvc/vc-exact_009.txt", "mvc/lastfm-asia.txt"),
    *("embed/PPI.mat", "embed/blogcatalog.mat", "embed/POS.mat", "messy/G14_utf16.txt"),
]


@pytest.mark.parametrize("name", IN_PIECES)
def test_a_public_list_or_matrix_in_pieces_is_the_whole_file(shared_data: Path, name: str):
    path = shared_data / name
    expected = read_graph(path)
    for size in (5_000 if path.stat().st_size < 100_000 else 200_000, 1 << 30):
        check_same(glued(path, size), expected)


@pytest.mark.parametrize("name", AS_A_WHOLE)
def test_other_public_graphs_are_left_to_the_reader_of_whole_files(shared_data: Path, name: str):
    assert glued(shared_data / name, 5_000) is None


def test_a_directed_list_keeps_its_direction_in_pieces(shared_data: Path):
    path = shared_data / "embed/wiki-Vote.txt"
    graph = glued(path, 100_000, directed=True)
    check_same(graph, read_graph(path, directed=True))
    assert (graph.directed, graph.m, graph.warnings) == (True, 103689, ())


@pytest.mark.parametrize("name", ["embed/wiki-Vote.txt", "socfb/socfb-Reed98.mtx"])
def test_a_stream_of_a_public_graph_is_the_plain_file(shared_data: Path, tmp_path, name):
    expected = read_graph(shared_data / name)
    data = (shared_data / name).read_bytes()
    for changed in (gzip.compress(data, 1), data.decode().encode("utf-16")):
        path = tmp_path / Path(name).name
        path.write_bytes(changed)
        check_same(glued(path, 100_000), expected)


def test_a_community_file_is_no_graph_in_pieces(shared_data: Path):
    path = shared_data / "embed/dblp.cmty"
    with pytest.raises(InputError) as expected:
        read_graph(path)
    with pytest.raises(InputError) as found:
        glued(path, 5_000)
    assert str(found.value) == str(expected.value)
