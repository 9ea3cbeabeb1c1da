"""Generated graphs on disk: one large graph by all ranks, or many, of which each makes some."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.building.build import Built, build_store
from ogg_hpc.graphs.building.edges import Edges
from ogg_hpc.graphs.families import Family
from ogg_hpc.graphs.generators import EDGES, RandomEdges
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import write_shards
from ogg_hpc.graphs.store_format import Attributes, checked_attributes
from ogg_hpc.graphs.store_output import write_store
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.files import check_writable
from ogg_hpc.runtime.parts import Parts
from ogg_hpc.runtime.progress import progress_bar
from ogg_hpc.runtime.signals import Came, refuse_after


@dataclass(frozen=True)
class Generated:
    """What has been generated.

    Attributes
    ----------
    edges : int
        Edges of all graphs.
    built : Built, optional
        What was dropped of a graph that all ranks have made together.
    seconds : dict of str to float
        By phase, on this rank.
    """

    edges: int
    built: Built | None
    seconds: dict[str, float]


def generate_file(
    comm: Communicator,
    family: Family,
    output: Path,
    attributes: Attributes,
    *,
    memory: int,
    came: Came,
) -> Generated:
    """Write the graphs of a family to one HDF5 file, whole or not at all (collective).

    One graph of a generator that makes `EDGES` is made by all ranks, none of which ever holds it;
    an interrupted call leaves finished parts beside the output, from which the same call goes on,
    on any number of ranks. Others are made one at a time by rank 0 alone. The file's bytes do not
    depend on the number of ranks or on memory.

    Parameters
    ----------
    comm
        All ranks.
    family
        The graphs.
    output
        The file; an existing one is replaced.
    attributes
        Provenance to be stored; it has to tell the graphs from any others.
    memory
        Bytes that each rank may use.
    came
        Tells which signal has come to this rank, after which all ranks stop.

    Raises
    ------
    SettingsError
        Parameters out of range, or too little memory.
    InputError
        The file cannot be written, or the disk is full.
    StoppedError
        A signal has come.
    """
    comm.on_all(lambda: checked_attributes(attributes))
    comm.on_root(lambda: check_writable(output))
    clock = Clock(comm, "generate", "write")
    if family.count > 1 or family.generator not in EDGES:
        with _graphs(comm, family, clock, came, at_once=1) as graphs, clock("write"):
            edges = comm.on_root(lambda: _write(output, graphs, attributes))
        return Generated(edges, None, clock.report())

    edges_in_blocks = comm.on_all(lambda: _edges_within(family, memory))
    lo, hi = (edges_in_blocks.n * rank // comm.size for rank in (comm.rank, comm.rank + 1))
    node_weights = comm.on_all(lambda: family.node_weights(0, lo, hi))
    parts = Parts.open(comm, output, {**attributes, "blocks": edges_in_blocks.count})
    with (
        clock("write"),
        parts.marked_when_stopped(comm),
        progress_bar(comm, "generating", 100) as update,
    ):

        def report(done: int, total: int) -> None:
            refuse_after(came())
            update(100 * done // total, "")

        built = build_store(
            comm,
            output,
            edges_in_blocks.n,
            _Timed(edges_in_blocks, clock),
            parts=parts,
            memory=memory - edges_in_blocks.held_bytes,
            node_weights=node_weights,
            attributes=attributes,
            report=report,
        )
    parts.remove(comm)
    return Generated(built.edges, built, clock.report())


def generate_folder(
    comm: Communicator,
    family: Family,
    output: Path,
    attributes: Attributes,
    *,
    graphs_per_shard: int,
    came: Came,
) -> Generated:
    """Write the graphs of a family to a folder of shards (collective).

    Each shard is made by one rank. After an interruption the same call makes the others. Parameters
    and errors are those of `generate_file` and `write_shards`.
    """
    clock = Clock(comm, "generate", "write")
    with _graphs(comm, family, clock, came, at_once=comm.size) as graphs, clock("write"):
        shards = write_shards(
            output, graphs, graphs_per_shard, attributes, comm=comm, plan=attributes
        )
    return Generated(sum(shard.nnz for shard in shards) // 2, None, clock.report())


def _edges_within(family: Family, memory: int) -> RandomEdges:
    edges = family.edges(0)
    if edges.working_bytes >= memory:
        raise SettingsError(
            f"each rank needs {-(-edges.working_bytes // 2**20):,} MiB to find out which edges "
            f"this graph has, and may use {memory // 2**20:,} MiB: raise --memory, or start fewer "
            "ranks on a node"
        )
    return edges


class _Timed:
    """Blocks of edges whose making is timed as a phase of its own."""

    def __init__(self, edges: RandomEdges, clock: Clock) -> None:
        self._edges, self._clock = edges, clock

    @property
    def count(self) -> int:
        return self._edges.count

    def read(self, block: int | None) -> Edges:
        with self._clock("generate"):
            return self._edges.read(block)


class _Graphs:
    """The graphs of a family, each made when it is asked for."""

    def __init__(self, family: Family, clock: Clock, made: Callable[[], None]) -> None:
        self._family, self._clock, self._made = family, clock, made

    def __len__(self) -> int:
        return self._family.count

    def __getitem__(self, index: int) -> Graph:
        with self._clock("generate"):
            graph = self._family.graph(index)
        self._made()
        return graph


@contextmanager
def _graphs(
    comm: Communicator, family: Family, clock: Clock, came: Came, at_once: int
) -> Iterator[_Graphs]:
    """Yield the graphs; a bar shows how many there are, if all of `at_once` ranks make as many."""
    done = 0
    with progress_bar(comm, "generating", family.count) as update:

        def made() -> None:
            nonlocal done
            refuse_after(came())
            done = min(done + at_once, family.count)
            update(done, f"{done} of {family.count}")

        yield _Graphs(family, clock, made)


def _write(output: Path, graphs: _Graphs, attributes: Attributes) -> int:
    """Write all graphs to one file; return the number of their edges."""
    edges = 0

    def counted() -> Iterator[Graph]:
        nonlocal edges
        for index in range(len(graphs)):
            graph = graphs[index]
            edges += graph.m
            yield graph

    write_store(output, counted(), attributes)
    return edges
