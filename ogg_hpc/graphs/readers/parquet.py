"""Parquet tables of edges, one a row, read by PyArrow (the extra ``parquet``)."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError, MissingExtraError
from ogg_hpc.graphs.graph import Graph, Labels
from ogg_hpc.graphs.readers.build import build, integer_labels, number_integers, number_names
from ogg_hpc.graphs.readers.edgelist import COLUMN_NAMES
from ogg_hpc.graphs.readers.files import reading

#: What a Parquet file starts with.
MAGIC = b"PAR1"


class Columns(NamedTuple):
    """Which columns of a table hold the edges.

    Attributes
    ----------
    source, target : str
        Names of the columns of end points.
    weight : str, optional
        Name of the column of weights.
    text : bool
        Whether labels are text, as they are where one column of end points is.
    """

    source: str
    target: str
    weight: str | None
    text: bool


def read(path: Path, data: bytes, directed: bool | None) -> Graph:
    """Read a table of edges; nodes are in the order of their labels.

    End points are columns named ``source`` and ``target``, ``from`` and ``to`` or ``src`` and
    ``dst``, else the first two; weights are a column named ``weight``. Labels are integers if both
    columns are, otherwise text. Lines in messages are rows, from 1.
    """
    file = open_table(path, io.BytesIO(data))
    columns = find_columns(path, file.schema_arrow)
    check_rows(path, file.metadata.num_rows)
    try:
        table = file.read(columns=names_of(columns), use_threads=False)
    except Exception as error:
        raise damaged(path, error) from None
    ends = end_points(path, table, columns)
    labels: Labels | None
    if columns.text:
        pairs = zip(*(column.to_pylist() for column in ends), strict=True)
        names, places = number_names(name.encode() for pair in pairs for name in pair)
        n, labels = len(names), np.array(names, dtype=np.str_)
    else:
        numbers, places = number_integers(np.stack(ends, axis=1))
        n, labels = len(numbers), integer_labels(numbers)
    u, v = places.reshape(-1, 2).T
    weights = weights_of(path, table, columns)
    rows = np.arange(len(u))
    return build(path, n, u, v, weights, rows=rows, labels=labels, directed=directed is True)


def is_table(path: Path) -> bool:
    """Whether a file starts like a Parquet table, not compressed in itself."""
    with reading(path), path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def open_table(path: Path, source: Any) -> Any:
    """Return the ``pyarrow.parquet.ParquetFile`` of a path or of an open file.

    Raises
    ------
    InputError
        A file that is damaged.
    MissingExtraError
        PyArrow is not installed.
    """
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet") from None
    try:
        return pyarrow.parquet.ParquetFile(source)
    except Exception as error:
        raise damaged(path, error) from None


def damaged(path: Path, error: Exception) -> InputError:
    """Return the complaint about a damaged file, to be raised."""
    # A damaged file raises what the layers below happen to meet.
    why = str(error).partition("\n")[0]
    return InputError(path, f"a damaged Parquet file ({why}); fetch or write it again")


def check_rows(path: Path, rows: int) -> None:
    """Refuse an empty table."""
    if not rows:
        raise InputError(path, "the table holds no edges; expected one a row")


def find_columns(path: Path, schema: Any) -> Columns:
    """Return the columns of edges of a table, given its ``pyarrow.Schema``.

    Raises
    ------
    InputError
        Fewer than two columns, or a type that is neither integers nor text.
    """
    names = {name.lower(): name for name in reversed(schema.names)}
    weight = names.get("weight")
    others = [name for name in schema.names if name != weight]
    if len(others) < 2:
        raise InputError(
            path,
            f"expected a table with columns source, target and perhaps weight, found "
            f"{', '.join(schema.names) or 'none'}",
        )
    known = [
        (names[source.decode()], names[target.decode()])
        for source, target in COLUMN_NAMES
        if source.decode() in names and target.decode() in names
    ]
    source, target = known[0] if known else others[:2]
    kinds = [_kind(path, schema.field(name)) for name in (source, target)]
    return Columns(source, target, weight, "text" in kinds)


def _kind(path: Path, field: Any) -> str:
    import pyarrow.types as types

    kind = field.type
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind):
        return "integers"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    raise InputError(
        path, f"column {field.name!r} holds values of type {field.type}; expected integers or text"
    )


def names_of(columns: Columns) -> list[str]:
    """Return the names of the columns that are read."""
    return [name for name in columns[:3] if name is not None]


def end_points(path: Path, table: Any, columns: Columns) -> tuple[Any, Any]:
    """Return the two columns of end points of a ``pyarrow.Table``.

    Returns
    -------
    sources, targets : (e,) int64, or ``pyarrow.LargeStringArray`` where labels are text

    Raises
    ------
    InputError
        An empty cell or a NUL in a text, with its row; a number beyond 64 bits, text that is not
        UTF-8.
    """
    source, target = (
        _column(path, table, name, "large_string" if columns.text else "int64")
        for name in (columns.source, columns.target)
    )
    return (source, target) if columns.text else (source.to_numpy(), target.to_numpy())


def weights_of(path: Path, table: Any, columns: Columns) -> NDArray[np.float64] | None:
    """Return the (e,) weights of a ``pyarrow.Table``, None if it has none.

    Raises
    ------
    InputError
        A cell that is empty or no finite number, with its row.
    """
    if columns.weight is None:
        return None
    weights: NDArray[np.float64] = _column(path, table, columns.weight, "float64").to_numpy()
    bad = np.flatnonzero(~np.isfinite(weights))
    if bad.size:
        row = int(bad[0])
        raise InputError(path, f"weight {weights[row]:g} in this row is not finite", row + 1)
    return weights


def _column(path: Path, table: Any, name: str, kind: str) -> Any:
    """Return a column as one array of a type without empty cells."""
    import pyarrow

    column = table.column(name)
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise InputError(path, f"column {name!r} is empty in this row", row + 1)
    try:
        # Weights may lose digits; integers and texts may not.
        column = column.cast(kind, safe=kind != "float64")
        column.validate(full=True)
    except pyarrow.ArrowException as error:
        why = str(error).partition("\n")[0]
        raise InputError(path, f"column {name!r} cannot be read ({why})") from None
    if kind == "large_string":
        _check_labels(path, column, name)
    array = column.combine_chunks()
    return array if isinstance(array, pyarrow.Array) else pyarrow.concat_arrays(array.chunks)


def _check_labels(path: Path, column: Any, name: str) -> None:
    """Refuse texts that are no labels: empty ones, and those with a NUL, which ends strings."""
    import pyarrow.compute as compute

    empty = compute.equal(compute.binary_length(column), 0)
    for bad, what in ((empty, "is empty"), (compute.match_substring(column, "\0"), "has a NUL")):
        rows = np.flatnonzero(bad.to_numpy())
        if rows.size:
            raise InputError(path, f"column {name!r} {what} in this row", int(rows[0]) + 1)
