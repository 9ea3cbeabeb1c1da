"""The oracle: who is asked what a finished molecule is worth, with a count of how often."""

from __future__ import annotations

import math
from collections import OrderedDict
from numbers import Real

from rdkit import Chem

from ogg_hpc.actors.environments.molecules.filters import make_filters
from ogg_hpc.actors.environments.molecules.rewards import Score, make_reward
from ogg_hpc.actors.environments.molecules.settings import MoleculeSettings
from ogg_hpc.actors.environments.molecules.starts import Start
from ogg_hpc.errors import SettingsError

MEMORY = 10_000  # molecules whose scores are remembered


class Oracle:
    """Scores molecules, each only once as long as it remembers it.

    Attributes
    ----------
    calls : int
        How often the reward was worked out: the cost by which methods are compared.
    molecules, distinct : int
        Molecules that it was asked about, and those of them that it did not remember.
    """

    def __init__(self, settings: MoleculeSettings) -> None:
        self.calls = 0
        self.molecules = 0
        self.distinct = 0
        self._settings = settings
        self._filters = make_filters(settings.filters)
        self._reward = make_reward(settings)
        self._known: OrderedDict[tuple[str, str], Score] = OrderedDict()

    def score(self, molecule: Chem.Mol, smiles: str, start: Start) -> Score:
        """Return what a molecule is worth.

        Parameters
        ----------
        molecule, smiles
            The molecule, and its canonical SMILES.
        start
            What its episode started from.

        Raises
        ------
        SettingsError
            A reward of the user's own that returns no score, or one that is not finite.
        """
        self.molecules += 1
        key = start.smiles, smiles
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        self.distinct += 1
        if len(self._known) == MEMORY:
            self._known.popitem(last=False)
        self._known[key] = self._work_out(molecule, smiles, start)
        return self._known[key]

    def _work_out(self, molecule: Chem.Mol, smiles: str, start: Start) -> Score:
        for name, refuses in self._filters.items():
            if refuses(molecule):
                return Score(self._settings.refused_reward, {}, refused_by=name)
        self.calls += 1
        score = self._reward.score(molecule, start.molecule)
        if not isinstance(score, Score) or not _is_finite(score.value, *score.parts.values()):
            raise SettingsError(
                f"{self._settings.reward} must return a Score of finite numbers; for {smiles} it "
                f"returned {score!r}"
            )
        # NumPy's numbers are no JSON.
        return Score(float(score.value), {name: float(part) for name, part in score.parts.items()})


def _is_finite(*numbers: object) -> bool:
    return all(isinstance(number, Real) and math.isfinite(number) for number in numbers)
