from pathlib import Path

import numpy as np
import pytest

from ogg_hpc.embedding.sampling import make_sampler
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.shared_graph import SharedGraph
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.communicator import Communicator

EXAMPLE = Path(__file__).parents[3] / "examples" / "neighbours_of_neighbours.py"
OWN = f"{EXAMPLE}:NeighboursOfNeighbours"


def path_of(n):
    return SharedGraph(Communicator(), Graph.from_edges(n, np.arange(n - 1), np.arange(1, n)))


def test_a_sampler_of_a_users_own_file_draws_its_pairs():
    settings = EmbedSettings(method=OWN, option=("walks=30",))
    sampler = make_sampler(path_of(5), settings)
    assert sampler.items == 150
    pairs = sampler.sample(0, np.arange(sampler.items))
    assert set(zip(pairs.sources.tolist(), pairs.contexts.tolist(), strict=True)) == {
        (0, 2), (2, 0), (1, 3), (3, 1), (2, 4), (4, 2)
    }  # fmt: skip
    assert pairs.counts.sum() == len(pairs)


def test_options_are_for_samplers_of_users():
    with pytest.raises(SettingsError, match="option walks=3: deepwalk takes none"):
        make_sampler(path_of(3), EmbedSettings(option=("walks=3",)))


def test_a_graph_without_edges_is_refused():
    graph = SharedGraph(Communicator(), Graph.from_edges(3, [], []))
    with pytest.raises(SettingsError, match="no edges"):
        make_sampler(graph, EmbedSettings())


@pytest.mark.parametrize(
    "body",
    ["pass", "items = 0; pairs_per_item = 1.0", "items = 5; pairs_per_item = 0.0"],
)
def test_a_sampler_says_how_much_it_draws(body, tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        "from ogg_hpc.embedding.sampling import Sampler\n"
        f"class Own(Sampler):\n    sample = None\n    {body}\n"
    )
    with pytest.raises(SettingsError, match=r"own.py:Own: .* to a number above 0"):
        make_sampler(path_of(3), EmbedSettings(method=f"{file}:Own"))
