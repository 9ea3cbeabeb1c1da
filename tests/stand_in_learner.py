"""A learner that asks a host for steps and looks at what comes, for tests of hosts."""

import time
from pathlib import Path

import numpy as np
from plain_collector import PlainCollector

from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.actors.message import Message, decode, encode
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.weights import Weights

HERE = Path(__file__).parent
PLAIN = f"{HERE / 'plain_collector.py'}:PlainCollector"
SCRIPTED = f"{HERE / 'scripted_environment.py'}:Scripted"
LIMIT = 60.0  # seconds that a loaded machine may take


class StandInLearner:
    """Speaks with a host that it is given, in the same process."""

    def __init__(self, host, slots, environment="synthetic", options=None, lease=20.0):
        self.host = host
        self.incarnations = dict.fromkeys(range(slots), 0)
        self.messages = []
        self.round = 0
        self.options = {"seconds": 0.0} if options is None else options
        self.environment, self.lease = environment, lease
        self.welcome()

    def welcome(self):
        fields = {
            "run": "r", "learner": 0, "slots": self.incarnations, "environment": self.environment,
            "options": self.options, "algorithm": PLAIN, "network": "mlp", "model": {}, "seed": 1,
            "lease": self.lease,
        }  # fmt: skip
        self.send("welcome", fields)

    def send(self, kind, fields):
        self.host.handle(encode(Message(kind, fields)))

    def publish(self, version, size=4):
        weights = Weights("r", version, {"w": np.full(size, version, np.float32)})
        self.host.handle(encode(weights.message()))

    def grant(self, steps, version=1):
        """Grant so many steps to each slot, or to each of a map."""
        self.round += 1
        steps = steps if isinstance(steps, dict) else dict.fromkeys(self.incarnations, steps)
        fields = {"steps": steps, "incarnations": self.incarnations}
        self.send("grant", {"round": self.round, "version": version, **fields})

    def until(self, condition, limit=LIMIT):
        """Take messages until a condition of all that came since the last call holds."""
        self.messages, end = [], time.monotonic() + limit
        while not condition(self.messages):
            assert time.monotonic() < end, [(m.kind, m.fields) for m in self.messages]
            for data in self.host.poll(0.2):
                message = decode(data)
                self.messages.append(message)
                if message.kind == "lost":
                    self.incarnations.update(message.slots("slots"))
        return self.messages

    def until_ready(self):
        """Take messages until all slots can be stepped; return their schema."""
        messages = self.until(lambda come: slots_of(come, "ready") == self.incarnations)
        return Schema.from_json(messages[-1].fields["schema"])

    def collect(self, steps, **options):
        """Grant steps and return the fragments that come, by slot."""
        self.grant(steps, **options)
        wanted = len(steps) if isinstance(steps, dict) else len(self.incarnations)
        return self.fragments(wanted)

    def fragments(self, wanted):
        messages = self.until(lambda come: sum(m.kind == "fragment" for m in come) >= wanted)
        layout = PlainCollector.layout(None)
        found = [Fragment.of(m, layout) for m in messages if m.kind == "fragment"]
        return {fragment.slot: fragment for fragment in found}


def slots_of(messages, kind):
    """Return what all messages of a kind say of slots."""
    return {k: v for m in messages if m.kind == kind for k, v in m.slots("slots").items()}
