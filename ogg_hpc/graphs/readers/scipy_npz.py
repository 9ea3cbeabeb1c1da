"""SciPy ``.npz`` files of sparse adjacency matrices, as `scipy.sparse.save_npz` writes them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers.build import build_from_matrix, check_size


def read(path: Path, data: bytes, directed: bool | None) -> Graph:
    """Read a sparse adjacency matrix; labels are 0 … n - 1."""
    try:
        matrix = scipy.sparse.load_npz(io.BytesIO(data))
    except Exception as error:
        # A damaged file raises what the layers below happen to meet.
        raise InputError(
            path, f"expected a sparse matrix written by scipy.sparse.save_npz ({error})"
        ) from None
    return graph_of_matrix(path, matrix, directed)


def graph_of_matrix(path: Path, matrix: Any, directed: bool | None) -> Graph:
    """Build a graph from a SciPy matrix whose index arrays may be damaged."""
    try:
        if hasattr(matrix, "check_format"):
            # Conversion follows these arrays without looking, out of memory if they are wrong.
            matrix.check_format(full_check=True)
        coo = matrix.tocoo()
        values = np.asarray(coo.data, dtype=np.float64) if coo.data.dtype.kind in "biuf" else None
    except Exception as error:
        raise InputError(path, f"a damaged sparse matrix ({error})") from None
    if values is None:
        raise InputError(path, f"expected real numbers, found a matrix of {coo.data.dtype}")
    if coo.shape[0] != coo.shape[1]:
        size = " × ".join(map(str, coo.shape))
        raise InputError(path, f"a {size} matrix; the adjacency matrix of a graph is square")
    check_size(path, coo.shape[0], coo.nnz)
    return build_from_matrix(path, coo.shape[0], coo.row, coo.col, values, directed)
