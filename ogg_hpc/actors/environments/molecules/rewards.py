"""Rewards: what number an agent gets for a finished molecule."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, is_dataclass
from functools import lru_cache
from typing import Any

from rdkit import Chem, DataStructs

from ogg_hpc.actors.environments.molecules import scores
from ogg_hpc.actors.environments.molecules.settings import MoleculeSettings
from ogg_hpc.errors import SettingsError
from ogg_hpc.settings import build, misfit, setting


@dataclass(frozen=True)
class Score:
    """What a molecule is worth.

    Attributes
    ----------
    value : float
        The reward; finite.
    parts : dict of str to float
        What it is made of, for the record.
    refused_by : str
        The filter that refused it, so that the reward was not worked out; empty without one.
    """

    value: float
    parts: dict[str, float]
    refused_by: str = ""


class Reward(ABC):
    """A measure of molecules. Derive from it for one of your own, ``FILE.py:CLASS``.

    Its constructor takes `reward_options` as keyword arguments; they are checked where the class
    is a settings class (`ogg_hpc.settings`). The environment remembers what a molecule was worth
    and does not ask again soon: a score must depend on its arguments alone.
    """

    @abstractmethod
    def score(self, molecule: Chem.Mol, start: Chem.Mol) -> Score:
        """Return what a molecule is worth.

        Parameters
        ----------
        molecule
            A sanitised molecule of RDKit, without explicit hydrogen.
        start
            The molecule that the episode started from.
        """


@dataclass(frozen=True)
class DrugLikeness(Reward):
    """QED, 0 to 1."""

    def score(self, molecule: Chem.Mol, start: Chem.Mol) -> Score:
        """See `Reward.score`."""
        value = scores.qed(molecule)
        return Score(value, {"qed": value})


@dataclass(frozen=True)
class PenalisedLogP(Reward):
    """Penalised logP, in standard deviations over ZINC250k. It has no upper bound."""

    def score(self, molecule: Chem.Mol, start: Chem.Mol) -> Score:
        """See `Reward.score`."""
        parts = scores.penalised_log_p(molecule)
        return Score(parts["plogp"], parts)


@dataclass(frozen=True)
class SimilarityConstrained(Reward):
    """Gain of penalised logP over the start, as long as the molecule resembles it.

    What the Tanimoto similarity of Morgan fingerprints lacks of `threshold` is multiplied by
    `weight` and taken off, as in MolDQN (Zhou et al. 2019).
    """

    threshold: float = setting(0.4, "similarity to the start that costs nothing, 0 to 1")
    weight: float = setting(100.0, "cost of the similarity that is lacking")

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise misfit("threshold", f"threshold must be from 0 to 1; it is {self.threshold}")
        if not 0 <= self.weight < math.inf:
            raise misfit("weight", f"weight must be finite, not negative; it is {self.weight}")

    def score(self, molecule: Chem.Mol, start: Chem.Mol) -> Score:
        """See `Reward.score`."""
        before, fingerprint = _reference(start)
        parts = scores.penalised_log_p(molecule)
        similarity = scores.similarity(fingerprint, scores.fingerprint(molecule))
        gain = parts["plogp"] - before
        value = gain - self.weight * max(0.0, self.threshold - similarity)
        return Score(value, {**parts, "gain": gain, "similarity": similarity})


@lru_cache(maxsize=1024)
def _reference(start: Chem.Mol) -> tuple[float, DataStructs.ExplicitBitVect]:
    """Return penalised logP and fingerprint of a start, which is one object for many episodes."""
    return scores.penalised_log_p(start)["plogp"], scores.fingerprint(start)


_REWARDS: dict[str, type[Reward]] = {
    "qed": DrugLikeness,
    "plogp": PenalisedLogP,
    "similarity": SimilarityConstrained,
}


def make_reward(settings: MoleculeSettings) -> Reward:
    """Return the reward that the settings ask for.

    Raises
    ------
    SettingsError
        A file or class that cannot be loaded, or options that the reward does not take.
    """
    name, options = settings.reward, settings.reward_options
    kind: type[Any]
    if name in _REWARDS:
        kind = _REWARDS[name]
    else:
        from ogg_hpc.runtime.plugins import load_class

        kind = load_class(name, Reward)
    if is_dataclass(kind):
        made: Any = build(kind, options, "reward_options.")
    else:
        try:
            inspect.signature(kind).bind(**options)
        except TypeError as error:
            raise SettingsError(f"reward_options do not suit {name}: {error}") from None
        made = kind(**options)
    reward: Reward = made
    return reward
