"""Episodes of graph problems by an epsilon-greedy policy, for deep Q-learning.

The fragment of a slot has, for each of its steps: ``action``, the id of the action; ``reward``, as
the problem gives it; ``graph``, the number of the graph; and ``first``, whether an episode begins
with it. With the graphs at hand the learner can make each state from the actions before it; so no
state is sent. An episode ends where the next one begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.collectors.collector import Collector, Slot
from ogg_hpc.actors.environments.constructions import Construction, Constructions
from ogg_hpc.actors.environments.graph_problem import GraphProblem
from ogg_hpc.actors.fragment import Fragment, Layout
from ogg_hpc.actors.message import Message
from ogg_hpc.actors.schema import Leaf, Schema
from ogg_hpc.actors.weights import Weights
from ogg_hpc.errors import SettingsError
from ogg_hpc.policies.structure2vec_scorer import Structure2VecScorer
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.runtime.random import integers, stream, uniform
from ogg_hpc.search.policy_search import Scorer, select
from ogg_hpc.settings import build


@dataclass
class _Episode:
    """What goes on in a slot.

    Attributes
    ----------
    graph
        Number of its graph.
    construction
        Where it stands; while it is stepped, that is in the collector's `Constructions`.
    total, length
        Of its steps so far.
    """

    graph: int
    construction: Construction
    total: float = 0.0
    length: int = 0


@dataclass
class _Steps:
    """What a slot has made of a grant: a list for each array, and the episodes that ended."""

    graph: list[int] = field(default_factory=list)
    first: list[bool] = field(default_factory=list)
    action: list[int] = field(default_factory=list)
    reward: list[float] = field(default_factory=list)
    ended: list[dict[str, Any]] = field(default_factory=list)

    def arrays(self, layout: Layout) -> dict[str, NDArray[Any]]:
        return {leaf.name: np.array(getattr(self, leaf.name), leaf.dtype) for leaf in layout.steps}


class EpisodeCollector(Collector):
    """Chooses a node in all graphs of a process at a time; see `Collector`.

    A grant says ``epsilon``, the share of random actions, and ``graphs``, the `GraphProblem.digest`
    of the learner's graphs, which have to be the same. Randomness is keyed by slot and step, and
    decisions are made on rounded scores, as in training by ranks.

    Raises
    ------
    SettingsError
        The environment is no graph problem, or the policy cannot score without torch.
    """

    def __init__(self, welcome: Message) -> None:
        super().__init__(welcome)
        env = next(iter(self.slots.values())).env.unwrapped
        check_setup(env, welcome.text("network"))
        assert isinstance(env, GraphProblem)
        self._problem, self._graphs, self._digest = env.problem, env.graphs, env.digest
        self._settings = build(Structure2VecSettings, welcome.table("model"), "network.model.")
        self._layout = self.layout(self.schema)
        self._scorer: Scorer
        self._episodes: dict[int, _Episode] = {}  # by slot

    @staticmethod
    def layout(schema: Schema) -> Layout:
        """See `Collector.layout`."""
        return Layout(
            (
                Leaf("graph", "int32"),
                Leaf("first", "bool"),
                Leaf("action", "int32", (), "discrete", n=schema.actions[0].n),
                Leaf("reward", "float64"),
            )
        )

    def load(self, weights: Weights) -> None:
        """See `Collector.load`."""
        self._scorer = Structure2VecScorer(self._settings, weights.arrays)

    def collect(
        self,
        grant: Message,
        cut: Callable[[], bool],
        progress: Callable[[Mapping[int, int]], None],
    ) -> Iterator[Fragment]:
        """See `Collector.collect`."""
        if grant.text("graphs") != self._digest:
            raise SettingsError(
                "the graphs here are others than the learner's; use the same files and versions"
            )
        granted, epsilon = grant.slots("steps"), grant.number("epsilon")
        made = {number: _Steps() for number in granted}
        done = dict.fromkeys(granted, 0)
        stepping = sorted(number for number in granted if granted[number])
        while stepping and not cut():
            together = self._together(stepping)
            last = min(granted[number] - done[number] for number in stepping)
            while last and not cut():
                together = self._step(stepping, together, epsilon, made)
                for number in stepping:
                    done[number] += 1
                last -= 1
                progress(done)
            for place, number in enumerate(stepping):
                self._episodes[number].construction = together[place]
            stepping = [number for number in stepping if done[number] < granted[number]]
        for number, steps in made.items():
            complete = done[number] == granted[number]
            yield self.fragment(
                grant, self.slots[number], done[number], complete, steps.ended,
                steps.arrays(self._layout),
            )  # fmt: skip

    def _together(self, numbers: list[int]) -> Constructions:
        """Return the episodes of some slots as one batch; where there is none, one begins."""
        for number in numbers:
            if number not in self._episodes:
                self._episodes[number] = self._next_episode(self.slots[number])
        return self._batch(numbers)

    def _batch(self, numbers: list[int]) -> Constructions:
        constructions = [self._episodes[number].construction for number in numbers]
        return Constructions(self._problem, constructions)

    def _next_episode(self, slot: Slot) -> _Episode:
        items = (stream("episode"), self.learner, slot.number, slot.incarnation, slot.episodes)
        graph = int(integers(len(self._graphs), self.seed, *items))
        slot.episodes += 1
        return _Episode(graph, Construction.begun(self._graphs[graph]))

    def _step(
        self, numbers: list[int], together: Constructions, epsilon: float, made: dict[int, _Steps]
    ) -> Constructions:
        """Choose a node in each slot, and return where they stand then."""
        together = self._unfinished(numbers, together, made)
        graphs, actions = self._choose(numbers, together, epsilon)
        rewards = together.choose(graphs, actions)
        for number, action, reward in zip(numbers, actions, rewards, strict=True):
            episode, steps = self._episodes[number], made[number]
            steps.graph.append(episode.graph)
            steps.first.append(episode.length == 0)
            steps.action.append(int(action))
            steps.reward.append(float(reward))
            episode.total += float(reward)
            episode.length += 1
            self.slots[number].steps += 1
        return together

    def _unfinished(
        self, numbers: list[int], together: Constructions, made: dict[int, _Steps]
    ) -> Constructions:
        """Begin episodes where there is no node to choose any more."""
        empty = 0
        while (finished := together.finished).any():
            for place, number in enumerate(numbers):
                episode = self._episodes[number]
                if not finished[place]:
                    episode.construction = together[place]
                    continue
                if episode.length:
                    told = {"return": episode.total, "length": episode.length}
                    made[number].ended.append(told)
                self._episodes[number] = self._next_episode(self.slots[number])
            together = self._batch(numbers)
            empty += 1
            if empty > 100 * len(self._graphs):
                raise SettingsError("no graph has a candidate node; are there edges in them?")
        return together

    def _choose(
        self, numbers: list[int], together: Constructions, epsilon: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the graphs, all of them, and the action in each."""
        slots = [self.slots[number] for number in numbers]
        explores = [uniform(self.key(slot, "explore")) < epsilon for slot in slots]
        batch, solution = together.batch, together.solution
        if all(explores):
            scores = np.zeros((batch.nodes, 1))
        else:
            scores = np.array(self._scorer(batch, solution)[1])
        for place, slot in enumerate(slots):
            if explores[place]:
                rows = together.rows(place)
                random = uniform(self.key(slot, "random action"), np.arange(rows.stop - rows.start))
                scores[rows, 0] = random
        scores = self._problem.action_scores(scores, solution, batch)
        chosen = select(batch, scores, together.candidates)
        if len(chosen.groups) < len(numbers):
            raise SettingsError("scores are not finite any more; lower dqn.learning_rate")
        return chosen.groups, chosen.actions


def check_setup(env: object, network: str) -> None:
    """Find out whether deep Q-learning from actors can be done on an environment.

    Raises
    ------
    SettingsError
        It is no graph problem, or the policy cannot score without torch.
    """
    if not isinstance(env, GraphProblem):
        raise SettingsError("algorithm = dqn learns graph problems; set environment.name to that")
    if network != "s2v":
        raise SettingsError(
            f"network.name = {network!r}: deep Q-learning from actors takes s2v alone; "
            "train takes other policies"
        )
