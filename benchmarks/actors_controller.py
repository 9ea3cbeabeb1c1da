"""What the way to remote hosts costs: learner, controller and host on this machine.

Messages of several sizes go from a learner through the controller to a host, which sends them
back: one after the other (round trips), and many at a time. Beside them stands gRPC alone, from
one process to another and back, without a learner or a token. Then: how many seconds after its
fault a host is told to be gone, with the lease of 5 s that is the default.

Use: python benchmarks/actors_controller.py [--output FILE.json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import write_record

from ogg_hpc.actors.gateway.announcement import controllers_folder
from ogg_hpc.actors.gateway.connection import Connection, Target
from ogg_hpc.actors.gateway.controller_process import ControllerProcess
from ogg_hpc.actors.gateway.event_loop_thread import EventLoopThread
from ogg_hpc.actors.gateway.grpc_settings import load_grpc
from ogg_hpc.actors.message import PROTOCOL, Message, encode
from ogg_hpc.actors.settings import RemoteSettings
from ogg_hpc.actors.transports.controller import ControllerTransport
from ogg_hpc.runtime.package_version import package_version

SIZES = (100, 28_200, 1 << 20, 7 << 20)  # 7 MiB: a round of molecules, as observations
BYTES = 60 << 20  # of a measurement, at most
MOST = 1000  # messages
LEASE = 5.0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    # Parts that this script starts in processes of their own.
    parser.add_argument("--host", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--echo", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.host:
        echo_as_host(*args.host)
        return
    if args.echo:
        asyncio.run(echo())
        return
    with tempfile.TemporaryDirectory() as folder:
        results = {"messages": through_controller(Path(folder)), "gRPC alone": grpc_alone()}
    with tempfile.TemporaryDirectory() as folder:
        results["seconds until told"] = faults(Path(folder))
    print(json.dumps(results, indent=1))
    write_record(args.output, results)


class Learner:
    """A learner with a controller, and hosts that send back what they hear."""

    def __init__(self, folder):
        self._token = controllers_folder(folder) / "token"
        process = ControllerProcess(folder, RemoteSettings("127.0.0.1:0"), 1, LEASE)
        self.transport = ControllerTransport(folder, 0, lease=LEASE, controller=process)

    def start_host(self):
        """Start a host; return its process and its number."""
        script = [sys.executable, __file__, "--host", self.transport.address, str(self._token)]
        process = subprocess.Popen(script)
        while not (came := self.transport.poll(1)):
            pass
        return process, came[0][0]

    def receive(self, count):
        """Wait for so many messages."""
        left = count
        while left:
            left -= len(self.transport.poll(1))


def echo_as_host(address, token_file):
    target = Target(address, Path(token_file).read_text().strip())
    connection = Connection(EventLoopThread(), target, LEASE)
    fields = {"protocol": PROTOCOL, "package": package_version(), "capacity": 1}
    connection.send(encode(Message("hello", {**fields, "schema": "", "host": "", "pid": 0})))
    while connection.end is None:
        select.select([connection], [], [], 0.1)
        for message in connection.received():
            connection.send(message)
        connection.show_life()


def through_controller(folder):
    learner = Learner(folder)
    process, number = learner.start_host()
    results = {}
    for size in SIZES:
        message, count = os.urandom(size), max(8, min(MOST, BYTES // size))

        def one_by_one(message=message, count=count):
            for _ in range(count):
                learner.transport.send(number, message)
                learner.receive(1)

        def at_once(message=message, count=count):
            for _ in range(count):
                learner.transport.send(number, message)
            learner.receive(count)

        results[size] = rates(size, count, one_by_one, at_once)
        print(size, results[size], flush=True)
    learner.transport.close()
    process.wait()
    return results


def rates(size, count, one_by_one, at_once):
    """Return round trips a second, and the bytes of both ways when many are on them."""
    return {
        "round trips a second": round(count / seconds(one_by_one)),
        "MB a second": round(2 * size * count / seconds(at_once) / 1e6, 1),
    }


def seconds(work):
    work()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def grpc_alone():
    script = [sys.executable, __file__, "--echo"]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as process:
        results = asyncio.run(exchange(f"127.0.0.1:{int(process.stdout.readline())}"))
        process.kill()
    return results


NO_LIMITS = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
)


async def echo():
    grpc = load_grpc()

    async def send_back(_, context):
        while (message := await context.read()) is not grpc.aio.EOF:
            await context.write(message)

    server = grpc.aio.server(options=NO_LIMITS)
    handler = grpc.stream_stream_rpc_method_handler(send_back)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("Echo", {"Send": handler}),)
    )
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    await server.start()
    await server.wait_for_termination()


async def exchange(address):
    grpc = load_grpc()
    results = {}
    async with grpc.aio.insecure_channel(address, options=NO_LIMITS) as channel:
        call = channel.stream_stream("/Echo/Send")()

        async def one_by_one(message, count):
            for _ in range(count):
                await call.write(message)
                await call.read()

        async def at_once(message, count):
            async def send():
                for _ in range(count):
                    await call.write(message)

            sending = asyncio.create_task(send())
            for _ in range(count):
                await call.read()
            await sending

        for size in SIZES:
            message, count = os.urandom(size), max(8, min(MOST, BYTES // size))
            taken = []
            for work in (one_by_one, at_once):
                await work(message, count)
                start = time.perf_counter()
                await work(message, count)
                taken.append(time.perf_counter() - start)
            results[size] = {
                "round trips a second": round(count / taken[0]),
                "MB a second": round(2 * size * count / taken[1] / 1e6, 1),
            }
        call.cancel()
    return results


def faults(folder):
    learner = Learner(folder)
    results = {}
    for name, number in (("killed", signal.SIGKILL), ("stopped", signal.SIGSTOP)):
        results[name] = []
        for _ in range(3):
            process, host = learner.start_host()
            settled = time.monotonic() + 1
            while time.monotonic() < settled:
                learner.transport.poll(0.1)
            start = time.perf_counter()
            process.send_signal(number)
            while (host, None) not in learner.transport.poll(0.1):
                pass
            results[name].append(round(time.perf_counter() - start, 2))
            process.kill()
            process.wait()
    learner.transport.close()
    return results


if __name__ == "__main__":
    main()
