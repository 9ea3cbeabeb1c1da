import re
import subprocess
import sys

import pytest

HEAVY = (
    *("torch", "scipy", "numba", "h5py", "mpi4py", "cupy", "networkx"),
    *("cryptography", "grpc", "gymnasium", "safetensors"),
)
COMMANDS = (
    *("info", "data", "solve", "verify", "train", "evaluate"),
    *("embed", "embed-eval", "embed-export", "actors", "scale"),
)


def loaded_by(code, environment):
    """Return which heavy libraries a piece of code has loaded when it ends."""
    report = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print('LOADED', *(m for m in {HEAVY} if m in sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", report + code],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.rpartition("LOADED")[2].split()


@pytest.mark.parametrize(
    "code",
    [
        "import ogg_hpc",
        "from ogg_hpc.cli.main import main\nmain(['--help'])",
        "from ogg_hpc.cli.main import main\nmain(['solve', '--help'])",
        "from ogg_hpc.cli.main import main\nmain(['train', '--help'])",
        "from ogg_hpc.cli.main import main\nmain(['evaluate', '--help'])",
        "from ogg_hpc.cli.main import main\nmain(['embed', '--help'])",
    ],
)
def test_help_loads_no_heavy_library(code, clean_environment):
    assert loaded_by(code, clean_environment) == []


def test_what_is_loaded_is_noticed(clean_environment):
    assert loaded_by("import ogg_hpc, h5py", clean_environment) == ["h5py"]


def test_help_lists_all_commands(ogg):
    code, out, err = ogg("--help")
    assert (code, err) == (0, "")
    assert re.findall(r"^ {4}(\S+)", out, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(ogg, command):
    code, out, err = ogg(command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: ogg-hpc {command} ")
    # Some have subcommands of their own.
    assert "xample" in out or command in ("data", "embed-eval", "actors")


@pytest.mark.parametrize("command", ["info", "solve", "train", "evaluate", "embed"])
def test_every_option_states_its_default(ogg, command):
    _, out, _ = ogg(command, "--help")
    options = out.partition("options:")[2].partition("examples:")[0].split("\n  -")[1:]
    flags = ("h, --help", "-json", "-settings", "-undirected", "-resume")
    missing = [
        option for option in options
        if not option.startswith(flags) and "(default: " not in " ".join(option.split())
    ]  # fmt: skip
    assert missing == []
    assert len(options) > 3


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["bogus"],
        ["info", "--bogus"],
        ["solve"],
        ["solve", "graph", "--seed", "many"],
        ["solve", "graph", "--device", "tpu"],
        ["train", "--set"],
        ["data", "generate", "tree"],
    ],
)
def test_wrong_command_line_exits_with_two(ogg, arguments):
    code, out, err = ogg(*arguments)
    assert (code, out) == (2, "")
    assert "error: " in err.splitlines()[-1]


@pytest.mark.parametrize("arguments", [["info"], ["info", "--json"], ["verify", "--help"]])
def test_output_on_a_full_disk_is_one_message(start_ogg, arguments):
    with open("/dev/full", "w") as full:
        done = start_ogg(*arguments, stdout=full, stderr=subprocess.PIPE)
    message = "ogg-hpc: the output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_bug_ends_all_ranks_where_nothing_can_be_written(run_ranks):
    script = """
import sys
from ogg_hpc.runtime.launch import start

comm = start("cpu")
if comm.rank == 0:
    sys.stderr = open("/dev/full", "w")
    raise ZeroDivisionError
comm.broadcast_object(1)
"""
    assert run_ranks(2, ["-c", script]).returncode == 1


@pytest.mark.parametrize(
    "arguments", [["info"], ["info", "--json"], ["--help"], ["train", "--settings"]]
)
def test_reader_that_leaves_is_no_error(start_ogg, closed_pipe, arguments):
    done = start_ogg(*arguments, stdout=closed_pipe, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError("Unable to allocate 7 TiB"), "Unable to allocate 7 TiB"),
        (MemoryError(), "more than the host allows"),
    ],
)
def test_a_graph_that_memory_cannot_hold_is_one_message(ogg, monkeypatch, error, reason):
    def fail(*ignored):
        raise error

    monkeypatch.setattr("ogg_hpc.cli.data.generate.run", fail)
    command = ("data", "generate", "er", "--nodes", 9, "--p", 0.5, "--output", "g.h5")
    assert ogg(*command) == (
        2,
        "",
        f"ogg-hpc: out of memory: {reason}; use more memory or a smaller graph\n",
    )


def test_bug_keeps_its_traceback(ogg, monkeypatch):
    def fail(comm):
        raise ZeroDivisionError

    monkeypatch.setattr("ogg_hpc.runtime.environment.describe", fail)
    with pytest.raises(ZeroDivisionError):
        ogg("info")


@pytest.mark.parametrize("ranks", [1, 2])
def test_interrupted_command_ends_without_a_traceback(run_ranks, ranks):
    script = """
import signal
from ogg_hpc.cli import evaluate, main

def interrupted(args):
    evaluate.start_ranks(args)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)

evaluate.run = interrupted
main.main(["evaluate", "er:n=9,p=0.3"])
"""
    done = run_ranks(ranks, ["-c", script])
    assert done.returncode == 130
    assert "interrupted" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_garbage_is_looked_for_at_the_end(clean_environment):
    code = (
        "import atexit, gc\n"
        "atexit.register(lambda: print('OUT OF REACH', gc.get_freeze_count() > 1000))\n"
        "from ogg_hpc.cli.main import main\n"
        "main(['info'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=clean_environment, capture_output=True, text=True
    )
    assert done.stdout.endswith("OUT OF REACH True\n"), done.stderr
