"""The environment: an agent adds atoms and bonds until it stops, and gets the molecule's worth."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.environments.molecules import spaces
from ogg_hpc.actors.environments.molecules.chemistry import molecule_of, smiles_of
from ogg_hpc.actors.environments.molecules.oracle import Oracle
from ogg_hpc.actors.environments.molecules.settings import MoleculeSettings
from ogg_hpc.actors.environments.molecules.starts import load_starts
from ogg_hpc.settings import build

Observation = dict[str, Any]


class MoleculeEnvironment(gymnasium.Env[Observation, NDArray[np.integer[Any]]]):
    """Molecules built bond by bond (GCPN, You et al. 2018), every one of them valid.

    See `spaces` for observations and actions. An episode is *terminated* by the agent that stops:
    it gets the worth of the molecule. It is *truncated* after `max_steps`: the molecule is not
    finished then, its worth is not asked for, and what the agent could still get is for the
    learner to estimate. An agent that keeps to the masks is never truncated, as long as
    `max_steps` is above the most bonds, ``max_atoms - 1 + max_rings``.

    The last ``info`` of an episode has ``episode``:

    ``smiles``, ``start``
        The molecule and what it started from, as canonical SMILES without stereochemistry.
    ``atoms``, ``rings``
        Heavy atoms and independent rings.
    ``stopped``
        Whether the agent stopped, so that the molecule is finished.
    ``score``, ``parts``
        Its worth and what that is made of; None and empty for one that is not finished.
    ``refused_by``
        The filter that refused it; empty without one.
    ``invalid``
        Actions of the episode that were not allowed.
    ``oracle_calls``, ``molecules``, ``distinct``
        Since the environment was made: how often the worth was worked out, finished molecules,
        and those of them that were not among its last 10,000.

    Parameters
    ----------
    **options
        As `MoleculeSettings` has them.

    Raises
    ------
    OggError
        Options that do not fit, or a file of starts that is wrong.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as gymnasium declares it

    def __init__(self, **options: Any) -> None:
        self.settings = build(MoleculeSettings, options)
        atoms, kinds = self.settings.max_atoms, len(self.settings.kinds)
        self.observation_space = spaces.observation_space(atoms, kinds, self.settings.max_bonds)
        self.action_space = spaces.action_space(atoms, kinds)
        self._starts = load_starts(self.settings)
        self._oracle = Oracle(self.settings)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin with a start, drawn where there are several. No `options` are known."""
        super().reset(seed=seed)
        self._start = self._starts[int(self.np_random.integers(len(self._starts)))]
        self._graph = self._start.graph.copy()
        self._steps = self._invalid = 0
        return self._observe(), {}

    def step(
        self, action: NDArray[np.integer[Any]]
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Add a bond, or stop; see `spaces` for what an action means."""
        first, second, order, stop = (int(part) for part in action)
        self._steps += 1
        terminated = bool(stop and self._may_stop)
        reward = 0.0
        if not stop and self._orders[first, second] > order:
            self._graph.add_bond(first, second, order + 1)
            reward = self.settings.step_reward
        elif not terminated:
            self._invalid += 1
            reward = -self.settings.invalid_penalty
        truncated = not terminated and self._steps >= self.settings.max_steps
        info: dict[str, Any] = {}
        if terminated or truncated:
            info["episode"] = self._finish(terminated)
        if terminated:
            reward = info["episode"]["score"]
        return self._observe(), reward, terminated, truncated, info

    def _observe(self) -> Observation:
        graph = self._graph
        self._orders = graph.largest_orders()
        may_go_on = bool(self._orders.any())
        self._may_stop = graph.count >= self.settings.min_atoms or not may_go_on
        return {
            "atoms": graph.atoms.copy(),
            "bonds": graph.bonds.copy(),
            "free_valence": graph.free_valence.copy(),
            "action_mask": spaces.pack_orders(self._orders),
            "stop_mask": np.array([may_go_on, self._may_stop], np.int8),
        }

    def _finish(self, stopped: bool) -> dict[str, Any]:
        molecule = molecule_of(self._graph)
        smiles = smiles_of(molecule)
        score = self._oracle.score(molecule, smiles, self._start) if stopped else None
        return {
            "smiles": smiles,
            "start": self._start.smiles,
            "atoms": self._graph.count,
            "rings": self._graph.rings,
            "stopped": stopped,
            "score": score.value if score else None,
            "parts": dict(score.parts) if score else {},
            "refused_by": score.refused_by if score else "",
            "invalid": self._invalid,
            "oracle_calls": self._oracle.calls,
            "molecules": self._oracle.molecules,
            "distinct": self._oracle.distinct,
        }
