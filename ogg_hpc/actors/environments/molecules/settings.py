"""Options of the molecule environment."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ogg_hpc.actors.environments.molecules.kinds import KINDS
from ogg_hpc.settings import misfit, setting

REWARDS = ("qed", "plogp", "similarity")
FILTERS = ("steric", "zinc", "brenk", "nih", "pains")


@dataclass(frozen=True)
class MoleculeSettings:
    """What molecules are built of, where they start, and what they are worth."""

    reward: str = setting(
        "qed",
        "worth of a finished molecule: qed, plogp (penalised logP), similarity (gain of penalised "
        "logP over the start, near to it), or FILE.py:CLASS of your own",
    )
    reward_options: dict[str, Any] = setting(dict, "keyword arguments of the reward")
    start: str = setting(
        "C", "SMILES that an episode starts from, or a file with one a line, one of which is drawn"
    )
    kinds: tuple[str, ...] = setting(
        ("C", "N", "O", "F", "S", "Cl", "Br", "N+", "O-"),
        f"kinds of atoms: {', '.join(KINDS)}",
    )
    max_atoms: int = setting(38, "most atoms, hydrogen aside")
    min_atoms: int = setting(
        1, "fewest atoms; before, the agent may not stop, nor leave nothing to add to"
    )
    max_rings: int = setting(8, "most rings: bonds in excess of those of a tree")
    smallest_ring: int = setting(3, "fewest atoms of a ring that a new bond closes")
    largest_ring: int = setting(8, "most atoms of the smallest ring that a new bond closes")
    max_steps: int = setting(128, "steps after which an episode is truncated")
    step_reward: float = setting(0.0, "reward of each bond that is added")
    invalid_penalty: float = setting(0.05, "what an action that is not allowed costs")
    filters: tuple[str, ...] = setting(
        (),
        "what a molecule has to pass: steric (no strain in three dimensions, which takes up to "
        "0.1 s), or catalogues of unwanted groups: zinc, brenk, nih, pains",
    )
    refused_reward: float = setting(-1.0, "reward of a molecule that a filter refuses")

    def __post_init__(self) -> None:
        if self.reward not in REWARDS and ".py:" not in self.reward:
            known = ", ".join(REWARDS)
            raise misfit("reward", f"reward is {known} or FILE.py:CLASS, not {self.reward!r}")
        self._check_kinds()
        for name in self.filters:
            if name not in FILTERS:
                raise misfit("filters", f"filters are {', '.join(FILTERS)}, not {name!r}")
        for name, least, most in (
            ("max_atoms", 2, 127),  # atoms are numbered by signed bytes
            ("min_atoms", 1, self.max_atoms),
            ("max_rings", 0, 127),
            ("smallest_ring", 3, self.largest_ring),
            ("largest_ring", 3, 127),
            ("max_steps", 2, math.inf),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                bounds = f"from {least} to {most}" if most < math.inf else f"at least {least}"
                raise misfit(name, f"{name} must be {bounds}; it is {value}")
        for name in ("step_reward", "invalid_penalty", "refused_reward"):
            if not math.isfinite(getattr(self, name)):
                raise misfit(name, f"{name} must be finite")
        if self.invalid_penalty < 0:
            raise misfit("invalid_penalty", "invalid_penalty must not be negative")

    @property
    def max_bonds(self) -> int:
        """Most bonds: those of a tree of all atoms, and one for each ring."""
        return self.max_atoms - 1 + self.max_rings

    def _check_kinds(self) -> None:
        for kind in self.kinds:
            if kind not in KINDS:
                raise misfit("kinds", f"unknown kind of atom {kind!r}; known: {', '.join(KINDS)}")
        if not self.kinds or len(set(self.kinds)) < len(self.kinds):
            raise misfit("kinds", "kinds must name at least one kind of atom, and none twice")
