"""Checks of parameters that generators share."""

from __future__ import annotations

from ogg_hpc.errors import SettingsError


def check_nodes(n: int) -> None:
    """Raise a SettingsError unless ids of n nodes fit 32 bits."""
    if not 0 <= n < 2**31:
        raise SettingsError(f"the number of nodes must lie in [0, 2**31), it is {n}")


def check_probability(p: float) -> None:
    """Raise a SettingsError unless p is a probability."""
    if not 0.0 <= p <= 1.0:
        raise SettingsError(f"a probability lies in [0, 1], it is {p}")
