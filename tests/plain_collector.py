"""A collector without a network: always the first action, and rewards are all that it brings."""

import numpy as np

from ogg_hpc.actors.collectors.collector import Collector
from ogg_hpc.actors.fragment import Layout
from ogg_hpc.actors.schema import Leaf


class PlainCollector(Collector):
    weights = None

    @staticmethod
    def layout(schema):
        return Layout(
            steps=(Leaf("reward", "float32"), Leaf("seen", "float32"), Leaf("version", "int64"))
        )

    def load(self, weights):
        self.weights = weights

    def collect(self, grant, cut, progress):
        steps = grant.slots("steps")
        rewards = {number: [] for number in steps}
        seen = {number: [] for number in steps}
        episodes = {number: [] for number in steps}
        while not cut():
            waiting = [number for number in steps if len(rewards[number]) < steps[number]]
            if not waiting:
                break
            for number in waiting:
                slot = self.slots[number]
                if not slot.steps:
                    slot.env.reset(seed=self.reset_seed(slot))
                observation, reward, terminated, truncated, info = slot.env.step(0)
                slot.steps += 1
                rewards[number].append(reward)
                seen[number].append(observation[0])
                if terminated or truncated:
                    episodes[number].append({"return": 0, "length": 1, **info})
                    slot.env.reset(seed=self.reset_seed(slot))
            progress({number: len(rewards[number]) for number in steps})
        for number, made in rewards.items():
            arrays = {
                "reward": np.array(made, np.float32),
                "seen": np.array(seen[number], np.float32),
                "version": np.full(len(made), self.weights.version),
            }
            slot, complete = self.slots[number], len(made) == steps[number]
            yield self.fragment(grant, slot, len(made), complete, episodes[number], arrays)
