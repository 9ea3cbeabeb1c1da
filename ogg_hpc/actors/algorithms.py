"""Algorithms by name."""

from __future__ import annotations

from ogg_hpc.actors.algorithm import Algorithm
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.runtime.communicator import Communicator


def make_algorithm(learners: Communicator, settings: ActorsSettings, schema: Schema) -> Algorithm:
    """Make the algorithm of a run, which imports torch (collective over the learners).

    Raises
    ------
    SettingsError
        It cannot learn what the schema says, or not as the settings say.
    """
    if settings.algorithm == "dqn":
        from ogg_hpc.actors.dqn import DQN

        return DQN(learners, settings, schema)
    from ogg_hpc.actors.ppo import PPO

    return PPO(learners, settings, schema)
