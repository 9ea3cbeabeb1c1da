"""A place that cannot be written costs a message, not a file; a lock of somebody costs nothing."""

import fcntl
import os
import re
import resource
import subprocess
import sys
from contextlib import contextmanager

import h5py
import numpy as np
import pytest
import scipy.sparse

from ogg_hpc.embedding.store import read_embedding
from ogg_hpc.errors import InputError
from ogg_hpc.graphs.conversion.convert import convert
from ogg_hpc.graphs.conversion.request import Request
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.shards import GraphStore, check_store, read_store_graph, write_store
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.training.run import train
from ogg_hpc.training.settings import load_train_settings

TRAINING = """
problem = "mvc"
policy = "s2v"

[[train]]
family = "er"
nodes = 12
p = 0.3
count = 4

[[validation]]
family = "er"
nodes = 12
p = 0.3
count = 2

[learning]
steps = 30

[output]
evaluate_every = 15
checkpoint_every = 10
"""


@contextmanager
def mounted(folder, *options):
    """Mount a file system in memory."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tests", folder]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root may mount, and not everywhere")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture(params=["a full disk", "a limit of a file's size"])
def too_small(request, tmp_path):
    """Yield a folder in which large files cannot be written, and a function that ends this."""
    folder = tmp_path / "small"
    if request.param == "a full disk":
        with mounted(folder, "size=64k"):
            yield (
                folder,
                lambda: subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True),
            )
        return
    folder.mkdir()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        yield folder, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def lifted_limit():
    """Let the block write files of any size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (before[1], before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def read_only(tmp_path):
    """Yield a folder in which nobody can write, not even root."""
    with mounted(tmp_path / "fixed", "ro") as folder:
        yield folder


def is_one_message(run, path):
    """Whether a command has ended with exit code 2 and one message that names the path."""
    code, _, errors = run
    lines = [line for line in errors.splitlines() if not line.startswith("step ")]
    assert (code, len(lines)) == (2, 1), run
    assert lines[0].startswith(f"ogg-hpc: {path}: cannot be written: "), lines
    return True


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


GENERATE = ("data", "generate", "ba", "--nodes", 30_000, "--d", 4)


def test_a_graph_for_which_there_is_no_space_leaves_the_old_one(ogg, too_small):
    folder, make_space = too_small
    path = folder / "graph.h5"
    old = erdos_renyi(20, p=0.3, seed=0)
    write_store(path, [old])
    assert is_one_message(ogg(*GENERATE, "--output", path), path)
    # Finished parts stay for the next call; here none has been finished.
    assert files(folder) == [".graph.h5.parts/plan.json", "graph.h5"]
    assert np.array_equal(read_store_graph(path).columns, old.columns)
    make_space()
    assert ogg(*GENERATE, "--output", path)[0] == 0
    assert [entry.name for entry in folder.iterdir()] == ["graph.h5"]
    assert read_store_graph(path).n == 30_000


def test_shards_for_which_there_is_no_space_are_made_anew(ogg, too_small):
    folder, make_space = too_small
    shards = folder / "shards"
    command = (*GENERATE, "--count", 2, "--graphs-per-shard", 1, "--output", shards)
    assert is_one_message(ogg(*command), shards / "shard-00000.h5")
    assert files(folder) == [".shards.parts/plan.json"]  # of which none has been finished
    with pytest.raises(InputError, match="not a folder of shards, or one cut short"):
        GraphStore(shards)
    make_space()
    assert ogg(*command)[0] == 0
    assert [entry.name for entry in folder.iterdir()] == ["shards"]
    assert ogg("data", "check", shards)[0] == 0


def test_a_conversion_for_which_there_is_no_space(ogg, too_small, tmp_path):
    folder, _ = too_small
    source = tmp_path / "graph.npz"
    entries = np.random.default_rng(0).integers(0, 30_000, (2, 60_000))
    weights = np.ones(entries.shape[1], np.int8)
    with lifted_limit():
        scipy.sparse.save_npz(source, scipy.sparse.coo_array((weights, entries), (30_000, 30_000)))
    path = folder / "graph.h5"
    assert is_one_message(ogg("data", "convert", source, path), path)
    assert files(folder) == []


def test_a_solution_for_which_there_is_no_space_leaves_the_old_one(ogg, too_small, tmp_path):
    folder, make_space = too_small
    graph, path = tmp_path / "graph.h5", folder / "cover.json"
    with lifted_limit():
        write_store(graph, [barabasi_albert(30_000, 4, 0)])
    path.write_text("old")
    command = ("solve", graph, "--policy", "max-degree", "--no-reduce", "--output", path)
    assert is_one_message(ogg(*command), path)
    assert (files(folder), path.read_text()) == (["cover.json"], "old")
    make_space()
    assert ogg(*command)[0] == 0
    assert ogg("verify", graph, path)[0] == 0


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The settings of a training, and the folder of an undisturbed run."""
    folder = tmp_path_factory.mktemp("undisturbed")
    settings = folder / "small.toml"
    settings.write_text(TRAINING)
    train(Communicator(), load_train_settings(str(settings), ()), folder / "run")
    return settings, folder / "run"


def test_a_training_goes_on_when_there_is_space_again(ogg, too_small, undisturbed):
    folder, make_space = too_small
    run = folder / "run"
    settings, whole = undisturbed
    code, _, errors = ogg("train", settings, "--resume", run)
    (message,) = [line for line in errors.splitlines() if not line.startswith("step ")]
    assert code == 2
    assert re.match(f"ogg-hpc: {run}/.*: cannot be written: ", message)
    assert not [name for name in files(folder) if ".part" in name]
    make_space()
    assert ogg("train", settings, "--resume", run)[0] == 0
    with np.load(run / "last.npz") as a, np.load(whole / "last.npz") as b:
        assert all(a[name].dtype.kind == "U" or np.array_equal(a[name], b[name]) for name in a)


def test_an_embedding_goes_on_when_there_is_space_again(ogg, too_small, tmp_path):
    folder, make_space = too_small
    sizes = ("--dim", 64, "--walks", 1, "--walk-length", 10, "--epochs", 2)
    command = ("embed", "ba:n=300,d=3", *sizes, "--checkpoint-minutes", 0, "--resume")
    output = folder / "emb.h5"
    code, _, errors = ogg(*command, "--output", output)
    (message,) = errors.splitlines()
    assert code == 2
    assert re.match(f"ogg-hpc: {output}.run/.*: cannot be written: ", message)
    assert not [name for name in files(folder) if ".part" in name]
    make_space()
    for path in (output, tmp_path / "whole.h5"):
        assert ogg(*command, "--output", path)[0] == 0
    found, whole = read_embedding(output), read_embedding(tmp_path / "whole.h5")
    np.testing.assert_array_equal(found.vectors, whole.vectors)


def test_a_place_that_cannot_be_written_is_found_before_the_work(
    ogg, read_only, undisturbed, tmp_path
):
    graph = tmp_path / "graph.h5"
    write_store(graph, [erdos_renyi(20, p=0.3, seed=0)])
    settings, _ = undisturbed
    for name, command in {
        "new.h5": ("data", "convert", graph, read_only / "new.h5"),
        "er.h5": ("data", "generate", "er", "--nodes", 9, "--p", 0.5, "--output"),
        "shards": ("data", "generate", "er", "--nodes", 9, "--p", 0.5, "--output"),
        "cover.json": ("solve", graph, "--output"),
        "run": ("train", settings, "--output"),
    }.items():
        arguments = command if "convert" in command else (*command, read_only / name)
        code, _, errors = ogg(*arguments)
        assert (code, errors.count("\n")) == (2, 1), errors
        assert errors.startswith(f"ogg-hpc: {read_only / name}")
        assert errors.endswith("cannot be written: Read-only file system\n")


@pytest.mark.parametrize("dataset", ["columns", "row_offsets"])
def test_nothing_is_solved_or_learned_from_damaged_data(ogg, tmp_path, dataset):
    path, cover, run = tmp_path / "graph.h5", tmp_path / "cover.json", tmp_path / "run"
    write_store(path, [erdos_renyi(20, p=0.3, seed=0)])
    with h5py.File(path, "r") as file:
        place = file[dataset].id.get_chunk_info(0).byte_offset
    content = bytearray(path.read_bytes())
    content[place + 9] ^= 1
    path.write_bytes(content)
    settings = tmp_path / "damaged.toml"
    settings.write_text(f'problem = "mvc"\n[[train]]\npath = "{path}"\n')
    for command in ("solve", path, "--output", cover), ("train", settings, "--output", run):
        code, _, errors = ogg(*command)
        assert (code, errors.count("\n")) == (2, 1), errors
        assert errors.startswith(f"ogg-hpc: {path}: dataset '{dataset}', chunk 0 ")
    assert not cover.exists()
    assert not list(run.rglob("*.npz"))


@pytest.mark.parametrize("setting", [None, "FALSE", "TRUE", "BEST_EFFORT"])
def test_a_lock_that_somebody_has_left_hinders_no_reader(clean_environment, tmp_path, setting):
    path = tmp_path / "graph.h5"
    write_store(path, [erdos_renyi(20, p=0.3, seed=0)])
    command = [sys.executable, "-m", "ogg_hpc", "data", "check", path]
    environment = {**clean_environment, "HDF5_USE_FILE_LOCKING": setting or ""}
    if setting is None:
        del environment["HDF5_USE_FILE_LOCKING"]
    with open(path, "r+b") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        fcntl.lockf(holder, fcntl.LOCK_EX)
        checked = subprocess.run(command, env=environment, capture_output=True, text=True)
    if setting in (None, "FALSE"):
        assert (checked.returncode, checked.stdout) == (0, f"{path}: sound\n")
    else:  # whoever asks for locks gets them, and is told what to do
        assert (checked.returncode, checked.stderr.count("\n")) == (2, 1)
        assert f"{path}: is locked; " in checked.stderr
        assert "HDF5_USE_FILE_LOCKING=FALSE" in checked.stderr


@pytest.mark.parametrize("flushed", [False, True])
def test_a_store_that_somebody_writes_is_refused(ogg, tmp_path, flushed):
    path, whole = tmp_path / "graph.h5", tmp_path / "whole.h5"
    write_store(whole, [erdos_renyi(20, p=0.3, seed=0)])
    with h5py.File(whole, "r") as source, h5py.File(path, "w", libver=("v110", "v110")) as file:
        for name in source:
            source.copy(name, file)
        if flushed:
            file.flush()
        for command in (("data", "check", path), ("data", "info", path), ("solve", path)):
            code, _, errors = ogg(*command)
            assert (code, errors.count("\n")) == (2, 1), errors
            assert str(path) in errors


def test_a_conversion_that_filled_the_disk_goes_on_when_there_is_room(tmp_path):
    source = tmp_path / "edges.txt"
    pairs = np.random.default_rng(1).integers(0, 5000, (30_000, 2))
    source.write_text("".join(f"{u} {v}\n" for u, v in pairs.tolist()))
    with mounted(tmp_path / "small", "size=256k") as folder:
        request = Request(source, folder / "graph.h5", piece_bytes=1 << 14)
        with pytest.raises(InputError, match="No space left on device"):
            convert(Communicator(), request, memory=1 << 28)
        assert list(folder.glob(".graph.h5.parts/piece-*"))
        subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
        convert(Communicator(), request, memory=1 << 28)
        assert check_store(request.output) == []
        assert [path.name for path in folder.iterdir()] == ["graph.h5"]
