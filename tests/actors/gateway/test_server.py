"""Whatever bytes reach a controller, it says why it refuses them, and serves the others."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_host import hello
from remote_learner import LIMIT, RemoteLearner

from ogg_hpc.actors.gateway.connection import Connection, Target
from ogg_hpc.actors.gateway.frames import HEARTBEAT, LAST, MOST_BYTES, PART
from ogg_hpc.actors.gateway.grpc_settings import AUTHORIZATION, PATH
from ogg_hpc.actors.message import Message, encode
from ogg_hpc.errors import SettingsError

grpc = pytest.importorskip("grpc")

FRAMES = st.lists(
    st.one_of(
        st.binary(max_size=300),
        st.binary(max_size=300).map(lambda data: bytes([LAST]) + data),
        st.just(HEARTBEAT),
        st.integers(0, 400).map(lambda length: (bytes([LAST]) + hello())[:length]),
    ),
    max_size=5,
)


class RawHost:
    """Sends any frames, by gRPC as it is."""

    def __init__(self, learner, token=None):
        self._token = learner.token_file.read_text().strip() if token is None else token
        self._channel = grpc.insecure_channel(learner.address)

    def send(self, *frames, metadata=None):
        """Return the name of the status, and its details, with which the controller answers."""
        metadata = ((AUTHORIZATION, f"Bearer {self._token}"),) if metadata is None else metadata
        call = self._channel.stream_stream(PATH)(iter(frames), metadata=metadata, timeout=LIMIT)
        try:
            list(call)
        except grpc.RpcError as error:
            return error.code().name, error.details()
        return "OK", ""


@pytest.fixture(scope="module")
def one_learner(tmp_path_factory):
    learner = RemoteLearner(tmp_path_factory.mktemp("run"), schema="a" * 64)
    yield learner
    assert learner.transport.restarts == 0
    assert "Traceback" not in learner.log
    learner.transport.close()


@pytest.fixture
def learner(one_learner):
    """The same learner for all tests of what its controller has to bear."""
    one_learner.until(lambda: len(one_learner.gone) == len(one_learner.hellos))
    one_learner.transport.refused.clear()
    return one_learner


@pytest.fixture
def raw(learner):
    return RawHost(learner)


def whole(message):
    return bytes([LAST]) + message


def test_a_wrong_token_is_refused_and_counted_and_never_told(learner):
    token = learner.token_file.read_text().strip()
    for wrong in ("x" * len(token), token[:-1], token + "x", ""):
        code, details = RawHost(learner, wrong).send(whole(hello()))
        assert code == "UNAUTHENTICATED"
        assert str(learner.token_file) in details
        assert token not in details
    assert RawHost(learner).send(metadata=())[0] == "UNAUTHENTICATED"
    binary = (("authorization-bin", token.encode()),)
    assert RawHost(learner).send(metadata=binary)[0] == "UNAUTHENTICATED"
    learner.until(lambda: learner.transport.refused == {"wrong token": 6})


def test_the_token_stands_neither_in_the_log_nor_on_the_command_line(learner, loop_thread):
    token = learner.token_file.read_text().strip()
    connection = Connection(loop_thread, Target(learner.address, "wrong" * 10))
    learner.until(lambda: connection.end)
    connection.close()
    assert token not in learner.log
    for name in ("cmdline", "environ"):
        told = Path(f"/proc/{learner.controller_pid}/{name}").read_bytes()
        assert token.encode() not in told


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"protocol": 0}, "protocol 0, the controller 1"),
        ({"protocol": "1"}, "protocol '1', the controller 1"),
        ({"package": "0.0.1"}, "package '0.0.1', the controller"),
        ({"package": None}, "same version of ogg-hpc"),
        ({"package": "é" * 4000}, "same version of ogg-hpc"),
        ({"schema": "b" * 64}, "the same environment"),
    ],
)
def test_a_host_that_does_not_suit_is_told_why_and_counted(learner, raw, fields, reason):
    code, details = raw.send(whole(hello(**fields)))
    assert code == "FAILED_PRECONDITION"
    assert reason in details
    learner.until(lambda: learner.transport.refused == {"wrong version or schema": 1})


@pytest.mark.parametrize(
    ("frames", "reason"),
    [
        ([b""], "an empty frame"),
        ([b"\x09"], "unknown kind 9"),
        ([bytes([LAST])], "no hello"),
        ([bytes([PART]) + b"first", whole(b"second")], "does not fit into one frame"),
        ([whole(b"\xff" * 100)], "no hello: not a message"),
        ([whole(encode(Message("fragment")))], "'fragment' before the hello"),
        ([whole(hello(capacity=0))], "capacity 0"),
        ([whole(hello(capacity=True))], "capacity True"),
        ([whole(hello(capacity=1 << 40))], "capacity 1099511627776"),
        ([whole(hello()), b""], "an empty frame"),
        ([whole(hello()), b"\x02more"], "a heartbeat of 5 bytes"),
    ],
)
def test_what_is_malformed_is_refused_with_a_reason(learner, raw, frames, reason):
    code, details = raw.send(*frames)
    assert code == "INVALID_ARGUMENT"
    assert reason in details
    learner.until(lambda: learner.transport.refused == {"malformed": 1})


def test_a_frame_above_the_limit_ends_its_stream_alone(learner, raw, join):
    connection, number = join(learner, hello())
    code, details = raw.send(bytes([PART]) + bytes(MOST_BYTES))
    assert code == "RESOURCE_EXHAUSTED"
    assert "1048576" in details
    assert_served(learner, connection, number)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FRAMES)
def test_any_frames_end_with_a_reason_and_harm_nobody(fuzzed, frames):
    _, raw = fuzzed
    code, details = raw.send(*frames)
    assert code in ("OK", "INVALID_ARGUMENT", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED")
    assert details or code == "OK"


@pytest.fixture
def fuzzed(learner, raw, join):
    connection, number = join(learner, hello())
    yield learner, raw
    assert connection.end is None
    assert_served(learner, connection, number)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=500), st.booleans())
def test_any_bytes_on_the_port_harm_nobody(fuzzed, data, preface):
    learner, _ = fuzzed
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" if preface else b""
    stream = socket.create_connection(("127.0.0.1", learner.port), timeout=LIMIT)
    with stream, suppress(ConnectionError):
        stream.sendall(preface + data)


def assert_served(learner, connection, number):
    """Check that a host is still served, both ways."""
    learner.transport.send(number, b"there?")
    heard = []
    learner.until(lambda: heard.extend(connection.received()) or heard)
    assert heard == [b"there?"]


def test_who_connects_and_says_nothing_is_let_go(start_learner):
    learner = start_learner(lease=1.0)
    raw = RawHost(learner)
    silence = iter(lambda: time.sleep(0.1) or None, 0)
    call = raw._channel.stream_stream(PATH)(
        (frame for frame in silence if frame),
        metadata=((AUTHORIZATION, f"Bearer {raw._token}"),),
        timeout=LIMIT,
    )
    with pytest.raises(grpc.RpcError) as ended:
        list(call)
    assert ended.value.code().name == "DEADLINE_EXCEEDED"
    assert ended.value.details() == "no sign of life within 1 s"


def test_who_connects_and_asks_for_nothing_is_let_go(learner):
    """Without a token one can say hello to gRPC and answer its pings, but not for ever."""
    settings, ping, acknowledged = 4, 6, 1
    stream = socket.create_connection(("127.0.0.1", learner.port), timeout=LIMIT)
    with stream, stream.makefile("rb") as incoming:
        stream.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame_of_http(settings))
        end = time.monotonic() + LIMIT
        with suppress(ConnectionError):
            while head := incoming.read(9):
                assert time.monotonic() < end
                content = incoming.read(int.from_bytes(head[:3]))
                kind, flags = head[3], head[4]
                if kind in (settings, ping) and not flags & acknowledged:
                    answer = content if kind == ping else b""
                    stream.sendall(frame_of_http(kind, acknowledged, answer))


def frame_of_http(kind, flags=0, content=b""):
    return len(content).to_bytes(3) + bytes([kind, flags, 0, 0, 0, 0]) + content


def test_a_port_in_use_is_an_error_with_a_remedy(learner, start_learner, tmp_path):
    with pytest.raises(SettingsError, match=r"Address already in use.*Choose another port"):
        start_learner(tmp_path / "second", listen=learner.address)
    command = [sys.executable, "-m", "ogg_hpc", "actors", "controller", tmp_path / "third"]
    done = subprocess.run(
        [*map(str, command), "--listen", learner.address], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"ogg-hpc: cannot listen at {learner.address}: Address already in use; is it another"
    )
    assert done.stderr.count("\n") == 1


def test_a_controller_ends_with_the_learner_that_has_started_it(tmp_path):
    script = (
        "import sys, os, signal; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "from remote_learner import RemoteLearner\n"
        "learner = RemoteLearner(Path(sys.argv[2]))\n"
        "print(learner.controller_pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    tests = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", script, tests, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    pid = int(done.stdout)
    end = time.monotonic() + LIMIT
    while Path(f"/proc/{pid}/status").exists():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_controller_heeds_no_signals_that_are_meant_for_its_job(learner, join):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGURG):
        os.kill(learner.controller_pid, number)
    assert_served(learner, *join(learner, hello()))
    assert learner.transport.restarts == 0
