"""Make the dependency graph of a Debian release from its Packages index.

Each binary package is a node. An undirected edge joins two packages when one names the other
in Depends, Pre-Depends or Recommends, every alternative of ``a | b`` included, whatever the
version. Names that no package of the index bears (virtual packages, other architectures) are
left out. Nodes are in the order of their names.

    curl -O https://deb.debian.org/debian/dists/bookworm/main/binary-amd64/Packages.xz
    python scripts/make_debian_graph.py Packages.xz debian-bookworm.h5 --release 'bookworm 12.15'
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import lzma
import re
from pathlib import Path

import numpy as np

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import write_store

RELATIONS = ("Depends", "Pre-Depends", "Recommends")
OPENERS = {".gz": gzip.open, ".xz": lzma.open}


def relations_of(index: str) -> dict[str, set[str]]:
    """Return the names that each package of an index relates to."""
    related: dict[str, set[str]] = {}
    for paragraph in index.split("\n\n"):
        # A line that starts with a blank continues the field before it.
        unfolded = re.sub(r"\n[ \t]+", " ", paragraph)
        fields = dict(re.findall(r"^([\w-]+):[ \t]*(.*)$", unfolded, flags=re.MULTILINE))
        if "Package" not in fields:
            continue
        # An index may list several versions of a package.
        names = related.setdefault(fields["Package"], set())
        for relation in RELATIONS:
            for term in re.split(r"[,|]", fields.get(relation, "")):
                # A name may carry an architecture (:any) and a version in parentheses.
                names.add(re.split(r"[ :(\[]", term.strip(), maxsplit=1)[0])
    return related


def graph_of(related: dict[str, set[str]]) -> Graph:
    """Return the graph of packages that exist, with their names as labels."""
    packages = sorted(related)
    ids = {package: i for i, package in enumerate(packages)}
    edges = {
        (min(ids[package], ids[name]), max(ids[package], ids[name]))
        for package, names in related.items()
        for name in names
        if name in ids and name != package
    }
    u, v = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2).T
    return Graph.from_edges(len(packages), u, v, labels=np.array(packages, dtype=np.str_))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", type=Path, help="Packages index: plain, .gz or .xz")
    parser.add_argument("output", type=Path, help="HDF5 file to write")
    parser.add_argument(
        "--release", required=True, help="release and point release, for the record"
    )
    args = parser.parse_args()

    with OPENERS.get(args.packages.suffix, open)(args.packages, "rb") as stream:
        content = stream.read()
    graph = graph_of(relations_of(content.decode()))
    attributes = {
        "name": "debian-dependencies",
        "release": args.release,
        "source": "Debian main amd64 Packages index",
        "source_sha256": hashlib.sha256(content).hexdigest(),
        "relations": ", ".join(RELATIONS),
        "recipe": "scripts/make_debian_graph.py",
    }
    write_store(args.output, [graph], attributes)
    print(f"{args.output}: {graph.n} packages, {graph.m} relations")


if __name__ == "__main__":
    main()
