"""Single steps by a policy that is drawn from, for on-policy learning."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.collectors.collector import Collector, Slot
from ogg_hpc.actors.collectors.rollout import Rollout, step_layout
from ogg_hpc.actors.episode import episode_told
from ogg_hpc.actors.fragment import Fragment, Layout
from ogg_hpc.actors.message import Message
from ogg_hpc.actors.networks.network import Arrays
from ogg_hpc.actors.networks.registry import make_network
from ogg_hpc.actors.normalisation import ObservationNormaliser
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.weights import Weights
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.random import hash64, stream


@dataclass(eq=False)
class _Play:
    """What goes on in a slot.

    `observation`, `total` and `length` are of the running episode, `ended` says what there is to
    say of those that ended under the present grant.
    """

    observation: Arrays
    total: float = 0.0
    length: int = 0
    ended: list[dict[str, Any]] = field(default_factory=list)


class StepCollector(Collector):
    """Steps all environments of a process in time with one another; see `Collector`.

    The fragment of a slot has, for each of its steps, what was observed before it, as the
    environment showed it; what was done, as the policy drew it (real numbers are clipped to their
    bounds for the environment alone); the action's log-probability and the value of the state
    under the acting weights; the reward; and whether the episode was terminated or truncated.
    ``next_value`` is the value of the state that a step has led to where the episode was truncated
    there, or goes on beyond the fragment; 0 elsewhere.
    """

    def __init__(self, welcome: Message) -> None:
        super().__init__(welcome)
        name, model = welcome.text("network"), welcome.table("model")
        self._network = make_network(name, self.schema, model)
        self._normaliser = ObservationNormaliser(self.schema)
        self._plays: dict[int, _Play] = {}  # by slot

    @staticmethod
    def layout(schema: Schema) -> Layout:
        """See `Collector.layout`."""
        return step_layout(schema)

    def load(self, weights: Weights) -> None:
        """See `Collector.load`."""
        self._network.load(dict(weights.arrays))
        self._normaliser.load(weights.arrays)

    def collect(
        self,
        grant: Message,
        cut: Callable[[], bool],
        progress: Callable[[Mapping[int, int]], None],
    ) -> Iterator[Fragment]:
        """See `Collector.collect`."""
        granted = grant.slots("steps")
        # Those with most steps first: those that still step are then the first ones at any time.
        slots = sorted(
            (self.slots[number] for number in granted), key=lambda slot: -granted[slot.number]
        )
        wanted = [granted[slot.number] for slot in slots]
        plays = [self._play(slot) for slot in slots]
        rollout = Rollout(self.schema, max(wanted, default=0), len(slots))
        keys = self._keys(slots, max(wanted, default=0))
        done = dict.fromkeys(granted, 0)
        step, stepping = 0, sum(steps > 0 for steps in wanted)
        while stepping and not cut():
            observations = rollout.observe(step, [play.observation for play in plays[:stepping]])
            normalised = self._normaliser.normalise(observations)
            acted = self._network.act(normalised, keys[step, :stepping])
            rollout.act(step, acted)
            actions = self.schema.clipped(acted.actions)
            for i in range(stepping):
                action = {name: each[i] for name, each in actions.items()}
                self._step(slots[i], plays[i], action, rollout, step, i)
                done[slots[i].number] += 1
                progress(done)
            step += 1
            stepping = sum(steps > step for steps in wanted)
        for i, (slot, play) in enumerate(zip(slots, plays, strict=True)):
            if play.length and done[slot.number]:  # the episode goes on
                rollout.leads_to(done[slot.number] - 1, i, play.observation)
        rollout.fill_in_values(
            lambda states: self._network.value(self._normaliser.normalise(states))
        )
        for i, (slot, play) in enumerate(zip(slots, plays, strict=True)):
            steps = done[slot.number]
            arrays, ended = rollout.fragment(i, steps), play.ended
            play.ended = []
            yield self.fragment(grant, slot, steps, steps == wanted[i], ended, arrays)

    def _play(self, slot: Slot) -> _Play:
        """Return what goes on in a slot; at first an episode begins there."""
        if slot.number not in self._plays:
            observation, _ = slot.env.reset(seed=self.reset_seed(slot))
            self._plays[slot.number] = _Play(self.schema.flatten_observation(observation))
        return self._plays[slot.number]

    def _step(
        self, slot: Slot, play: _Play, action: Arrays, rollout: Rollout, step: int, place: int
    ) -> None:
        """Step an environment; begin a new episode where one ends."""
        found = slot.env.step(self.schema.unflatten_action(action))
        observation, reward, terminated, truncated, info = found
        if not math.isfinite(reward):
            raise SettingsError(f"the environment has returned {reward} as a reward")
        slot.steps += 1
        play.observation = self.schema.flatten_observation(observation)
        play.total += float(reward)
        play.length += 1
        rollout.reward(step, place, float(reward), terminated=terminated, truncated=truncated)
        if not (terminated or truncated):
            return
        if not terminated:
            rollout.leads_to(step, place, play.observation)
        play.ended.append(episode_told(play.total, play.length, info))
        slot.episodes += 1
        observation, _ = slot.env.reset()
        play.observation = self.schema.flatten_observation(observation)
        play.total, play.length = 0.0, 0

    def _keys(self, slots: list[Slot], steps: int) -> NDArray[np.uint64]:
        """Return the (steps, slots) hashes that actions are drawn by, as `Collector.key` does."""
        numbers, incarnations, before = (
            np.array([(slot.number, slot.incarnation, slot.steps) for slot in slots], np.int64)
            .reshape(-1, 3)
            .T
        )
        purpose = stream("actors action")
        count = before + np.arange(steps)[:, np.newaxis]
        return hash64(self.seed, purpose, self.learner, numbers, incarnations, count)
