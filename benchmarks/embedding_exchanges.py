"""Time to pull and to push rows of an embedding, by the exchange.

A batch of 2,000 random rows of 128 numbers, of 400,000, on each rank: microseconds a row, the least
and the median of the batches, on the rank where they are highest. A single rank sends to itself.

Use: mpiexec -n 2 python benchmarks/embedding_exchanges.py [--output FILE]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from common import write_record

from ogg_hpc.embedding.model import Model
from ogg_hpc.embedding.negatives import NegativeSampler
from ogg_hpc.embedding.objective import SGNS
from ogg_hpc.embedding.row_owners import RowOwners
from ogg_hpc.embedding.tables.exchanged import ExchangedTable
from ogg_hpc.embedding.tables.one_sided import OneSidedTable
from ogg_hpc.embedding.traffic import Formula, Traffic
from ogg_hpc.runtime.launch import start

HERE = Path(__file__).parent
NODES, DIM, ROWS, BATCHES = 400_000, 128, 2_000, 50
EXCHANGES = {"alltoallv": ExchangedTable, "onesided": OneSidedTable}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=HERE / "embedding_exchanges.json")
    options = parser.parse_args()
    comm = start(device="cpu")
    found = {name: measure(comm, kind) for name, kind in EXCHANGES.items()}
    if comm.rank == 0:
        for name, times in found.items():
            print(
                name,
                *(f"{what} {t['min']:.2f} (median {t['median']:.2f})" for what, t in times.items()),
            )
        write_record(options.output, {"ranks": comm.size, "microseconds_a_row": found})


def measure(comm, kind):
    sampler = NegativeSampler(np.ones(NODES), 0.75, 0)
    model = Model(NODES, DIM, False, SGNS(), sampler, 5, 100, row_limit=1.0, seed=0)
    owners = RowOwners(NODES, range(comm.size), 0, "context")
    table = kind(comm, "context", owners, model, Traffic(Formula("", (), 1.0)))
    generator = np.random.default_rng(comm.rank)
    wanted = [generator.choice(NODES, ROWS, replace=False) for _ in range(BATCHES)]
    sums, weights = np.ones((ROWS, DIM), np.float32), np.ones(ROWS, np.float32)
    table.plan(wanted)
    steps = {
        "pull": lambda b: table.fetch(b)(),
        "push": lambda b: table.push(b, sums, weights, 1e-3)(),
    }
    for step in steps.values():
        step(0)  # compiled now
    times = {what: [] for what in steps}
    for batch in range(BATCHES):
        for what, step in steps.items():
            begin = time.perf_counter()
            step(batch)
            times[what].append((time.perf_counter() - begin) / ROWS * 1e6)
    table.free()
    everyone = comm.gather_objects(times)
    return {
        what: {
            name: max(float(of(rank[what])) for rank in everyone)
            for name, of in (("min", np.min), ("median", np.median))
        }
        for what in steps
    }


if __name__ == "__main__":
    main()
