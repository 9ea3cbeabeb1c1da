"""What collecting has cost, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ogg_hpc.runtime.communicator import Communicator


@dataclass
class Measurement:
    """What one learner counts of its hosts, since the run was started or started again.

    Attributes
    ----------
    rounds, fragments, steps
        Rounds begun, fragments and steps taken in.
    staleness
        Fragments by how many versions their weights were behind.
    dropped
        Fragments and messages that were not taken in, by reason.
    sent, received
        Bytes by kind of message.
    joined, left
        Hosts that have come and gone.
    lost
        Slots whose process has ended or was frozen.
    cut
        Grants that were cut, because others had long fulfilled theirs.
    silent
        Grants that others had to fulfil, because nothing was heard.
    """

    rounds: int = 0
    fragments: int = 0
    steps: int = 0
    joined: int = 0
    left: int = 0
    lost: int = 0
    cut: int = 0
    silent: int = 0
    staleness: Counter[int] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)
    received: Counter[str] = field(default_factory=Counter)

    def take(self, steps: int, staleness: int) -> None:
        """Count a fragment that was taken in."""
        self.fragments += 1
        self.steps += steps
        self.staleness[staleness] += 1

    def over(self, learners: Communicator) -> dict[str, Any]:
        """Return the sums over all learners, for a record (collective).

        With ``bytes_per_step``, of all messages in both directions.
        """
        total: dict[str, Any] = {}
        for one in learners.gather_objects(dict(vars(self))):
            for name, value in one.items():
                total[name] = total[name] + value if name in total else value
        traffic = sum(total["sent"].values()) + sum(total["received"].values())
        per_step = traffic / total["steps"] if total["steps"] else None
        return {
            **{name: _plain(value) for name, value in total.items()},
            "bytes_per_step": per_step,
        }


def _plain(value: int | Mapping[Any, int]) -> int | dict[str, int]:
    if isinstance(value, int):
        return value
    return {str(key): number for key, number in sorted(value.items())}
