"""Which ranks learn and which act for whom, node by node."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ogg_hpc.actors.settings import RolesSettings
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.device import visible_gpus

Kind = Literal["learner", "actor", "idle"]


@dataclass(frozen=True)
class Role:
    """What a rank is for.

    Attributes
    ----------
    kind
        ``learner``, ``actor``, or ``idle`` where there are more ranks than the settings ask for.
    learner
        Number of a learner among all learners: of this rank, or of the one that it acts for; -1
        for an idle rank, as all that follows.
    rank
        That learner's rank.
    place
        That learner's number among those of its node. The first one leads the node, and each
        takes the GPU of its number.
    actors
        The ranks that act for that learner.
    """

    kind: Kind = "idle"
    learner: int = -1
    rank: int = -1
    place: int = -1
    actors: tuple[int, ...] = ()

    @property
    def leads_node(self) -> bool:
        """Whether this is the first learner of its node."""
        return self.kind == "learner" and self.place == 0


def take_role(comm: Communicator, settings: RolesSettings, device: str) -> Role:
    """Return what this rank is for (collective).

    Only the first rank of a node asks for GPUs, so that those that act load no library for them.

    Parameters
    ----------
    comm
        All ranks.
    settings
        How many ranks learn and act.
    device
        ``auto``, ``cpu`` or ``cuda``: what learners are to compute on.
    """
    node = comm.node()
    first = node.broadcast_object(comm.rank)
    gpus = visible_gpus() if node.rank == 0 and device != "cpu" else 0
    ranks = comm.gather_objects((first, gpus))
    node.free()
    return assign_roles([first for first, _ in ranks], [gpus for _, gpus in ranks], settings)[
        comm.rank
    ]


@dataclass
class _Learner:
    rank: int
    place: int
    actors: list[int] = field(default_factory=list)


def assign_roles(nodes: Sequence[int], gpus: Sequence[int], settings: RolesSettings) -> list[Role]:
    """Return what each rank is for.

    Learners are the first ranks of their nodes, and other ranks of a node act for the learners of
    that node. Where some nodes have GPUs, the others have no learners: their ranks act for those
    that have the fewest actors.

    Parameters
    ----------
    nodes
        The node of each rank, by any number of its own.
    gpus
        How many GPUs each rank has found on its node, 0 where it has not looked.
    settings
        How many ranks learn and act.
    """
    members: dict[int, list[int]] = {}
    for rank, node in enumerate(nodes):
        members.setdefault(node, []).append(rank)
    found = {node: max(gpus[rank] for rank in ranks) for node, ranks in members.items()}
    most = settings.actors_per_learner or len(nodes)
    learners: list[_Learner] = []
    spare: list[int] = []
    for node, ranks in members.items():
        number = min(_learners_wanted(found, node, settings), len(ranks))
        here = [_Learner(rank, place) for place, rank in enumerate(ranks[:number])]
        others = ranks[number:]
        near = min(len(others), most * number)
        for place, learner in enumerate(here):
            learner.actors += others[near * place // number : near * (place + 1) // number]
        spare += others[near:]
        learners += here
    for rank in spare:
        fewest = min(learners, key=lambda learner: len(learner.actors))
        if len(fewest.actors) < most:
            fewest.actors.append(rank)
    return _roles(len(nodes), learners)


def _learners_wanted(gpus: dict[int, int], node: int, settings: RolesSettings) -> int:
    if not settings.local:
        return sys.maxsize
    if not any(gpus.values()):
        return settings.learners_per_node or 1
    return settings.learners_per_node or gpus[node] if gpus[node] else 0


def _roles(ranks: int, learners: list[_Learner]) -> list[Role]:
    roles = [Role()] * ranks
    for number, learner in enumerate(learners):
        about = number, learner.rank, learner.place, tuple(sorted(learner.actors))
        roles[learner.rank] = Role("learner", *about)
        for rank in learner.actors:
            roles[rank] = Role("actor", *about)
    return roles
