"""What a file of graphs looks like in HDF5: its datasets, attributes, versions and checksums.

A file holds flat arrays with offsets, whatever the number of graphs. With G graphs of N nodes
and nnz stored entries in all:

===============================  =======  =======================================================
dataset                          length   content
===============================  =======  =======================================================
``graph_nodes``                  G + 1    graph g owns nodes ``graph_nodes[g]:graph_nodes[g + 1]``
``graph_entries``                G + 1    and entries ``graph_entries[g]:graph_entries[g + 1]``
``row_offsets``                  N + 1    row r is ``columns[row_offsets[r]:row_offsets[r + 1]]``
``columns``                      nnz      neighbour ids within the graph, int32 where they fit
``weights``                      nnz      float64, only in weighted stores
``node_weights``                 N        float64, only in stores with weights of nodes
``labels``                       N        int64, only in stores with integer labels
``label_offsets``                N + 1    only in stores with text labels: label r is the UTF-8 of
``label_bytes``                  bytes    ``label_bytes[label_offsets[r]:label_offsets[r + 1]]``
``looped_offsets``               G + 1    graph g had self loops at the nodes
``looped``                       loops    ``looped[looped_offsets[g]:looped_offsets[g + 1]]``
``self_loops``                   G        entries dropped as self loops
``duplicates``                   G        entries merged as repeated edges
``reversed_pairs``               G        edges given in both directions, since version 2
``objectives/PROBLEM``           G        float64, only where known: best objective, NaN unknown
``objectives/PROBLEM_proven``    G        bool, beside it: whether that objective is optimal
===============================  =======  =======================================================

Every chunk carries a checksum, and so does the metadata of the file (HDF5 1.10 layout).
Finished files never change, so that readers need no locks. Equal content gives equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.hdf5_attributes import write_attributes

FORMAT = "ogg-hpc-graphs"
VERSION = 2
READ_VERSIONS = (1, 2)
CHUNK_BYTES = 1 << 20
# The oldest layout of HDF5 whose metadata carries checksums.
LIBVER = ("v110", "v110")

_SCHEMA = "CSR: graph_nodes, graph_entries -> row_offsets -> columns [weights, labels]"

Attributes = Mapping[str, str | int | float | bool]


@dataclass(frozen=True)
class StoreKind:
    """What all graphs of a file have in common.

    Attributes
    ----------
    directed, weighted, node_weighted : bool
    label_kind : str
        ``none``, ``integer`` or ``text``.
    """

    directed: bool = False
    weighted: bool = False
    node_weighted: bool = False
    label_kind: str = "none"

    @staticmethod
    def of(graph: Graph) -> StoreKind:
        """Return the kind of file that a graph can be written to."""
        if graph.labels is None:
            labels = "none"
        else:
            labels = "integer" if np.issubdtype(graph.labels.dtype, np.integer) else "text"
        return StoreKind(
            graph.directed, graph.weights is not None, graph.node_weights is not None, labels
        )

    def __str__(self) -> str:
        return (
            f"{'directed' if self.directed else 'undirected'}, "
            f"{'weighted' if self.weighted else 'unweighted'}, "
            f"{'with' if self.node_weighted else 'without'} weights of nodes, "
            f"with {'no' if self.label_kind == 'none' else self.label_kind} labels"
        )


class StoreCounts(NamedTuple):
    """How much a file holds: graphs, and nodes and stored entries of all of them."""

    graphs: int
    nodes: int
    nnz: int


_RESERVED = (
    *("format", "version", "schema", "problems", "checksum"),
    *StoreCounts._fields,
    *StoreKind.__dataclass_fields__,
)


def dataset_types(
    kind: StoreKind,
    id_type: Any = np.int32,
    problems: Iterable[str] = (),
    version: int = VERSION,
) -> dict[str, Any]:
    """Return the dtype of each dataset that a file of this kind holds, by name.

    Parameters
    ----------
    kind
        The kind of graphs.
    id_type
        Dtype of `columns`: int64 where a graph has 2**31 nodes or more.
    problems
        Problems of which the file holds objectives.
    version
        Version of the format.
    """
    integers = ["graph_nodes", "graph_entries", "row_offsets", "looped_offsets", "looped"]
    integers += ["self_loops", "duplicates"]
    if version > 1:
        integers.append("reversed_pairs")
    types: dict[str, Any] = dict.fromkeys(integers, np.int64) | {"columns": id_type}
    if kind.weighted:
        types["weights"] = np.float64
    if kind.node_weighted:
        types["node_weights"] = np.float64
    if kind.label_kind == "integer":
        types["labels"] = np.int64
    if kind.label_kind == "text":
        types |= {"label_offsets": np.int64, "label_bytes": np.uint8}
    for problem in problems:
        value, proven = objective_datasets(problem)
        types |= {value: np.float64, proven: np.bool_}
    return types


def objective_datasets(problem: str) -> tuple[str, str]:
    """Return the names of the datasets of a problem's objectives and whether they are proven."""
    return f"objectives/{problem}", f"objectives/{problem}_proven"


def chunk_length(length: int, dtype: Any) -> int:
    """Return the entries of each chunk of a dataset: 1 MiB, or all in one where there are fewer."""
    whole: int = CHUNK_BYTES // np.dtype(dtype).itemsize
    return min(max(1, length), whole)


def create_dataset(
    file: h5py.File, name: str, dtype: Any, length: int, *, growing: bool = False
) -> h5py.Dataset:
    """Create a one-dimensional dataset in chunks with checksums; its entries are zeros.

    Parameters
    ----------
    file
        A file under way.
    name
        Of `dataset_types`.
    dtype
        Its dtype.
    length
        Number of entries; of a dataset that grows, those of the first write.
    growing
        Whether it will be resized.
    """
    return file.create_dataset(
        name,
        shape=(length,),
        # HDF5 wants no chunk longer than a dataset that does not grow.
        maxshape=(None,) if growing or length == 0 else None,
        dtype=dtype,
        chunks=(chunk_length(length, dtype),),
        shuffle=True,
        compression="gzip",
        compression_opts=1,
        fletcher32=True,
        track_times=False,
    )


def write_header(
    file: h5py.File,
    kind: StoreKind,
    counts: StoreCounts,
    attributes: Attributes,
    problems: Iterable[str] = (),
) -> None:
    """Write the attributes of a file of graphs, and their checksum.

    Parameters
    ----------
    file
        A file whose datasets are complete.
    kind, counts
        What it holds.
    attributes
        Provenance, as `checked_attributes` gives it.
    problems
        Problems of which it holds objectives.
    """
    header = {
        "format": FORMAT,
        "version": VERSION,
        "schema": _SCHEMA,
        **counts._asdict(),
        **vars(kind),
        "problems": ",".join(problems),
        **dict(sorted(attributes.items())),
    }
    write_attributes(file, header)


def checked_attributes(attributes: Attributes) -> dict[str, str | int | float | bool]:
    """Return provenance as plain Python values.

    Raises
    ------
    SettingsError
        A name that the format uses, or a value that is not a string, a number or a truth value.
    """
    plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in attributes.items()}
    for name, value in plain.items():
        if name in _RESERVED:
            raise SettingsError(f"the attribute name {name!r} is taken by the format")
        if not isinstance(value, str | int | float | bool):
            raise SettingsError(f"attribute {name!r} must be a string or a number, not {value!r}")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise SettingsError(f"attribute {name!r} must fit in 64 bits, {value} does not")
    return plain


def provenance_of(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `checked_attributes` gave, from all attributes of a file."""
    return {name: value for name, value in header.items() if name not in _RESERVED}


def refuse_other_version(path: Path, version: Any) -> None:
    """Raise an InputError unless this program reads the version of the format."""
    if version not in READ_VERSIONS:
        raise InputError(
            path,
            f"has format version {version}, this program reads versions "
            f"{' and '.join(map(str, READ_VERSIONS))}; a newer ogg-hpc may read it",
        )
