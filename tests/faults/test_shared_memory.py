"""A small /dev/shm: Linux ends a program that writes more than it takes by a bus error."""

import shutil
import subprocess
import sys

import numpy as np
import pytest

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import write_store
from ogg_hpc.runtime.launch import promised_size

NODES = 2_000_000  # of a ring, a copy of which takes 80 MB


@pytest.fixture
def ring(tmp_path):
    """A store of a large graph that is quickly made."""
    nodes = np.arange(NODES)
    columns = np.sort(np.stack([(nodes - 1) % NODES, (nodes + 1) % NODES], axis=1), axis=1)
    write_store(
        tmp_path / "ring.h5",
        [Graph(np.arange(0, 2 * NODES + 1, 2), columns.ravel().astype(np.int32))],
    )
    return "ring.h5"


@pytest.fixture
def open_with_little_memory(mpiexec, clean_environment, tmp_path, ring):
    """Open the ring on two ranks whose /dev/shm takes 64 MB, in a mount namespace of their own."""
    if promised_size() is not None:
        pytest.skip("starts ranks itself")
    script = tmp_path / "open_graph.py"
    script.write_text(
        "import sys\n"
        "from ogg_hpc.embedding.graph_input import open_walk_graph\n"
        "from ogg_hpc.embedding.settings import EmbedSettings\n"
        "from ogg_hpc.errors import OggError\n"
        "from ogg_hpc.runtime.launch import start\n"
        "comm = start(device='cpu')\n"
        "try:\n"
        "    settings = EmbedSettings(graph_memory=sys.argv[2])\n"
        "    text = type(open_walk_graph(comm, sys.argv[1], settings).graph).__name__\n"
        "except OggError as error:\n"
        "    text = str(error)\n"
        "comm.on_root(lambda: print(text))\n"
    )

    def run(graph_memory):
        namespace = [shutil.which("unshare") or "unshare", "--mount", "sh", "-c"]
        small = "mount -t tmpfs -o size=64m tests /dev/shm"
        try:
            subprocess.run([*namespace, small], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("only root may mount, and not everywhere")
        command = [mpiexec, "-n", "2", sys.executable, str(script), ring, graph_memory]
        return subprocess.run(
            [*namespace, f'{small} && exec "$@"', "sh", *command],
            env=clean_environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=200,
        )

    return run


def test_too_large_a_copy_is_refused_with_a_remedy(open_with_little_memory):
    job = open_with_little_memory("shared")
    assert job.returncode == 0, job.stderr
    assert "/dev/shm of" in job.stdout
    assert "--graph-memory rows" in job.stdout


def test_a_graph_lies_by_rows_where_a_copy_would_not_fit(open_with_little_memory):
    job = open_with_little_memory("auto")
    assert (job.returncode, job.stdout.strip()) == (0, "RowBlockGraph"), job.stderr
