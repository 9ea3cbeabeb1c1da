"""The parameters of a policy at one version, as they travel to those who act by it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ogg_hpc.actors.message import MalformedMessageError, Message


@dataclass(frozen=True, eq=False)
class Weights:
    """Parameters by name, and what observations are normalised with under ``normaliser/``.

    Parameters
    ----------
    run
        Id of the run: versions of another run say nothing about these.
    version
        How often the parameters have been updated in the run.
    arrays
        Arrays by name.
    """

    run: str
    version: int
    arrays: Mapping[str, NDArray[Any]]

    @classmethod
    def of(cls, message: Message) -> Weights:
        """Return the weights of a message.

        Raises
        ------
        MalformedMessageError
            It holds none, or others than those that were sent.
        """
        weights = cls(message.text("run"), message.integer("version"), message.arrays)
        if message.text("sha256") != weights._sha256():
            raise MalformedMessageError("weights: damaged on their way: the checksum is another")
        return weights

    def message(self) -> Message:
        """Return the message that takes them to hosts."""
        fields = {"run": self.run, "version": self.version, "sha256": self._sha256()}
        return Message("weights", fields, self.arrays)

    def _sha256(self) -> str:
        digest = hashlib.sha256()
        for name, array in sorted(self.arrays.items()):
            digest.update(f"{name}\n{array.dtype.str}{list(array.shape)}\n".encode())
            digest.update(array.tobytes())
        return digest.hexdigest()
