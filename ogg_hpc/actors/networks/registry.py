"""Networks by name."""

from __future__ import annotations

from typing import Any

from ogg_hpc.actors.networks.gcn import GCN
from ogg_hpc.actors.networks.mlp import MLP
from ogg_hpc.actors.networks.network import Network
from ogg_hpc.actors.schema import Schema
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.plugins import load_class
from ogg_hpc.settings import build

_NETWORKS: dict[str, type[Network]] = {kind.name: kind for kind in (MLP, GCN)}


def network_class(spec: str) -> type[Network]:
    """Return a network's class by name, or a user's own by ``FILE.py:CLASS``."""
    if ":" in spec:
        return load_class(spec, Network)
    if spec not in _NETWORKS:
        raise SettingsError(
            f"network {spec!r} is unknown; use {', '.join(_NETWORKS)} or FILE.py:CLASS"
        )
    return _NETWORKS[spec]


def make_network(spec: str, schema: Schema, model: dict[str, Any]) -> Network:
    """Make a network without parameters, which `Network.load` brings.

    Parameters
    ----------
    spec
        As for `network_class`.
    schema
        What is observed and done.
    model
        Its settings, as in the ``[network.model]`` table of a run.

    Raises
    ------
    SettingsError
        An unknown network, or settings or a schema that it cannot serve.
    """
    kind = network_class(spec)
    return kind(schema, build(kind.settings_type, model, "network.model."))
