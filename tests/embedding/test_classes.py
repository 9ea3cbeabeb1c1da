import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from ogg_hpc.embedding.evaluation.classes import read_classes
from ogg_hpc.embedding.evaluation.numbering import RowLabels
from ogg_hpc.errors import InputError, SettingsError

NUMBERS = RowLabels(np.array([30, 10, 20]))


def read(path, rows=NUMBERS, name=None):
    classes = read_classes(path, rows, name)
    return classes.members.astype(int).tolist(), classes.names, classes.without_vector


def test_lines_of_a_node_and_its_classes(tmp_path):
    file = tmp_path / "labels.txt"
    file.write_text("# nodes and topics\n10 sport art\n20 art\n30 sport\n")
    expected = [[0, 1], [1, 1], [1, 0]], ["art", "sport"], 0
    assert read(file) == expected
    packed = tmp_path / "labels.txt.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert read(packed) == expected


def test_nodes_may_be_named_by_text(tmp_path):
    file = tmp_path / "labels.txt"
    file.write_text("b 1\na 2\n")
    rows = RowLabels(np.array(["a", "b", "c"]))
    assert read(file, rows) == ([[0, 1], [1, 0], [0, 0]], ["1", "2"], 0)


def test_numbers_are_compared_with_text_where_one_side_has_text(tmp_path):
    file = tmp_path / "labels.txt"
    file.write_text("2 x\n10 y\n")
    rows = RowLabels(np.array(["2", "10", "b"]))
    assert read(file, rows)[0] == [[1, 0], [0, 1], [0, 0]]


def test_communities_list_their_nodes(tmp_path):
    file = tmp_path / "graph.cmty.txt"
    file.write_text("10 20\n20 30\n")
    expected = [[0, 1], [1, 0], [1, 1]], ["0", "1"], 0
    assert read(file) == expected
    other = tmp_path / "groups"
    other.write_text(file.read_text())
    assert read(other, name="communities") == expected


def test_the_matrix_group_of_a_matlab_file(tmp_path):
    group = np.array([[1.0, 0, 0], [0, 0, 2], [0, 1, 1]])
    for number, matrix in enumerate((group, scipy.sparse.csc_array(group))):
        file = tmp_path / f"{number}.mat"
        scipy.io.savemat(file, {"group": matrix})
        members, names, _ = read(file, RowLabels(np.arange(3)))
        assert members == [[1, 0, 0], [0, 0, 1], [0, 1, 1]]
        assert names == ["0", "1", "2"]


def test_nodes_without_a_vector_are_counted(tmp_path):
    file = tmp_path / "labels.txt"
    file.write_text("10 a b\n77 a b\n78 b\n")
    assert read(file)[2] == 2


def test_files_that_cannot_be_used_are_refused(tmp_path):
    file = tmp_path / "labels.txt"
    file.write_text("10 a\n\n20\n")
    with pytest.raises(InputError, match=r"labels\.txt:3: expected 'node class"):
        read(file)
    file.write_text("1 a\n2 b\n")
    with pytest.raises(InputError, match="no class of any node of the embedding"):
        read(file)
    with pytest.raises(SettingsError, match="unknown format of classes 'csv'"):
        read(file, name="csv")
    matrix = tmp_path / "x.mat"
    with pytest.raises(InputError, match="no such file"):
        read(matrix)
    matrix.write_bytes(b"no MATLAB")
    with pytest.raises(InputError, match="expected a MATLAB file"):
        read(matrix)
    scipy.io.savemat(matrix, {"network": np.eye(3)})
    with pytest.raises(InputError, match="no matrix 'group'"):
        read(matrix)
