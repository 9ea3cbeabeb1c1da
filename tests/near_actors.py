"""Actors in the process of their learner: one collector instead of hosts and their processes."""

from ogg_hpc.actors.collectors.registry import collector_class
from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.actors.message import Message, decode, encode
from ogg_hpc.actors.weights import Weights


class NearActors:
    """What an algorithm asks of a cell; each grant is fulfilled when its answer is asked for."""

    def __init__(self, settings, slots, delay=0):
        self.settings, self.delay = settings, delay
        self.run, self.version = "run", -1
        self.slots = list(range(slots))
        self.grants, self.answers = [], []
        self.incarnation = -1
        self.restart()

    def restart(self):
        """Start all environments anew."""
        self.incarnation += 1
        self.collector = collector_class(self.settings.algorithm)(
            Message("welcome", self.welcome())
        )
        self.layout = self.collector.layout(self.collector.schema)

    def welcome(self):
        settings = self.settings
        return {
            "run": self.run,
            "learner": 0,
            "seed": settings.seed,
            "environment": settings.environment.name,
            "options": settings.environment.options,
            "network": settings.network.name,
            "model": settings.network.model,
            "slots": {str(slot): self.incarnation for slot in self.slots},
        }

    def publish(self, arrays):
        self.version += 1
        self.weights = encode(Weights(self.run, self.version, arrays).message())
        return self.version

    def top_up(self, outstanding, fields):
        left = outstanding - sum(sum(grant["steps"].values()) for grant in self.grants)
        busy = {int(slot) for grant in self.grants for slot in grant["steps"]}
        steps = {}
        for slot in self.slots:
            share = min(left, max(1, outstanding // len(self.slots)))
            if slot not in busy and share > 0:
                steps[str(slot)] = share
                left -= share
        if steps:
            round_ = len(self.answers)
            self.grants.append(
                {**fields, "round": round_, "version": self.version, "steps": steps,
                 "weights": self.weights}
            )  # fmt: skip

    def arrived(self, seconds):
        if len(self.grants) <= self.delay and seconds == 0:
            return []
        return self.answer() if self.grants else []

    def answer(self):
        """Fulfil the oldest grant."""
        grant = self.grants.pop(0)
        self.collector.load(Weights.of(decode(grant.pop("weights"))))
        message = decode(encode(Message("grant", grant)))
        found = [
            Fragment.of(decode(encode(fragment.message())), self.layout)
            for fragment in self.collector.collect(message, lambda: False, lambda steps: None)
        ]
        self.answers += found
        return found
