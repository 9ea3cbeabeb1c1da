"""What every network is: a policy and a value function, in NumPy to act and in torch to learn.

Whoever acts imports no torch. The two forms share the names and the meaning of their parameters,
and agree to 1e-5 on log-probabilities and values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.schema import Schema

if TYPE_CHECKING:
    from ogg_hpc.actors.networks.trainable import TrainableNetwork

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Acted:
    """What a policy did in E environments.

    Attributes
    ----------
    actions
        (E, ...) array of each leaf of the action space, as the policy drew it: a real number is
        not clipped to its bounds.
    log_probability
        (E,) float32 logarithms of the actions' probabilities, or densities of real numbers.
    value
        (E,) float32 values of the states that were acted in.
    """

    actions: Arrays
    log_probability: NDArray[np.float32]
    value: NDArray[np.float32]


class Network(ABC):
    """A policy and a value function of observations, evaluated by NumPy in float32.

    A subclass sets `settings_type` to a dataclass of its settings and takes an instance of it.
    Observations are (E, ...) arrays by the leaves of the schema, normalised by the caller where
    the run does so.

    Parameters
    ----------
    schema
        What is observed and done.
    settings
        An instance of `settings_type`.

    Raises
    ------
    SettingsError
        A schema or settings that the network cannot serve.
    """

    name: ClassVar[str]
    settings_type: ClassVar[type[Any]]

    def __init__(self, schema: Schema, settings: Any) -> None:
        self.schema, self.settings = schema, settings

    @abstractmethod
    def initial(self, seed: int) -> dict[str, NDArray[np.float32]]:
        """Return fresh parameters, a function of the seed alone."""

    @abstractmethod
    def load(self, arrays: Arrays) -> None:
        """Take over parameters, by the names that `initial` gives; others are ignored."""

    @abstractmethod
    def act(self, observations: Arrays, keys: NDArray[np.uint64]) -> Acted:
        """Draw actions.

        Parameters
        ----------
        observations
            (E, ...) arrays.
        keys
            (E,) hashes; each action is a function of its key and its observation, whatever is
            acted beside it.
        """

    @abstractmethod
    def greedy(self, observations: Arrays) -> Arrays:
        """Return the (E, ...) most probable actions, ties to the lowest number."""

    @abstractmethod
    def value(self, observations: Arrays) -> NDArray[np.float32]:
        """Return the (E,) values of states."""

    @abstractmethod
    def trainable(self) -> TrainableNetwork:
        """Return the torch form, with parameters that are yet to be loaded; imports torch."""

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values for a parameter file."""
        return asdict(self.settings)
