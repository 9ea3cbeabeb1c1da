"""Playing by a policy that a run has saved, in this process and without torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

from ogg_hpc.actors.environments.registry import Environment, make_environment
from ogg_hpc.actors.episode import episode_told
from ogg_hpc.actors.networks.registry import make_network
from ogg_hpc.actors.normalisation import ObservationNormaliser
from ogg_hpc.actors.policy_file import SavedPolicy
from ogg_hpc.actors.schema import Schema
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.random import hash64, stream


class Player:
    """A saved policy at play.

    Parameters
    ----------
    policy
        The policy.
    seed
        Of the episodes' beginnings, and of actions that are drawn.
    greedy
        Whether it takes the most probable action instead of drawing one.

    Raises
    ------
    SettingsError
        The environment is another than the one that the policy has learned, or the policy scores
        nodes of graphs, which is not for this player.
    """

    def __init__(self, policy: SavedPolicy, seed: int, greedy: bool) -> None:
        settings, self._schema = policy.settings, policy.schema
        if settings.algorithm == "dqn":
            raise SettingsError(
                "a policy of deep Q-learning is compared on graphs: ogg-hpc evaluate --policy "
                "RUN/best.npz GRAPHS"
            )
        self._seed, self._greedy = seed, greedy
        self._network = make_network(settings.network.name, self._schema, settings.network.model)
        self._network.load(dict(policy.arrays))
        self._normaliser = ObservationNormaliser(self._schema)
        self._normaliser.load(policy.arrays)
        self._env = _environment(policy)

    def episodes(self, count: int) -> Iterator[dict[str, Any]]:
        """Yield of each episode its ``return`` and ``length``, and what the environment tells."""
        for number in range(count):
            yield self._episode(number)

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

    def _episode(self, number: int) -> dict[str, Any]:
        seed = int(hash64(self._seed, stream("evaluation reset"), number)) >> 33
        observation, _ = self._env.reset(seed=seed)
        total, length, ended = 0.0, 0, False
        info: dict[str, Any] = {}
        while not ended:
            action = self._action(observation, number, length)
            observation, reward, terminated, truncated, info = self._env.step(action)
            total += float(reward)
            length += 1
            ended = terminated or truncated
        return episode_told(total, length, info)

    def _action(self, observation: Any, episode: int, step: int) -> Any:
        leaves = self._schema.flatten_observation(observation)
        rows = self._normaliser.normalise({name: each[None] for name, each in leaves.items()})
        if self._greedy:
            actions = self._network.greedy(rows)
        else:
            key = hash64(self._seed, stream("evaluation action"), episode, step)
            actions = self._network.act(rows, key[None]).actions
        action = {name: each[0] for name, each in self._schema.clipped(actions).items()}
        return self._schema.unflatten_action(action)


def summary(episodes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what there is to say of episodes.

    Of all that they tell: of numbers ``mean``, ``min`` and ``max``, of truth values their
    ``share``, of texts, such as molecules, how many are ``distinct``. Where some episodes tell
    nothing, also ``of``: how many do.
    """
    result: dict[str, Any] = {"episodes": len(episodes)}
    for name in dict.fromkeys(name for each in episodes for name in each):
        told = [each[name] for each in episodes if each.get(name) is not None]
        found = _summary(told)
        if found and len(told) < len(episodes):
            found["of"] = len(told)
        if found:
            result[name] = found
    return result


def _summary(values: Sequence[Any]) -> dict[str, float]:
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return {"share": fmean(values)}
    if kinds == {str}:
        return {"distinct": len(set(values))}
    if kinds and kinds <= {int, float}:
        return {"mean": fmean(values), "min": min(values), "max": max(values)}
    return {}


def _environment(policy: SavedPolicy) -> Environment:
    environment = policy.settings.environment
    env = make_environment(environment.name, environment.options)
    if Schema.of(env).digest() != policy.schema.digest():
        env.close()
        raise SettingsError(
            f"environment {environment.name} shows or takes something else than when the policy "
            "was learned; use the version of that time"
        )
    return env
