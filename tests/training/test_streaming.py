"""A graph that turns out damaged only when the thread reads it, in the middle of a run."""

import h5py
import pytest

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.shards import write_store
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.settings import load
from ogg_hpc.training.run import train
from ogg_hpc.training.settings import TrainSettings

MESSAGE = r"damaged\.h5: dataset 'columns', chunk 0 .*fails its checksum"


@pytest.fixture
def config(tmp_path):
    """A run on a store whose columns are damaged, which its offsets do not show."""
    path = tmp_path / "damaged.h5"
    write_store(path, [erdos_renyi(12, 0.4, seed) for seed in range(4)])
    with h5py.File(path) as file:
        chunk = file["columns"].id.get_chunk_info(0)
    with open(path, "r+b") as stream:
        stream.seek(chunk.byte_offset + chunk.size // 2)
        stream.write(b"damage")
    settings = tmp_path / "config.toml"
    settings.write_text(
        f'graph_cache = 0\n[[train]]\npath = "{path}"\n[output]\ntensorboard = false\n'
    )
    return settings


@pytest.mark.parametrize("method", ["q-learning", "evolution"])
def test_it_is_an_input_error(config, tmp_path, method):
    policy = "degree-messages" if method == "evolution" else "s2v"
    settings = load(TrainSettings, config, [f"method={method}", f"policy={policy}"])
    with pytest.raises(InputError, match=MESSAGE):
        train(Communicator(), settings, tmp_path / "run")


def test_it_is_one_message_on_several_ranks(config, tmp_path, run_ranks):
    done = run_ranks(2, ["-m", "ogg_hpc", "train", config, "--output", tmp_path / "run"])
    assert done.returncode == 2
    assert "fails its checksum" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("ogg-hpc: ") == 1
