"""How many nodes a search step may choose at once."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError

# Each rank sends so many pairs a step.
_MOST_NODES = 2**20


@dataclass(frozen=True)
class Schedule:
    """Nodes per step as a table over the share of the nodes that are still candidates.

    Attributes
    ----------
    name : str
        For records.
    table : tuple of (above, nodes)
        While more than ``above * N`` candidates remain, choose `nodes` a step; the first row
        that holds counts. Below all rows it is one. Nodes below 1 are a share of N, rounded down
        to no less than one node.
    """

    name: str
    table: tuple[tuple[float, float], ...] = ()

    def resolved(self, n: int) -> Schedule:
        """Return the schedule for graphs of up to n nodes, whose rows choose whole numbers.

        No row chooses more than n, so that buffers need room for no more.
        """
        most = max(n, 1)
        rows = ((above, _whole(nodes, most)) for above, nodes in self.table)
        return Schedule(self.name, tuple((above, min(nodes, most)) for above, nodes in rows))

    def most(self, n: int) -> int:
        """Return the largest number of nodes a step, on graphs of up to n nodes."""
        return max((int(nodes) for _, nodes in self.resolved(n).table), default=1)

    def nodes(self, candidates: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of nodes to choose, given candidates left and N, elementwise."""
        result = np.ones_like(candidates)
        for above, nodes in reversed(self.table):
            result = np.where(candidates > above * sizes, _whole(nodes, sizes), result)
        return result


def _whole(nodes: float, n: Any) -> Any:
    """Return nodes a step on a graph of n nodes, elementwise."""
    return np.maximum(np.int64(nodes * n), 1) if nodes < 1 else int(nodes)


ONE = Schedule("one")
# By shares of N, a graph of any size takes about a thousand steps more than its last sixteenth.
# On the Facebook graphs that costs two-message covers 0.02 %, where the paper's costs 0.06 %.
ADAPTIVE = Schedule(
    "adaptive", tuple((above, above / 500) for above in (1 / 2, 1 / 4, 1 / 8, 1 / 16))
)
# As the paper's section 4.5 is remembered: the text at hand lacks its numbers.
PAPER = Schedule("paper", ((1 / 2, 8), (1 / 4, 4), (1 / 8, 2)))
SCHEDULES = {schedule.name: schedule for schedule in (ONE, ADAPTIVE, PAPER)}


def load_schedule(spec: str) -> Schedule:
    """Return a schedule by name, or from a TOML file.

    The file has one table a row, in falling order of ``above``::

        [[step]]
        above = 0.5   # while more than half of the nodes are candidates
        nodes = 8     # choose eight a step, or below 1 a share of all nodes

    Raises
    ------
    InputError
        The file is missing or its content does not fit.
    """
    if spec in SCHEDULES:
        return SCHEDULES[spec]
    path = Path(spec)
    try:
        document: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        names = ", ".join(SCHEDULES)
        raise InputError(
            path, f"cannot read a selection schedule ({error.strerror}); use {names} or a file"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(path, f"not TOML: {error}") from None
    table = []
    rows = document.get("step")
    if set(document) != {"step"} or not isinstance(rows, list):
        raise InputError(path, "a schedule consists of [[step]] tables with `above` and `nodes`")
    for row in rows:
        match row:
            case {"above": float() | int() as above, "nodes": float() | int() as nodes} if (
                len(row) == 2
                and bool not in (type(above), type(nodes))
                and (isinstance(nodes, int) or nodes < 1)
            ):
                table.append((float(above), nodes))
            case _:
                raise InputError(
                    path,
                    "[[step]] needs numbers `above` and `nodes`, the second whole or a share "
                    f"below 1, not {row}",
                )
    shares = [above for above, _ in table]
    if shares != sorted(set(shares), reverse=True) or not all(0 <= share < 1 for share in shares):
        raise InputError(path, "`above` must fall from row to row and lie in [0, 1)")
    if not all(0 < nodes <= _MOST_NODES for _, nodes in table):
        raise InputError(path, f"`nodes` must lie in (0, {_MOST_NODES}]")
    return Schedule(str(path), tuple(table))
