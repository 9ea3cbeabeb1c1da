"""The format of a file, by its content first and by its suffix second."""

from __future__ import annotations

import re
from pathlib import Path

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.readers import matrixmarket, metis, parquet
from ogg_hpc.graphs.readers.dimacs import is_dimacs
from ogg_hpc.graphs.readers.edgelist import COMMENTS
from ogg_hpc.graphs.readers.headed import is_headed
from ogg_hpc.graphs.readers.text import Text

_COMPRESSIONS = {".gz", ".bz2", ".xz", ".zst"}
METIS_SUFFIXES = (".graph", ".metis")
_WEB_PAGE = re.compile(rb"\s*<(?:!doctype )?html", re.IGNORECASE)


def suffix_of(path: Path) -> str:
    """Return the suffix in lower case, looking through one of a compressed file."""
    if path.suffix.lower() in _COMPRESSIONS:
        path = path.with_suffix("")
    return path.suffix.lower()


def detect_binary(path: Path, data: bytes) -> str | None:
    """Return the name of the binary format of a file, None if it looks like text."""
    if data.startswith(b"PK\x03\x04"):
        return "npz"
    if data.startswith(parquet.MAGIC):
        return "parquet"
    # Version 4 has no signature, but zeros in its first four bytes.
    if data.startswith(b"MATLAB ") or (suffix_of(path) == ".mat" and b"\0" in data[:4]):
        return "mat"
    return None


def detect_text(text: Text) -> str:
    """Return the name of the text format of a file.

    A first line of two integers is the ambiguous case. It is a METIS header if the suffix is
    ``.graph`` or ``.metis``, or if as many lines follow as it declares nodes, with two tokens
    for each edge; where it fits a list of edges as well, the lists of neighbours must be
    symmetric. Otherwise `is_headed` decides between a header ``n m`` and an edge.

    Raises
    ------
    InputError
        A first line that is almost a header, a web page, a Git LFS pointer.
    """
    name = detect_first_lines(text)
    if name is not None:
        return name
    data = text.without(text.starting_with(COMMENTS))
    if metis.read_header(text) is not None and _is_metis(text, data):
        return "metis"
    if is_headed(data):
        return "gset" if len(data.rows) > 1 and data.counts[data.rows[1]] == 3 else "dimacs"
    return "edgelist"


def detect_first_lines(text: Text) -> str | None:
    """Return the name of a text format that its first lines tell; None if all lines matter.

    Raises
    ------
    InputError
        A web page, a Git LFS pointer.
    """
    first = text.line(text.rows[0]).strip() if text.rows.size else b""
    if _WEB_PAGE.match(first):
        raise text.error("a web page, not a graph; the download went wrong")
    if first.startswith(b"version https://git-lfs"):
        raise text.error("a Git LFS pointer; run git lfs pull to get the file itself")
    if first.startswith(b"<"):
        return "graphml"
    if matrixmarket.BANNER.match(first):
        return "matrixmarket"
    data = text.without(text.starting_with(COMMENTS))
    if not data.rows.size:
        return "edgelist"
    if data.lead[data.rows[0]] == ord("*"):
        return "pajek"
    return "dimacs" if is_dimacs(data) else None


def _is_metis(text: Text, data: Text) -> bool:
    """Decide on a file with a METIS header, given with its comments and without."""
    if suffix_of(text.path) in METIS_SUFFIXES:
        return True
    # METIS knows no comments that start with #.
    if text.starting_with(b"#").any() or not metis.sizes_agree(text):
        return False
    if len(data.tokens(data.rows[0])) > 2 or not is_headed(data):
        return True
    try:
        metis.read(text, None)
    except InputError:
        return False
    return True
