"""A run that goes on with another number of ranks ends with the vectors of an undisturbed one."""

import json
from pathlib import Path

import numpy as np
import pytest

from ogg_hpc.embedding.store import read_embedding
from ogg_hpc.graphs.generators import erdos_renyi

METHODS = ("deepwalk", "line", "rotate")
pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def left(run_ranks, tmp_path_factory):
    """The folder that `resumed_ranks` leaves, and what was said at stops."""
    folder = tmp_path_factory.mktemp("resumed ranks")
    graph = erdos_renyi(40, p=0.15, seed=1)
    lines = [f"{u} {v}\n" for u, v in zip(graph.rows, graph.columns, strict=True) if u < v]
    (folder / "graph.edges").write_text("".join(lines))
    script = Path(__file__).with_name("resumed_ranks.py")
    done = run_ranks(2, [script, folder / "graph.edges", folder], limit=300)
    assert done.returncode == 0, done.stderr
    return folder, json.loads((folder / "said.json").read_text())


def matrices(folder, name):
    found = read_embedding(folder / f"{name}.h5")
    return np.concatenate([found.vectors, found.context], axis=1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("output", ["2", "1-2", "2-1", "2-2", "served", "full"])
def test_vectors_do_not_depend_on_ranks_or_stops(left, method, output):
    folder, _ = left
    one = matrices(folder, f"{method} 1")
    assert np.abs(one).max() > 0.05
    np.testing.assert_allclose(matrices(folder, f"{method} {output}"), one, rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_stop_costs_nothing_on_the_same_ranks(left, method):
    folder, _ = left
    np.testing.assert_array_equal(
        matrices(folder, f"{method} 2-2"), matrices(folder, f"{method} 2")
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("output", ["1-2", "2-1", "2-2"])
def test_signal_to_one_rank_stops_all(left, method, output):
    assert left[1][f"{method} {output}"].startswith("stopped by SIGURG at step ")


@pytest.mark.parametrize("method", METHODS)
def test_full_disk_of_rank_0_is_told_by_all(left, method):
    folder, said = left
    zero, one = said[f"{method} full"]
    assert zero == one
    assert "cannot be written: No space left on device" in zero
    assert str(folder / f"{method} full.h5.run") in zero
