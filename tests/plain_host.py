"""A host without environments, for tests of the way between hosts and learners.

Run as a program it echoes what it hears, until its connection ends.
"""

import os
import sys
import time
from pathlib import Path

from ogg_hpc.actors.gateway.connection import Connection, Target
from ogg_hpc.actors.gateway.event_loop_thread import EventLoopThread
from ogg_hpc.actors.message import PROTOCOL, Message, encode
from ogg_hpc.runtime.package_version import package_version


def hello(capacity=1, **fields):
    """Return the hello of a host that suits, but for the fields given."""
    suiting = {
        "protocol": PROTOCOL, "package": package_version(), "host": "plain", "pid": os.getpid(),
        "capacity": capacity, "schema": "",
    }  # fmt: skip
    return encode(Message("hello", {**suiting, **fields}))


def main():
    address, token_file, lease = sys.argv[1:]
    target = Target(address, Path(token_file).read_text().strip())
    connection = Connection(EventLoopThread(), target, float(lease))
    connection.send(hello())
    while connection.end is None:
        connection.show_life()
        for message in connection.received():
            connection.send(message)
        time.sleep(0.01)


if __name__ == "__main__":
    main()
