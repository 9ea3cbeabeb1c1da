from argparse import Namespace
from pathlib import Path
from signal import Signals

import numpy as np
import pytest

from ogg_hpc.cli.options import memory_of_rank
from ogg_hpc.errors import SettingsError, StoppedError
from ogg_hpc.graphs.building.build import build_store
from ogg_hpc.graphs.families import parse_family
from ogg_hpc.graphs.generation import generate_file, generate_folder
from ogg_hpc.graphs.generators import EDGES, GENERATORS
from ogg_hpc.graphs.shards import GraphStore, check_store, read_store_graph
from ogg_hpc.runtime.parts import Parts

EXAMPLES = {
    "er": (600, 0.02),
    "ba": (600, 5),
    "ws": (600, 8, 0.3),
    "rmat": (512, 8),
    "geometric": (600, 9.5),
}
FAMILIES = [
    "er:n=300,p=0.05",
    "ba:n=300,d=3,lightest=2,heaviest=9",
    "ws:n=300,d=4,p=0.2",
    "rmat:n=256,d=6",
    "geometric:n=300,d=5.5",
    "plc:n=100,d=3,p=0.5",
    "er:n=50,p=0.1,count=5",
    "er:n=0,p=0.1",
]
MEMORY = 1 << 28


@pytest.fixture
def folder(comm, tmp_path):
    """One folder of all ranks."""
    return comm.broadcast_object(tmp_path)


def never():
    return None


def after(calls, rank=0, comm=None):
    """Tell of a signal from some call on, on one rank."""
    left = calls

    def came():
        nonlocal left
        left -= 1
        return Signals.SIGTERM if left < 0 and comm.rank == rank else None

    return came


def write(comm, text, output, came=never):
    family = parse_family(text)
    attributes = {"family": text}
    return generate_file(comm, family, output, attributes, memory=MEMORY, came=came)


def write_folder(comm, text, output, came=never, each=2):
    return generate_folder(
        comm, parse_family(text), output, {"family": text}, graphs_per_shard=each, came=came
    )


def contents(folder: Path):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", EXAMPLES)
def test_many_blocks_make_the_graph_in_memory_for_every_number_of_ranks(comm, folder, name):
    parameters = EXAMPLES[name]
    edges = EDGES[name](*parameters, seed=3, block_size=250)
    assert edges.count > 4
    output = folder / "g.h5"
    parts = Parts.open(comm, output, {})
    built = build_store(comm, output, edges.n, edges, parts=parts, memory=MEMORY)
    parts.remove(comm)
    found, wanted = read_store_graph(output), GENERATORS[name](*parameters, seed=3)
    assert found.row_offsets.tolist() == wanted.row_offsets.tolist()
    assert found.columns.tolist() == wanted.columns.tolist()
    assert found.looped.tolist() == wanted.looped.tolist()
    for counted in ("self_loops", "duplicates", "reversed_pairs"):
        assert getattr(built, counted) == getattr(found, counted) == getattr(wanted, counted)


@pytest.mark.parametrize("text", FAMILIES)
def test_a_file_has_the_same_bytes_for_every_number_of_ranks(comm, alone, folder, tmp_path, text):
    made = write(comm, text, folder / "together.h5")
    mine = tmp_path / f"alone-{comm.rank}.h5"
    assert write(alone, text, mine).edges == made.edges
    assert (folder / "together.h5").read_bytes() == mine.read_bytes()
    assert check_store(mine) == []
    family = parse_family(text)
    with GraphStore(mine) as store:
        assert len(store) == family.count
        assert store.attributes == {"family": text}
        for i in range(family.count):
            graph, wanted = store.read(i), family.graph(i)
            assert graph.columns.tolist() == wanted.columns.tolist()
            np.testing.assert_array_equal(graph.node_weights, wanted.node_weights)


def test_a_folder_has_the_same_bytes_for_every_number_of_ranks(comm, alone, folder, tmp_path):
    text = "ba:n=40,d=2,heaviest=5,count=9"
    made = write_folder(comm, text, folder / "together")
    mine = tmp_path / f"alone-{comm.rank}"
    assert write_folder(alone, text, mine).edges == made.edges == 9 * 2 * 38
    assert contents(folder / "together") == contents(mine)
    assert len(contents(mine)) == 6
    assert check_store(mine) == []
    assert not (folder / ".together.parts").exists()


# Not every rank has a part in the last stages.
@pytest.mark.parametrize(("calls", "last"), [(0, False), (1, False), (0, True), (1, True)])
def test_a_stopped_file_goes_on_where_it_was(comm, alone, folder, tmp_path, calls, last):
    text, output = "rmat:n=256,d=6,seed=4", folder / "g.h5"
    with pytest.raises(StoppedError, match="SIGTERM"):
        write(comm, text, output, after(calls, comm.size - 1 if last else 0, comm))
    assert not output.exists()
    assert (folder / ".g.h5.parts").is_dir()
    write(comm, text, output)
    write(alone, text, mine := tmp_path / f"alone-{comm.rank}.h5")
    assert output.read_bytes() == mine.read_bytes()
    assert not (folder / ".g.h5.parts").exists()


def test_a_stopped_folder_keeps_its_finished_shards(comm, alone, folder, tmp_path):
    text, output = f"er:n=30,p=0.2,count={4 * comm.size}", folder / "set"
    with pytest.raises(StoppedError):
        write_folder(comm, text, output, after(3, comm.size - 1, comm))
    assert not (output / "manifest.json").exists()
    comm.barrier()
    before = {path.name: path.stat().st_ino for path in output.glob("*.h5")}
    assert {f"shard-{number:05d}.h5" for number in range(comm.size)} <= set(before)
    comm.barrier()
    write_folder(comm, text, output)
    after_it = {path.name: path.stat().st_ino for path in output.glob("*.h5")}
    assert before.items() <= after_it.items()
    write_folder(alone, text, mine := tmp_path / f"alone-{comm.rank}")
    assert contents(output) == contents(mine)


def test_shards_of_other_graphs_are_not_kept(comm, alone, folder, tmp_path):
    with pytest.raises(StoppedError):
        write_folder(comm, "er:n=30,p=0.2,count=20", folder / "set", after(3, 0, comm))
    text = "er:n=30,p=0.3,count=4"
    write_folder(comm, text, folder / "set")
    write_folder(alone, text, mine := tmp_path / f"alone-{comm.rank}")
    assert {name: contents(folder / "set")[name] for name in contents(mine)} == contents(mine)


def test_an_error_of_any_rank_is_one_for_all(comm, folder):
    for text in ("er:n=10,p=7", "plc:n=5,d=9,p=0.5", "ba:n=10,d=2,lightest=3"):
        with pytest.raises(SettingsError) as found:
            write(comm, text, folder / "g.h5")
        assert found.value.collective
        with pytest.raises(SettingsError) as found:
            write_folder(comm, text, folder / "set")
        assert found.value.collective
    assert not (folder / "g.h5").exists()


def test_ranks_of_unlike_hosts_agree_on_their_memory(comm, monkeypatch):
    # How much is exchanged at a time depends on it.
    host = (16 - comm.rank) << 30
    monkeypatch.setattr("ogg_hpc.runtime.resources.usable_memory_bytes", lambda: host)
    least = (17 - comm.size) << 30
    assert memory_of_rank(Namespace(memory=None), comm) == least // 2 // comm.local_size
    assert memory_of_rank(Namespace(memory=1 << 20), comm) == 1 << 20
