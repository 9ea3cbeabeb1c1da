"""Hosts of simulated time: a transport whose polls move a clock on."""

import heapq
import itertools
import math

import numpy as np

from ogg_hpc.actors.cell import PHASES, Cell
from ogg_hpc.actors.fragment import Fragment, Layout
from ogg_hpc.actors.message import Message, decode, encode
from ogg_hpc.actors.schema import Leaf, Schema
from ogg_hpc.actors.settings import ActorsSettings, CollectionSettings
from ogg_hpc.actors.setup import Setup
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator

SCHEMA = Schema(
    (Leaf("value", "float32", (2,)),),
    (Leaf("value", "int64", (), "discrete", n=(2,), start=(0,)),),
)
LAYOUT = Layout((Leaf("reward", "float32"),))


class Time:
    """Simulated seconds, and what happens in them."""

    def __init__(self):
        self.now = 0.0
        self._events = []
        self._order = itertools.count()

    def __call__(self):
        return self.now

    def at(self, moment, function):
        heapq.heappush(self._events, (max(moment, self.now), next(self._order), function))

    def advance(self, seconds):
        """Let the next event happen, if it is due within so many seconds; else let them pass."""
        if self._events and self._events[0][0] <= self.now + seconds:
            moment, _, function = heapq.heappop(self._events)
            self.now = max(self.now, moment)
            function()
        else:
            self.now += seconds


class FakeHost:
    """A host whose slots take so many seconds for a step.

    Attributes
    ----------
    heard : list of Message
        All that the learner has said.
    """

    def __init__(self, transport, number, capacity, seconds):
        self.transport, self.number, self.capacity = transport, number, capacity
        self.seconds = seconds if isinstance(seconds, dict) else dict.fromkeys(range(99), seconds)
        self.heard = []
        self.incarnations, self.sequence = {}, {}
        self.run, self.version = "", -1
        self.grants = {}  # slot -> token, round, since, steps
        self.gone = self.frozen = False
        self._unread = []

    @property
    def time(self):
        return self.transport.time

    def hello(self):
        self.say("hello", protocol=1, package="1", host=f"h{self.number}", pid=self.number,
                 capacity=self.capacity, schema="")  # fmt: skip

    def say(self, kind, **fields):
        self.send(encode(Message(kind, fields)))

    def send(self, data):
        if not self.gone:
            self.transport.came.append((self.number, data))

    def handle(self, data):
        message = decode(data)
        self.heard.append(message)
        if self.frozen:
            self._unread.append(message)
        elif not self.gone:
            self._obey(message)

    def _obey(self, message):
        if message.kind == "welcome":
            self.run = message.fields["run"]
            self.incarnations = message.slots("slots")
            self.sequence = dict.fromkeys(self.incarnations, -1)
            self.ready()
        elif message.kind == "weights":
            assert message.fields["version"] != self.version, "weights are sent once a version"
            self.version = message.fields["version"]
        elif message.kind == "grant":
            assert message.fields["version"] == self.version, "weights come before their grants"
            for slot, steps in message.slots("steps").items():
                assert slot not in self.grants, "one grant at a time"
                self.start(slot, message.fields["round"], steps)
        elif message.kind == "cut":
            for slot in message.fields["slots"]:
                self.cut(slot)

    def ready(self, *slots):
        named = {slot: self.incarnations[slot] for slot in slots or self.incarnations}
        self.say("ready", slots=named, schema=SCHEMA.to_json())

    def start(self, slot, round_, steps):
        self.answer_at(slot, round_, self.time.now, steps, steps)

        def progress():
            if self.grants.get(slot, (None, None))[1] == round_ and not self.frozen:
                self.say("progress", slots={slot: 0})
                self.time.at(self.time.now + 1, progress)

        self.time.at(self.time.now + 1, progress)

    def cut(self, slot):
        if slot in self.grants:
            _, round_, since, steps = self.grants[slot]
            done = math.floor((self.time.now - since) / self.seconds[slot]) + 1
            self.answer_at(slot, round_, since, steps, min(done, steps))

    def answer_at(self, slot, round_, since, steps, made):
        token = object()
        self.grants[slot] = token, round_, since, steps

        def answer():
            if self.grants.get(slot, (None,))[0] is token and not self.frozen:
                del self.grants[slot]
                self.send(self.fragment(slot, round_, made, complete=made == steps))

        self.time.at(since + made * self.seconds[slot], answer)

    def fragment(self, slot, round_, steps, complete=True, count=True, **other):
        if count:
            self.sequence[slot] += 1
        values = {"run": self.run, "version": self.version, "round": round_, "slot": slot,
                  "incarnation": self.incarnations[slot], "sequence": self.sequence[slot],
                  "steps": steps, "complete": complete, "episodes": []}  # fmt: skip
        arrays = {"reward": np.full(values["steps"], slot, np.float32)}
        return encode(Fragment(**(values | other), arrays=arrays).message())

    def lose(self, *slots, restart=1.0):
        """Lose processes, and have them ready again after some seconds."""
        for slot in slots:
            self.grants.pop(slot, None)
            self.incarnations[slot] += 1
            self.sequence[slot] = -1
        self.say("lost", slots={slot: self.incarnations[slot] for slot in slots}, reason="killed")
        self.time.at(self.time.now + restart, lambda: self.ready(*slots))

    def leave(self, how="goodbye"):
        """Leave by a word, or be gone without any."""
        if how == "goodbye":
            self.say("goodbye")
        elif how == "failed":
            self.say("failed", reason="the environment raises")
        else:
            self.transport.came.append((self.number, None))
        self.gone = True

    def thaw(self):
        """Go on after having been frozen: with what was under way, then with what came since."""
        self.frozen = False
        for slot, (_, round_, _, steps) in list(self.grants.items()):
            self.answer_at(slot, round_, self.time.now, steps, steps)
        unread, self._unread = self._unread, []
        for message in unread:
            self._obey(message)

    def kinds(self):
        return [message.kind for message in self.heard]


class FakeTransport:
    def __init__(self, time, members=None):
        self.time, self.members = time, members
        self.hosts, self.came, self.dropped, self.closed = {}, [], {}, None

    def host(self, capacity, seconds=0.01, hello=True):
        host = FakeHost(self, len(self.hosts), capacity, seconds)
        self.hosts[host.number] = host
        if hello:
            host.hello()
        return host

    def send(self, host, data):
        self.hosts[host].handle(data)

    def drop(self, host, reason):
        self.dropped[host] = reason
        self.hosts[host].gone = True

    def poll(self, seconds):
        if not self.came:
            self.time.advance(seconds)
        came, self.came = self.came, []
        return came

    def close(self, finished=True):
        self.closed = finished


def make_cell(time, *transports, stop=lambda: False, said=None, **collection):
    """Return a cell of these transports; what it says goes to a list."""
    settings = ActorsSettings(collection=CollectionSettings(**collection))
    tell = (said if said is not None else []).append
    return Cell(
        transports,
        Setup(0, settings, SCHEMA, LAYOUT),
        Clock(Communicator(), *PHASES),
        stop,
        tell=tell,
        now=time,
    )
