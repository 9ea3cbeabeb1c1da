"""Samplers by name."""

from __future__ import annotations

import math

from ogg_hpc.embedding.sampling.app import APP
from ogg_hpc.embedding.sampling.deepwalk import DeepWalk, Node2Vec
from ogg_hpc.embedding.sampling.line import LINE
from ogg_hpc.embedding.sampling.sampler import Sampler
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.walk_graph import WalkGraph
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.plugins import load_class

SAMPLERS: dict[str, type[Sampler]] = {
    "deepwalk": DeepWalk,
    "node2vec": Node2Vec,
    "line": LINE,
    "app": APP,
}


def make_sampler(graph: WalkGraph, settings: EmbedSettings) -> Sampler:
    """Return the sampler that ``settings.method`` names, or a user's own in ``FILE.py:CLASS``.

    Raises
    ------
    SettingsError
        A class that cannot be loaded, settings that do not fit, or a graph without edges.
    """
    kind = SAMPLERS.get(settings.method) or load_class(settings.method, Sampler)
    if settings.option and settings.method in SAMPLERS:
        raise SettingsError(
            f"option {settings.option[0]}: {settings.method} takes none; they are for samplers of "
            "your own"
        )
    if not graph.degrees.any():
        raise SettingsError("the graph has no edges, so there are no pairs to learn from")
    sampler: Sampler = kind(graph, settings)
    for name in ("items", "pairs_per_item"):
        value = getattr(sampler, name, None)
        if value is None or not 0 < value < math.inf:
            raise SettingsError(
                f"{settings.method}: a sampler has to set {name} to a number above 0, not {value}"
            )
    return sampler
