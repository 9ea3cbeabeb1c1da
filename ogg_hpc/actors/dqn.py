"""Deep Q-learning of a graph problem from the episodes of actors.

The gradient steps are those of `ogg_hpc.training`; the actors stand in for its own environment.
A learner keeps pace with its actors: for every `train_frequency` steps taken in it makes `tau`
gradient steps, no more, and its actors get no further grants while they are `ahead` steps before
it. So both wait for one another, as with the rate limiters of Reverb [1]_, and what the actors know
of the policy is never older than that.

References
----------
.. [1] Cassirer et al., "Reverb: a framework for experience replay", arXiv:2102.04736, 2021.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.algorithm import Advance
from ogg_hpc.actors.cell import Cell
from ogg_hpc.actors.collectors.episodes import check_setup
from ogg_hpc.actors.environments.graph_problem import GraphProblem
from ogg_hpc.actors.environments.registry import make_environment
from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.actors.replay import EpisodeReplay
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.policies.file import save_parameters
from ogg_hpc.policies.registry import make_policy
from ogg_hpc.runtime.clock import Clock, over_ranks
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.log import say
from ogg_hpc.training.engine import make_engine
from ogg_hpc.training.evaluation import Evaluation
from ogg_hpc.training.folder import BEST, LAST
from ogg_hpc.training.q_function import QFunction, part_of

# Seconds that a learner without anything to do waits for its actors before it looks at the others.
_WAIT = 0.1


class DQN:
    """Deep Q-learning; see `ogg_hpc.actors.algorithm.Algorithm` (collective).

    Parameters
    ----------
    learners
        The learners.
    settings
        The run.
    schema
        What is observed and done.

    Raises
    ------
    SettingsError
        An environment or a network that does not fit.
    """

    def __init__(self, learners: Communicator, settings: ActorsSettings, schema: Schema) -> None:
        self._learners, self._run, self._settings = learners, settings, settings.dqn
        environment, network = settings.environment, settings.network
        env = learners.on_all(
            lambda: make_environment(environment.name, environment.options).unwrapped
        )
        learners.on_all(lambda: check_setup(env, network.name))
        assert isinstance(env, GraphProblem)
        self._problem, self._graphs, self._digest = env.problem, env.graphs, env.digest
        policy = learners.on_all(lambda: make_policy(network.name, network.model, settings.seed))
        policy.to(learners.device.name)
        alone = learners.alone()
        self._engine = make_engine(
            self._settings.engine, alone, self._graphs, self._problem, policy, "allgather"
        )
        self._clock = Clock(learners, "gradients", "average", "evaluate")
        self._q = QFunction(
            learners, alone, learners.size, self._engine, policy, self._settings, self._clock
        )
        validation = self._settings.validation
        self._evaluation = learners.on_all(
            lambda: Evaluation(
                learners, alone, learners.rank, learners.size, self._problem, validation,
                "allgather", "rows",
            )
        )  # fmt: skip
        self._replay = EpisodeReplay(
            self._settings.replay, self._settings.n_step, self._settings.gamma
        )
        self._fragments: dict[int, tuple[int, int]] = {}  # incarnation and number by slot
        self._taken = self._learned_here = 0  # steps of this learner's actors
        self._steps = self._learned = 0  # steps of all actors: taken in, and learned from
        self._gradient_steps = 0
        self._dropped: Counter[str] = Counter()
        self._best: dict[str, Any] | None = None
        self._best_parameters: dict[str, NDArray[Any]] = {}
        self._ratios: dict[str, Any] = {}  # of an evaluation that is not told yet
        self._evaluated = -1  # at what step of `_learned` that was last done

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """See `Algorithm.arrays`."""
        return _parameters(self._q.policy)

    def advance(self, cell: Cell) -> Advance:
        """Take in what actors have made by now, and make the gradient steps that are due for it."""
        self._evaluate_when_due()  # before the first step
        came, losses = _Came(), list[float]()
        self._take_in(cell, came, 0.0 if self._due else _WAIT)
        for _ in range(self._due):
            losses += self._learn(cell)
            self._take_in(cell, came, 0.0)
        if self._steps >= self._run.steps:
            while self._due:
                losses += self._learn(cell)
            self._evaluate_when_due(last=True)
        return self._told(came, losses)

    # Taking in.

    def _take_in(self, cell: Cell, came: _Came, seconds: float) -> None:
        """Grant what there is credit for, and take in what has come (collective)."""
        grant = {"epsilon": self._settings.epsilon(self._steps), "graphs": self._digest}
        cell.top_up(self._credit, grant)
        for fragment in cell.arrived(seconds):
            reason = self._misfit(fragment, cell.version)
            if reason is None:
                self._insert(fragment)
                came.add(fragment)
            else:  # what follows on it does not count either
                self._dropped[reason] += 1
                self._replay.leave_off(fragment.slot)
        for slot in self._fragments.keys() - set(cell.slots):
            self._replay.leave_off(slot)
            del self._fragments[slot]
        self._steps += came.over(self._learners)

    @property
    def _credit(self) -> int:
        """How many steps the actors of this learner may still make before it learns on.

        It grows by half of `ahead` at a time: steps that are granted together share messages,
        weights and forward passes.
        """
        portion = max(1, self._settings.ahead // 2)
        ahead = self._taken - self._learned_here // portion * portion
        left = -(-(self._run.steps - self._steps) // self._learners.size)
        return max(0, min(self._settings.ahead - max(ahead, 0), left))

    def _misfit(self, fragment: Fragment, version: int) -> str | None:
        """Return why a fragment cannot be learned from; None where it can."""
        if version - fragment.version > self._settings.stale:
            return "stale"
        graphs, sizes = fragment.arrays["graph"], self._graphs.sizes
        if (graphs < 0).any() or (graphs >= len(sizes)).any():
            return "no such graph"
        if (fragment.arrays["action"] >= sizes[graphs] * self._problem.sides).any():
            return "no such node"
        return None

    def _insert(self, fragment: Fragment) -> None:
        """Put the steps of a fragment behind those of its slot."""
        arrays, slot = fragment.arrays, fragment.slot
        following = fragment.incarnation, fragment.sequence
        if self._fragments.get(slot) != following:  # something between is missing
            self._replay.leave_off(slot)
        self._fragments[slot] = fragment.incarnation, fragment.sequence + 1
        rewards = arrays["reward"]
        if self._settings.reward == "per-node":
            rewards = rewards / self._graphs.sizes[arrays["graph"]]
        self._replay.extend(slot, arrays["graph"], arrays["first"], arrays["action"], rewards)
        self._taken += fragment.steps

    # Learning.

    @property
    def _unit(self) -> int:
        """How many steps of all actors there are to a round of gradient steps."""
        return self._settings.train_frequency * self._learners.size

    @property
    def _due(self) -> int:
        """How many rounds of gradient steps are due: the same on all learners."""
        return (self._steps - self._learned) // self._unit

    def _learn(self, cell: Cell) -> list[float]:
        """Make the gradient steps of a round, and publish what they lead to (collective).

        Returns
        -------
        list of float
            The losses; none while there is no experience.
        """
        settings, losses = self._settings, []
        for _ in range(settings.tau):
            with self._clock("gradients"):
                tuples = self._replay.sample(
                    settings.batch, self._run.seed, self._learners.rank, self._gradient_steps
                )
                loss = self._q.learn(tuples, self._learned)
            if loss is not None:
                losses.append(loss)
            self._gradient_steps += 1
            if self._gradient_steps % settings.publish_every == 0:
                cell.publish(self.arrays())
        before, self._learned = self._learned, self._learned + self._unit
        self._learned_here += settings.train_frequency
        self._q.refresh_target(before, self._learned)
        self._evaluate_when_due()
        return losses

    def _evaluate_when_due(self, last: bool = False) -> None:
        """Evaluate on held-out graphs, and keep the policy if none was better (collective)."""
        every, step = self._settings.evaluate_every, self._learned
        due = step // every > self._evaluated // every or (last and step > self._evaluated)
        if not self._settings.validation or not due:
            return
        self._evaluated = step
        with self._clock("evaluate"):
            ratios = self._evaluation.ratios(self._q.averaged)
        score = sum(ratios.values()) / len(ratios)
        better = self._best is None or score < self._best["score"]
        if better:
            self._best = {"step": step, "score": score, "ratios": ratios}
            self._best_parameters = _parameters(self._q.averaged)
        parts = " ".join(f"{name} {ratio:.4f}" for name, ratio in ratios.items())
        say(self._learners, f"step {step}: {parts}{' (best so far)' if better else ''}")
        self._ratios = {"ratio": ratios, "score": score}

    def _told(self, came: _Came, losses: Sequence[float]) -> Advance:
        """Return what there is to say of an advance, nothing where nothing has happened."""
        if not (came.steps or losses or self._ratios):
            return Advance(0, {}, "waiting for actors")
        mean = came.total_return / came.episodes if came.episodes else None
        values = {
            "loss": losses[-1] if losses else None,
            "epsilon": self._settings.epsilon(self._steps),
            "return": mean,
            "ahead": self._steps - self._learned,
            **self._ratios,
        }
        if came.steps:  # else nothing of it is written
            self._ratios = {}
        text = f"loss {losses[-1]:.2e}" if losses else "waiting for actors"
        return Advance(came.steps, values, text)

    # State.

    def state(self) -> dict[str, NDArray[np.generic]] | None:
        """See `Algorithm.state`."""
        replays = self._learners.gather_on_root(self._replay.state())
        if replays is None:
            return None
        counters = {
            "steps": self._steps,
            "learned": self._learned,
            "gradient_steps": self._gradient_steps,
            "evaluated": self._evaluated,
            "best": self._best,
            "first_objectives": self._evaluation.first_objectives(),
        }
        return {
            **self._q.state(),
            **{f"best/{name}": array for name, array in self._best_parameters.items()},
            **{
                f"replay/{learner}/{name}": array
                for learner, replay in enumerate(replays)
                for name, array in replay.items()
            },
            "learners": np.array(len(replays)),
            "counters": np.array(json.dumps(counters)),
        }

    def restore(self, state: dict[str, NDArray[np.generic]] | None) -> None:
        """See `Algorithm.restore`; replays are shared out anew over other numbers of learners."""
        replays: list[Any] | None = None
        common: dict[str, NDArray[Any]] | None = None
        if state is not None:
            learners, size = int(state["learners"]), self._learners.size
            held = [part_of(state, f"replay/{learner}/") for learner in range(learners)]
            replays = [[] for _ in range(size)]
            for learner in range(max(learners, size)):
                replays[learner % size].append(held[learner % learners])
            common = {name: each for name, each in state.items() if name[:7] != "replay/"}
        common = self._learners.broadcast_object(common)
        assert common is not None
        self._replay.restore(self._learners.scatter_from_root(replays))
        self._q.restore(common)
        self._best_parameters = part_of(common, "best/")
        counters = json.loads(str(common["counters"]))
        self._steps, self._learned = counters["steps"], counters["learned"]
        self._gradient_steps = counters["gradient_steps"]
        self._evaluated, self._best = counters["evaluated"], counters["best"]
        self._evaluation.restore(counters["first_objectives"])

    def save(self, folder: Path) -> None:
        """Write the policies ``best.npz`` and ``last.npz``, as a training run does."""
        files = {LAST: _parameters(self._q.averaged)}
        if self._best is not None:
            files[BEST] = self._best_parameters
        policy = self._q.policy
        for name, parameters in files.items():
            training = {"steps": self._steps, "best": self._best, "graphs": self._digest}
            save_parameters(
                folder / name, policy.name, policy.describe(), parameters, self._problem.name,
                training,
            )  # fmt: skip

    def record(self) -> dict[str, Any]:
        """See `Algorithm.record`."""
        dropped: Counter[str] = sum(self._learners.gather_objects(self._dropped), Counter())
        return {
            "problem": self._problem.name,
            "engine": self._engine.name,
            "gradient_steps": self._gradient_steps,
            "best": self._best,
            "references": self._evaluation.kinds(),
            "replay_steps": self._replay.steps,
            "unusable_fragments": dict(dropped),
            "learning_phases": over_ranks(self._learners, self._clock.report()),
        }


class _Came:
    """What has come from the actors of all learners in an advance."""

    def __init__(self) -> None:
        self.steps = self.episodes = 0
        self.total_return = 0.0
        self._new = np.zeros(3)

    def add(self, fragment: Fragment) -> None:
        """Count a fragment of this learner."""
        returns = [episode["return"] for episode in fragment.episodes]
        self._new += fragment.steps, len(returns), sum(returns)

    def over(self, learners: Communicator) -> int:
        """Count what is new on all learners; return how many steps that is (collective)."""
        steps, episodes, returns = learners.allreduce(self._new)
        self._new = np.zeros(3)
        self.steps += int(steps)
        self.episodes += int(episodes)
        self.total_return += float(returns)
        return int(steps)


def _parameters(policy: Any) -> dict[str, NDArray[np.generic]]:
    return {name: value.cpu().numpy().copy() for name, value in policy.state_dict().items()}
