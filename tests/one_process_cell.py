"""A cell whose environments are stepped by the learner itself."""

from ogg_hpc.actors.collectors.steps import StepCollector
from ogg_hpc.actors.message import Message
from ogg_hpc.actors.weights import Weights


class OneProcessCell:
    """What an algorithm needs of `ogg_hpc.actors.cell.Cell`, without processes.

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
        self._collector = StepCollector(Message("welcome", fields))
        self.schema = self._collector.schema
        self.version, self._round, self._slots = -1, 0, slots

    def publish(self, arrays):
        self.version += 1
        self._collector.load(Weights("run", self.version, arrays))
        return self.version

    def collect(self, steps):
        share, more = divmod(steps, self._slots)
        grants = {str(slot): share + (slot < more) for slot in range(self._slots)}
        fields = {"round": self._round, "version": self.version, "steps": grants}
        self._round += 1
        grant = Message("grant", fields)
        made = self._collector.collect(grant, lambda: False, lambda done: None)
        return sorted(made, key=lambda fragment: fragment.slot)
