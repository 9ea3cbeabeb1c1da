"""What is wrong with a store: one message for each kind of fault that a graph has."""

from __future__ import annotations

from enum import IntEnum

from ogg_hpc.runtime.communicator import Communicator


class Fault(IntEnum):
    """Kinds of faults of a graph, in the order in which they are told."""

    OUTSIDE = 0
    LOOP = 1
    UNSORTED = 2
    REPEATED = 3
    WEIGHT = 4
    NODE_WEIGHT = 5
    NOT_UTF8 = 6
    LABEL = 7
    LOOPED = 8
    REVERSE = 9
    OBJECTIVE = 10


# The first fault of each kind, by (graph, kind).
Faults = dict[tuple[int, Fault], str]


def merged(comm: Communicator, mine: Faults) -> Faults:
    """Return the faults that all ranks have found; the lowest rank holds the first (collective)."""
    faults: Faults = {}
    for part in comm.gather_objects(mine):
        faults = part | faults
    return faults
