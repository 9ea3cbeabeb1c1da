"""What a strategy moves between the ranks, counted by kind, beside what its formula predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ogg_hpc.runtime.communicator import Communicator


@dataclass(frozen=True)
class Formula:
    """How many bytes the essential messages of a strategy should take.

    Attributes
    ----------
    paper
        The order that the literature gives for a batch of m distinct nodes and D columns.
    kinds
        What it speaks of. Each item of these kinds crosses ranks unless it happens to lie where it
        is wanted, so the prediction is their bytes times `remote_share`.
    remote_share
        Expected share of items that lie on another rank.
    """

    paper: str
    kinds: tuple[str, ...]
    remote_share: float


@dataclass
class Kind:
    """What this rank has wanted and sent of one kind.

    Attributes
    ----------
    count
        Items, wherever they lie.
    crossed
        Items that crossed ranks.
    item_bytes
        Bytes of an item.
    """

    item_bytes: int
    count: int = 0
    crossed: int = 0


class Traffic:
    """Counts of items by kind.

    Parameters
    ----------
    formula
        What is predicted.

    Attributes
    ----------
    kinds : dict of str to Kind
        What this rank has counted.
    served : int
        Rows that this rank has handed out to workers, itself included.
    computed : int
        Pairs that this rank has computed.
    """

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self.kinds: dict[str, Kind] = {}
        self.served = self.computed = 0

    def add(self, kind: str, item_bytes: int, count: int, crossed: int) -> None:
        """Count items of a kind, of which all have the same size."""
        entry = self.kinds.setdefault(kind, Kind(item_bytes))
        entry.count += count
        entry.crossed += crossed

    def report(self, comm: Communicator) -> dict[str, Any]:
        """Return the sums over all ranks as plain values for a record (collective).

        Returns
        -------
        dict
            ``kinds`` has the items, those that crossed ranks, and their bytes; ``formula`` the
            bytes counted for the kinds it speaks of, those predicted, and the ratio of the two,
            None where none are predicted; ``served`` the rows handed out by a rank that has any,
            and ``computed`` the pairs of a rank that has any: mean, maximum, and their ratio.
        """
        everyone = comm.gather_objects((self.kinds, self.served, self.computed))
        sums: dict[str, Kind] = {}
        for kinds, _, _ in everyone:
            for name, kind in kinds.items():
                total = sums.setdefault(name, Kind(kind.item_bytes))
                total.count += kind.count
                total.crossed += kind.crossed
        essential = [sums[name] for name in self.formula.kinds if name in sums]
        counted = sum(kind.item_bytes * kind.crossed for kind in essential)
        wanted = sum(kind.item_bytes * kind.count for kind in essential)
        predicted = wanted * self.formula.remote_share
        return {
            "kinds": {
                name: {
                    "count": kind.count,
                    "crossed": kind.crossed,
                    "bytes": kind.item_bytes * kind.crossed,
                }
                for name, kind in sums.items()
            },
            "formula": {
                "paper": self.formula.paper,
                "kinds": list(self.formula.kinds),
                "counted_bytes": counted,
                "predicted_bytes": round(predicted),
                "ratio": counted / predicted if predicted else None,
            },
            "served": _spread([rows for _, rows, _ in everyone]),
            "computed": _spread([pairs for _, _, pairs in everyone]),
        }


def _spread(counts: list[int]) -> dict[str, float]:
    """Return mean and maximum of the counts that are not 0, and the ratio of the two."""
    some = np.array([count for count in counts if count] or [0])
    mean, most = float(some.mean()), int(some.max())
    return {"mean": mean, "max": most, "imbalance": most / mean if most else 1.0}
