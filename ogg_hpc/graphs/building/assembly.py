"""One HDF5 file from pieces that all ranks have compressed.

The slabs of a dataset are whole chunks, which a rank passes through the filters of HDF5 in memory
and keeps as a part. Rank 0 copies them as they are into the file. Where the slabs begin and in
which order they are copied depends on the datasets alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.building.columns import Column, all_slabs, slab_length
from ogg_hpc.graphs.hdf5_output import hdf5_output
from ogg_hpc.graphs.store_format import (
    LIBVER,
    Attributes,
    StoreCounts,
    StoreKind,
    chunk_length,
    create_dataset,
    write_header,
)
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.files import write_whole
from ogg_hpc.runtime.parts import Parts


def _slab_name(dataset: str, slab: int) -> str:
    return f"chunks-{dataset}-{slab:06}"


def compress_columns(
    comm: Communicator,
    columns: Mapping[str, Column],
    parts: Parts,
    report: Callable[[float], None],
) -> None:
    """Compress the slabs of all datasets that no job has finished yet (collective).

    Parameters
    ----------
    comm
        All ranks.
    columns
        The datasets, by name.
    parts
        Where the slabs are kept.
    report
        Told which share of this rank's slabs is done; may raise an OggError, then for all ranks.

    Raises
    ------
    InputError
        A range is damaged, or the disk is full.
    """

    def compress() -> None:
        slabs = _share(comm, columns)
        for done, (name, slab) in enumerate(slabs):
            if not parts.has(_slab_name(name, slab)):
                column = columns[name]
                start = slab * slab_length(column)
                values = column.read(start, min(start + slab_length(column), column.length))
                chunk = chunk_length(column.length, column.dtype)
                parts.write(_slab_name(name, slab), **_compressed(values, column.dtype, chunk))
            report((done + 1) / len(slabs))

    comm.on_all(compress)


def _share(comm: Communicator, columns: Mapping[str, Column]) -> list[tuple[str, int]]:
    """Return the slabs that this rank compresses, as names of datasets and numbers."""
    anywhere = [(n, s) for n, c in columns.items() if c.slabs is None for s in all_slabs(c)]
    here = [(n, s) for n, c in columns.items() if c.slabs is not None for s in c.slabs]
    return anywhere[comm.rank :: comm.size] + here


def _compressed(values: NDArray[Any], dtype: np.dtype[Any], chunk: int) -> dict[str, NDArray[Any]]:
    """Return the chunks of a slab as HDF5 stores them, with their sizes and filter masks."""
    count = -(-len(values) // chunk)
    # In memory; the name is not used.
    with h5py.File("slab", "w", driver="core", backing_store=False, libver=LIBVER) as file:
        dataset = create_dataset(file, "slab", dtype, count * chunk)
        dataset[: len(values)] = values
        file.flush()  # chunks pass the filters when they leave the cache
        stored = [dataset.id.read_direct_chunk((i * chunk,)) for i in range(count)]
    return {
        "bytes": np.frombuffer(b"".join(data for _, data in stored), np.uint8),
        "sizes": np.array([len(data) for _, data in stored], dtype=np.int64),
        "masks": np.array([mask for mask, _ in stored], dtype=np.uint32),
    }


def assemble(
    output: Path,
    kind: StoreKind,
    counts: StoreCounts,
    columns: Mapping[str, Column],
    small: Mapping[str, NDArray[Any]],
    parts: Parts,
    attributes: Attributes,
) -> None:
    """Write the file from the finished slabs of all datasets, whole or not at all.

    Parameters
    ----------
    output
        The file; an existing one is replaced.
    kind, counts, attributes
        As for `write_header`.
    columns
        The datasets that were compressed, by name.
    small
        The other datasets, by name.
    parts
        Where the slabs are.

    Raises
    ------
    InputError
        A slab is damaged, the disk is full, or the file cannot be written.
    """
    with (
        write_whole(output) as temporary,
        hdf5_output(temporary, libver=LIBVER) as (file, check),
    ):
        for name, values in small.items():
            create_dataset(file, name, values.dtype, len(values))[:] = values
        for name, column in columns.items():
            dataset = create_dataset(file, name, column.dtype, column.length)
            for slab in all_slabs(column):
                start = slab * slab_length(column)
                _copy_slab(dataset, start, parts.read(_slab_name(name, slab)))
                check()
        write_header(file, kind, counts, attributes)


def _copy_slab(dataset: h5py.Dataset, place: int, content: Mapping[str, NDArray[Any]]) -> None:
    ends = np.cumsum(content["sizes"]).tolist()
    starts = [0, *ends[:-1]]
    for start, end, mask in zip(starts, ends, content["masks"].tolist(), strict=True):
        dataset.id.write_direct_chunk((place,), content["bytes"][start:end], mask)
        place += dataset.chunks[0]
