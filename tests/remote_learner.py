"""A learner without a network, which remembers what its remote hosts say; for tests."""

import subprocess
import time
from collections import defaultdict

from ogg_hpc.actors.gateway.announcement import controllers_folder, node_name
from ogg_hpc.actors.gateway.connection import Target
from ogg_hpc.actors.gateway.controller_process import ControllerProcess
from ogg_hpc.actors.message import decode
from ogg_hpc.actors.settings import RemoteSettings
from ogg_hpc.actors.transports.controller import ControllerTransport

LIMIT = 60.0  # seconds that a loaded machine may take
LEASE = 4.0


class RemoteLearner:
    """A learner and, if it is the first of its node, a controller.

    Attributes
    ----------
    said
        Messages of each host, its hello left out.
    hellos
        What each host has said first, decoded.
    gone
        The hosts that are gone, in order.
    """

    def __init__(
        self, folder, number=0, learners=1, schema="", lease=LEASE, listen="127.0.0.1:0", **remote
    ):
        self.folder = folder
        self.said = defaultdict(list)
        self.hellos = {}
        self.gone = []
        self.process = None
        if number == 0:
            self.process = ControllerProcess(
                folder, RemoteSettings(listen, **remote), learners, lease
            )
        self.transport = ControllerTransport(folder, number, schema, lease, self.process)

    @property
    def announcement(self):
        return controllers_folder(self.folder) / f"{node_name()}.json"

    @property
    def token_file(self):
        return controllers_folder(self.folder) / "token"

    @property
    def log(self):
        return (controllers_folder(self.folder) / f"{node_name()}.log").read_text()

    @property
    def address(self):
        return self.transport.address

    @property
    def port(self):
        return int(self.address.rpartition(":")[2])

    @property
    def controller_pid(self):
        """The process of the controller, found as a child of this one."""
        command = ["pgrep", "-f", f"actors controller {self.folder}"]
        return int(subprocess.run(command, capture_output=True, text=True).stdout.split()[0])

    def poll(self, seconds=0.01):
        for host, data in self.transport.poll(seconds):
            if data is None:
                self.gone.append(host)
            elif host not in self.hellos:
                self.hellos[host] = decode(data)
            else:
                self.said[host].append(data)

    def until(self, condition, limit=LIMIT):
        """Poll until a condition holds; return the seconds that it took."""
        start = time.monotonic()
        while not condition():
            assert time.monotonic() < start + limit, (self.hellos, self.gone, self.log)
            self.poll()
        return time.monotonic() - start

    def target(self, address=None):
        return Target(address or self.address, self.token_file.read_text().strip())
