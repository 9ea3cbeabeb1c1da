"""Damage: chunks that cannot be read, or whose checksum says that they have changed."""

from __future__ import annotations

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.partition import RowPartition
from ogg_hpc.graphs.store_file import StoreFile, bad_chunks, chunk_message
from ogg_hpc.runtime.communicator import Communicator


def damage_faults(comm: Communicator, file: StoreFile) -> list[str]:
    """Read every chunk of every dataset once, shared by the ranks (collective)."""
    found: dict[tuple[int, int], str] = {}
    tasks = []  # (number of the dataset, its name, number of its chunks)
    for number, name in enumerate(file.types):
        try:
            dataset = file.dataset(name)
            tasks.append((number, name, -(-len(dataset) // dataset.chunks[0])))
        except (InputError, RuntimeError, AttributeError, TypeError):
            found[number, -1] = f"dataset {name!r} is missing or damaged"
    begin, end = RowPartition.by_rows(sum(count for *_, count in tasks), comm.size).range(comm.rank)
    for number, name, count in tasks:
        dataset = file.dataset(name)
        lo, hi = max(0, begin), min(count, end)
        if lo < hi:
            size = dataset.chunks[0]
            for chunk in bad_chunks(dataset, lo * size, min(hi * size, len(dataset))):
                found[number, chunk] = chunk_message(name, dataset, chunk)
        begin, end = begin - count, end - count
    faults: dict[tuple[int, int], str] = {}
    for part in comm.gather_objects(found):
        faults |= part
    return [faults[key] for key in sorted(faults)]
