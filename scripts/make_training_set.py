"""Make a training set: many random graphs with their best objectives, in a folder of shards.

CONFIG is a TOML file such as examples/training_set.toml. Under mpiexec, srun or jsrun each rank
makes shards of its own; the files are the same for every number of ranks, but for objectives that
a time limit has kept from being proven. After an interruption the same command goes on with what
is missing.

    python scripts/make_training_set.py examples/training_set.toml --output graphs/small
    mpiexec -n 4 python scripts/make_training_set.py mine.toml --output graphs/mine --set limit=60

The folder is one that ogg-hpc reads everywhere: [[train]] path = "graphs/small".
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ogg_hpc.errors import OggError
from ogg_hpc.runtime.launch import end_job, start
from ogg_hpc.settings import load
from ogg_hpc.training.set_settings import TrainingSetSettings
from ogg_hpc.training.training_set import make_training_set


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("config", type=Path, metavar="CONFIG", help="TOML file")
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="override a setting, such as limit=60; may be repeated (default: none)",
    )
    parser.add_argument("--json", action="store_true", help="print the record as one JSON object")
    args = parser.parse_args()
    try:
        comm = start("cpu")
        settings = comm.on_root(lambda: load(TrainingSetSettings, args.config, args.set))
        record = make_training_set(comm, settings, args.output)
    except OggError as error:
        sys.exit(end_job(error))
    if comm.rank == 0:
        print(json.dumps(record) if args.json else table(record), flush=True)


def table(record: dict[str, Any]) -> str:
    """Return what was made as text: a line a family."""
    lines = [f"{record['folder']}: {record['graphs']} graphs"]
    for family in record["families"]:
        parts = [
            f"{family['graphs']} graphs",
            f"{family['nodes']} nodes",
            f"{family['edges']} edges",
        ]
        parts += [f"{problem} proven on {proven}" for problem, proven in family["proven"].items()]
        lines.append(f"{family['family']}: {', '.join(parts)}")

    ranks = "1 rank" if record["ranks"] == 1 else f"{record['ranks']} ranks"
    return "\n".join([*lines, f"made in {record['seconds']:.1f} s on {ranks}"])


if __name__ == "__main__":
    main()
