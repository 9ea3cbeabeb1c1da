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
        that holds counts. Below all rows it is one.
    """

    name: str
    table: tuple[tuple[float, int], ...] = ()

    @property
    def most(self) -> int:
        """The largest number of nodes a step."""
        return max((nodes for _, nodes in self.table), default=1)

    def at_most(self, n: int) -> Schedule:
        """Return the schedule for graphs of n nodes: buffers need room for no more."""
        most = max(n, 1)
        return Schedule(self.name, tuple((above, min(nodes, most)) for above, nodes in self.table))

    def nodes(self, candidates: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of nodes to choose, given candidates left and N, elementwise."""
        result = np.ones_like(candidates)
        for above, nodes in reversed(self.table):
            result = np.where(candidates > above * sizes, nodes, result)
        return result


ONE = Schedule("one")
ADAPTIVE = Schedule("adaptive", ((1 / 2, 8), (1 / 4, 4), (1 / 8, 2)))
SCHEDULES = {schedule.name: schedule for schedule in (ONE, ADAPTIVE)}


def load_schedule(spec: str) -> Schedule:
    """Return a schedule by name, or from a TOML file.

    The file has one table a row, in falling order of ``above``::

        [[step]]
        above = 0.5   # while more than half of the nodes are candidates
        nodes = 8     # choose eight a step

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
            case {"above": float() | int() as above, "nodes": int() as nodes} if len(
                row
            ) == 2 and bool not in (type(above), type(nodes)):
                table.append((float(above), nodes))
            case _:
                raise InputError(path, f"[[step]] needs numbers `above` and `nodes`, not {row}")
    shares = [above for above, _ in table]
    if shares != sorted(set(shares), reverse=True) or not all(0 <= share < 1 for share in shares):
        raise InputError(path, "`above` must fall from row to row and lie in [0, 1)")
    if not all(1 <= nodes <= _MOST_NODES for _, nodes in table):
        raise InputError(path, f"`nodes` must lie in [1, {_MOST_NODES}]")
    return Schedule(str(path), tuple(table))
