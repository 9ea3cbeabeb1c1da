"""Which ranks learn and which act for whom, node by node."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ogg_hpc.actors.settings import RolesSettings
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.device import visible_gpu_addresses

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

    The first rank of a node looks for GPUs, and only where it sees a single one the others do, too:
    the launcher may have given each its own. So those that act mostly load no library for that.

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
    gpus = visible_gpu_addresses() if node.rank == 0 and device != "cpu" else []
    if node.broadcast_object(len(gpus)) == 1 and node.rank != 0:
        gpus = visible_gpu_addresses()
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


def assign_roles(
    nodes: Sequence[int], gpus: Sequence[Sequence[str]], settings: RolesSettings
) -> list[Role]:
    """Return what each rank is for.

    Learners are the first ranks of their nodes, of those first that see a GPU which none before
    them has taken. Other ranks of a node act for the learners of that node. Where some nodes have
    GPUs, the others have no learners: their ranks act for those that have the fewest actors.

    Parameters
    ----------
    nodes
        The node of each rank, by any number of its own.
    gpus
        The GPUs that each rank sees, by names that are those of one GPU within a node; none where
        it has not looked.
    settings
        How many ranks learn and act.
    """
    members: dict[int, list[int]] = {}
    for rank, node in enumerate(nodes):
        members.setdefault(node, []).append(rank)
    own = {node: _with_a_gpu_of_their_own(ranks, gpus) for node, ranks in members.items()}
    any_gpu = any(own.values())
    most = settings.actors_per_learner or len(nodes)
    learners: list[_Learner] = []
    spare: list[int] = []
    for node, ranks in members.items():
        number = _learners_wanted(len(own[node]), any_gpu, settings)
        chosen = sorted(sorted(ranks, key=lambda rank: rank not in own[node])[:number])
        here = [_Learner(rank, place) for place, rank in enumerate(chosen)]
        others = [rank for rank in ranks if rank not in chosen]
        near = min(len(others), most * len(here))
        for place, learner in enumerate(here):
            learner.actors += others[near * place // len(here) : near * (place + 1) // len(here)]
        spare += others[near:]
        learners += here
    for rank in spare:
        fewest = min(learners, key=lambda learner: len(learner.actors))
        if len(fewest.actors) < most:
            fewest.actors.append(rank)
    return _roles(len(nodes), learners)


def _with_a_gpu_of_their_own(ranks: Sequence[int], gpus: Sequence[Sequence[str]]) -> list[int]:
    """Return the ranks of a node that get a GPU, as long as there are any."""
    chosen, taken = [], set[str]()
    for rank in ranks:
        free = [gpu for gpu in gpus[rank] if gpu not in taken]
        if free:
            chosen.append(rank)
            taken.add(free[0])
    return chosen


def _learners_wanted(gpus: int, any_gpu: bool, settings: RolesSettings) -> int:
    if not settings.local:
        return sys.maxsize
    if not any_gpu:
        return settings.learners_per_node or 1
    if not gpus:
        return 0
    return settings.learners_per_node or gpus


def _roles(ranks: int, learners: list[_Learner]) -> list[Role]:
    roles = [Role()] * ranks
    for number, learner in enumerate(learners):
        about = number, learner.rank, learner.place, tuple(sorted(learner.actors))
        roles[learner.rank] = Role("learner", *about)
        for rank in learner.actors:
            roles[rank] = Role("actor", *about)
    return roles
