import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest
from remote_learner import LEASE, RemoteLearner

from ogg_hpc.actors.gateway.connection import Connection
from ogg_hpc.actors.gateway.event_loop_thread import EventLoopThread
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.settings import build

PLAIN_HOST = Path(__file__).parents[1] / "plain_host.py"


@pytest.fixture
def at_end():
    """What a test has begun and what is ended after it, the last first."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def start_learner(at_end, tmp_path):
    """Start a learner and, if it is the first, the controller of its node."""

    def start(folder=tmp_path / "run", **options):
        learner = RemoteLearner(folder, **options)
        at_end.callback(learner.transport.close, finished=False)
        return learner

    return start


@pytest.fixture
def alive(at_end):
    """Connections that a thread shows to be alive, as the loop of a host would."""
    connections, ended = [], threading.Event()

    def show_life():
        while not ended.wait(0.1):
            for connection in list(connections):
                connection.show_life()

    thread = threading.Thread(target=show_life)
    thread.start()
    at_end.callback(thread.join)
    at_end.callback(ended.set)
    return connections


@pytest.fixture(scope="session")
def loop_thread():
    """The thread of all connections of these tests."""
    with EventLoopThread() as thread:
        yield thread


@pytest.fixture
def call(at_end, alive, loop_thread):
    """Let a host of this process say something to a controller; return its connection."""

    def call(learner, message, lease=LEASE):
        connection = Connection(loop_thread, learner.target(), lease)
        at_end.callback(connection.close)
        connection.send(message)
        alive.append(connection)
        return connection

    return call


@pytest.fixture
def join(call):
    """Let a host of this process join a learner; return its connection and its number."""

    def join(learner, message, **options):
        before = set(learner.hellos)
        connection = call(learner, message, **options)
        learner.until(lambda: set(learner.hellos) - before)
        (number,) = set(learner.hellos) - before
        return connection, number

    return join


@pytest.fixture
def start_host(at_end):
    """Start a host in a process of its own, which echoes what it hears."""

    def start(learner, address=None, lease=LEASE):
        command = [sys.executable, PLAIN_HOST, address or learner.address, learner.token_file]
        process = subprocess.Popen([*map(str, command), str(lease)], stdin=subprocess.DEVNULL)
        at_end.callback(process.wait)
        at_end.callback(process.kill)
        return process

    return start


@pytest.fixture(scope="session")
def small_document():
    """A run of a second: the content of its TOML file."""
    return {
        "steps": 192,
        "network": {"model": {"hidden": [8]}},
        "roles": {"processes": 1, "environments": 2},
        "ppo": {"round_steps": 64, "minibatch": 64, "epochs": 1},
        "output": {"checkpoint_every": 64, "tensorboard": False},
    }


@pytest.fixture(scope="session")
def small_settings(small_document):
    """Settings of the small run, with changes by table."""

    def make(**changes):
        document = dict(small_document)
        for table, values in changes.items():
            document[table] = (
                {**document.get(table, {}), **values} if isinstance(values, dict) else values
            )
        return build(ActorsSettings, document)

    return make
