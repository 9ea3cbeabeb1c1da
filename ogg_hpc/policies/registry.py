"""Policy networks by name."""

from __future__ import annotations

from typing import Any

from ogg_hpc.errors import SettingsError
from ogg_hpc.policies.degree_message_network import DegreeMessageNetwork
from ogg_hpc.policies.policy import Policy
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.runtime.plugins import load_class
from ogg_hpc.settings import build

_POLICIES: dict[str, type[Policy]] = {
    kind.name: kind for kind in (Structure2Vec, DegreeMessageNetwork)
}


def policy_class(spec: str) -> type[Policy]:
    """Return a policy network's class by name, or a user's own by ``FILE.py:CLASS``."""
    if ":" in spec:
        return load_class(spec, Policy)
    if spec not in _POLICIES:
        raise SettingsError(
            f"policy network {spec!r} is unknown; use {', '.join(_POLICIES)} or FILE.py:CLASS"
        )
    return _POLICIES[spec]


def make_policy(spec: str, model: dict[str, Any], seed: int) -> Policy:
    """Make a policy network with fresh parameters.

    Parameters
    ----------
    spec
        As for `policy_class`.
    model
        Its settings, as in the ``[model]`` table of a training configuration.
    seed
        Seed of the initial parameters.
    """
    kind = policy_class(spec)
    return kind(build(kind.settings_type, model, "model."), seed)
