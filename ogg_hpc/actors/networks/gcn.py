"""The graph convolutional policy of molecules, in NumPy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.networks import gcn_forward
from ogg_hpc.actors.networks.gcn_forward import HEADS, Choose, Molecules, shapes
from ogg_hpc.actors.networks.network import Acted, Arrays, Network
from ogg_hpc.actors.schema import PLAIN, Schema
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.random import stream, uniform
from ogg_hpc.settings import misfit, setting

if TYPE_CHECKING:
    from ogg_hpc.actors.networks.gcn_torch import TrainableGCN

_OBSERVED = {"atoms", "bonds", "free_valence", "action_mask", "stop_mask"}
_GOES_ON = 3.0  # logit of going on against stopping, at first


@dataclass(frozen=True)
class GCNSettings:
    """Settings of `GCN`."""

    width: int = setting(64, "width of the layers")
    layers: int = setting(3, "graph convolutions, each of which looks one bond further")

    def __post_init__(self) -> None:
        for name in ("width", "layers"):
            if getattr(self, name) < 1:
                raise misfit(name, f"{name} must be at least 1")


class GCN(Network):
    """Graph convolutions over a molecule and staged choices; see `gcn_forward`.

    Parameters
    ----------
    schema
        That of the environment `molecules`.
    settings
        Width, layers.

    Raises
    ------
    SettingsError
        The schema is that of another environment.
    """

    name = "gcn"
    settings_type = GCNSettings
    settings: GCNSettings

    def __init__(self, schema: Schema, settings: GCNSettings) -> None:
        super().__init__(schema, settings)
        observed = {leaf.name: leaf for leaf in schema.observations}
        actions = schema.actions[0]
        if set(observed) != _OBSERVED or actions.name != PLAIN or len(actions.n) != len(HEADS):
            raise SettingsError("the network gcn reads molecules; use it with that environment")
        self.atoms, ends, orders, _ = actions.n
        valence = observed["free_valence"].bounds()[1].max()
        self.shapes = shapes(
            settings.width, settings.layers, ends - self.atoms, int(valence), orders
        )
        self._parameters: Arrays = {}

    def initial(self, seed: int) -> dict[str, NDArray[np.float32]]:
        """See `Network.initial`."""
        arrays = {}
        for name, shape in self.shapes.items():
            table = name.startswith("atom.") or name.endswith(".distance")
            gain = 0.5 if table else _gain(name) / math.sqrt(shape[0])
            items = np.arange(math.prod(shape))
            drawn = 2 * uniform(seed, stream(f"parameter {name}"), items) - 1
            arrays[name] = (math.sqrt(3) * gain * drawn).reshape(shape).astype(np.float32)
        arrays["stop.shift"] += np.array([_GOES_ON, 0], np.float32)
        return arrays

    def load(self, arrays: Arrays) -> None:
        """See `Network.load`."""
        self._parameters = {name: arrays[name] for name in self.shapes}

    def act(self, observations: Arrays, keys: NDArray[np.uint64]) -> Acted:
        """See `Network.act`."""
        logs = []

        def draw(head: int, log_probabilities: NDArray[np.float32]) -> NDArray[np.int64]:
            below = np.cumsum(np.exp(log_probabilities), axis=-1, dtype=np.float64)
            # The last bound is 1 exactly, and so is that of what precedes choices that may not be.
            below /= below[:, -1:]
            choice: NDArray[np.int64] = (below <= uniform(0, keys, head)[:, None]).sum(-1)
            logs.append(np.take_along_axis(log_probabilities, choice[:, None], 1)[:, 0])
            return choice

        molecules = self._encode(observations)
        choices = self._choices(molecules, draw)
        log_probability = logs[0] + np.where(choices[:, 3] == 1, 0, sum(logs[1:]))
        value = gcn_forward.value(self._parameters, molecules)
        return Acted({PLAIN: choices}, log_probability, value)

    def greedy(self, observations: Arrays) -> Arrays:
        """Return the (E, 4) actions of the most probable choice at each stage."""
        choices = self._choices(self._encode(observations), lambda _, logs: logs.argmax(-1))
        return {PLAIN: choices}

    def value(self, observations: Arrays) -> NDArray[np.float32]:
        """See `Network.value`."""
        found: NDArray[np.float32] = gcn_forward.value(self._parameters, self._encode(observations))
        return found

    def trainable(self) -> TrainableGCN:
        """See `Network.trainable`."""
        from ogg_hpc.actors.networks.gcn_torch import TrainableGCN

        return TrainableGCN(self)

    def _encode(self, observations: Arrays) -> Molecules:
        return gcn_forward.encode(np, self._parameters, observations)

    def _choices(self, molecules: Molecules, choose: Choose) -> NDArray[np.int64]:
        """Return the (E, 4) actions as the environment takes them: 0, 0, 0, 1 to stop."""
        choices: list[NDArray[np.int64]] = []

        def kept(head: int, log_probabilities: Any) -> Any:
            choices.append(choose(head, log_probabilities))
            return choices[-1]

        gcn_forward.decide(np, self._parameters, molecules, kept)
        stop, first, second, order = choices
        largest = molecules.atoms.shape[1]
        second = np.where(second < largest, second, second - largest + self.atoms)
        bond = np.stack([first, second, order], 1)
        return np.concatenate([np.where(stop[:, None] == 1, 0, bond), stop[:, None]], 1)


def _gain(name: str) -> float:
    """Return how large the outputs of a matrix are at first, for inputs of size 1."""
    head, part = name.split(".")
    if part in ("bias", "shift"):
        return 0.0
    if part == "output" and head != "value":
        return 0.1  # all choices are about as probable
    return 0.7 if head.startswith("layer") else 1.0
