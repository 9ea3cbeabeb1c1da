"""Collectors by the algorithm that learns from them."""

from __future__ import annotations

from importlib import import_module

from ogg_hpc.actors.collectors.collector import Collector
from ogg_hpc.runtime.plugins import load_class

# Imported when they are asked for, because of the libraries that they need.
COLLECTORS = {
    "ppo": "ogg_hpc.actors.collectors.steps:StepCollector",
    "dqn": "ogg_hpc.actors.collectors.episodes:EpisodeCollector",
}


def collector_class(algorithm: str) -> type[Collector]:
    """Return the collector of an algorithm, or a user's own in ``FILE.py:CLASS``.

    Raises
    ------
    SettingsError
        A class that cannot be loaded.
    """
    if algorithm not in COLLECTORS:
        return load_class(algorithm, Collector)
    module, name = COLLECTORS[algorithm].split(":")
    kind: type[Collector] = getattr(import_module(module), name)
    return kind
