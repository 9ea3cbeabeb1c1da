"""A cell whose environments are stepped by the learner itself."""

from ogg_hpc.actors.collectors.registry import collector_class
from ogg_hpc.actors.message import Message, decode, encode
from ogg_hpc.actors.weights import Weights


class OneProcessCell:
    """What an algorithm needs of `ogg_hpc.actors.cell.Cell`, without processes.

    What `top_up` grants is made when its answer is asked for, by the weights of the grant.

    Parameters
    ----------
    settings
        The run.
    slots
        Environments.
    learner
        Number of the learner.
    """

    def __init__(self, settings, slots, learner=0):
        fields = {
            "run": "run", "seed": settings.seed, "learner": learner,
            "slots": {str(slot): 0 for slot in range(slots)},
            "environment": settings.environment.name, "options": settings.environment.options,
            "network": settings.network.name, "model": settings.network.model,
        }  # fmt: skip
        self._collector = collector_class(settings.algorithm)(Message("welcome", fields))
        self.schema = self._collector.schema
        self.layout = self._collector.layout(self.schema)
        self.version, self._round, self._slots = -1, 0, slots
        self._granted = []

    @property
    def slots(self):
        return list(range(self._slots))

    def publish(self, arrays):
        self.version += 1
        copies = {name: array.copy() for name, array in arrays.items()}
        self._weights = Weights("run", self.version, copies)
        return self.version

    def collect(self, steps):
        return sorted(self._made(self._grant(steps)), key=lambda fragment: fragment.slot)

    def top_up(self, outstanding, fields):
        if outstanding and not self._granted:  # a slot has one grant at a time
            self._granted.append(self._grant(outstanding, **fields))

    def arrived(self, seconds):
        return self._made(self._granted.pop(0)) if self._granted else []

    def _grant(self, steps, **fields):
        share, more = divmod(steps, self._slots)
        grants = {slot: share + (slot < more) for slot in range(self._slots)}
        grants = {str(slot): steps for slot, steps in grants.items() if steps}
        fields |= {"round": self._round, "version": self.version, "steps": grants}
        self._round += 1
        return self._weights, decode(encode(Message("grant", fields)))

    def _made(self, granted):
        weights, grant = granted
        self._collector.load(weights)
        return list(self._collector.collect(grant, lambda: False, lambda done: None))
