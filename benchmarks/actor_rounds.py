"""What rounds cost beside the steps of the environments, on one rank and over ranks.

Environments sleep, so that one machine holds many. Each process steps one. A round has a new
version of a small network, and there is no update between two rounds. Three questions:

- what does a round cost when steps cost nothing: one step a slot;
- how near do steps a second come to slots / seconds of a step;
- what does one slot that takes ten times as long cost, with and without the cut-off.

Use: mpiexec -n 2 python benchmarks/actor_rounds.py [--seconds S] [--slots N ...] [--output FILE]

Rank 0 learns, the others act for it; without a launcher rank 0 holds the environments itself.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from common import write_record

from ogg_hpc.actors.cell import PHASES, Cell
from ogg_hpc.actors.collectors.registry import collector_class
from ogg_hpc.actors.environments.registry import make_environment
from ogg_hpc.actors.host import Host
from ogg_hpc.actors.networks.registry import make_network
from ogg_hpc.actors.normalisation import ObservationNormaliser
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.settings import ActorsSettings, CollectionSettings, EnvironmentSettings
from ogg_hpc.actors.setup import Setup
from ogg_hpc.actors.transports.inside import InsideTransport
from ogg_hpc.actors.transports.mpi import MPITransport, act
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.launch import start

HERE = Path(__file__).parent
TINY_ROUNDS = 100
ROUNDS = 5
SLOW = 10  # times as long


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.02, help="what a step takes")
    parser.add_argument("--steps", type=int, default=64, help="steps of a slot in a round")
    parser.add_argument("--slots", type=int, nargs="*", default=[1, 2, 4, 8, 16])
    parser.add_argument("--output", type=Path, default=HERE / "actor_rounds.json")
    args = parser.parse_args()
    comm = start("cpu")
    results = {"actor ranks": comm.size - 1, "seconds of a step": args.seconds}
    for slots in args.slots:
        tiny = rounds(comm, slots, 0.0, 1, TINY_ROUNDS)
        full = rounds(comm, slots, args.seconds, args.steps, ROUNDS)
        if comm.rank == 0:
            ideal = slots / args.seconds
            rate = full["steps"] / sum(full["seconds"])
            results[f"{slots} slots"] = {
                "ms of a round of one step a slot": {
                    "median": 1e3 * statistics.median(tiny["seconds"]),
                    "least": 1e3 * min(tiny["seconds"]),
                    "of the learner's core": 1e3 * tiny["core seconds"] / TINY_ROUNDS,
                },
                "steps/s": rate,
                "of the ideal": rate / ideal,
                "bytes a step": full["bytes"] / full["steps"],
            }
            print(slots, results[f"{slots} slots"], flush=True)
    most = max(args.slots)
    for name, patience in (("with cut-off", 1.5), ("without", 0.0)):
        slow = rounds(comm, most, args.seconds, args.steps, ROUNDS, {"0": SLOW}, patience)
        if comm.rank == 0:
            rates = [slow["steps"] / ROUNDS / seconds for seconds in slow["seconds"]]
            results[f"one of {most} slots {SLOW} times slower, {name}"] = {
                "steps/s of the first round": rates[0],
                "steps/s of the others": statistics.mean(rates[1:]),
                "cut": slow["cut"],
            }
            print(name, rates, flush=True)
    if comm.rank == 0:
        write_record(args.output, results)


def rounds(comm, slots, seconds, steps, number, slow=None, patience=1.5):
    """Return what so many rounds took, after one that does not count (collective)."""
    mailbox = comm.mailbox()
    actors = max(1, comm.size - 1)
    mine = slots // actors + (comm.rank - 1 < slots % actors)
    result = None
    if comm.rank and mine:
        act(mailbox, 0, Host(mine, 1))
    elif comm.rank == 0:
        ranks = range(1, min(comm.size, slots + 1))
        transport = MPITransport(mailbox, ranks) if ranks else InsideTransport(Host(slots, 1))
        settings = ActorsSettings(
            environment=EnvironmentSettings("synthetic", {"seconds": seconds, "slow": slow or {}}),
            collection=CollectionSettings(patience=patience),
        )
        result = measure(transport, settings, slots * steps, number)
    mailbox.close()
    return result


def measure(transport, settings, steps, number):
    schema = Schema.of(make_environment(settings.environment.name, settings.environment.options))
    layout = collector_class(settings.algorithm).layout(schema)
    clock = Clock(Communicator(), *PHASES)
    cell = Cell([transport], Setup(0, settings, schema, layout), clock)
    network = make_network(settings.network.name, schema, settings.network.model)
    arrays = network.initial(0) | ObservationNormaliser(schema).arrays()
    cell.publish(arrays)
    cell.collect(len(cell.slots) or 1)  # which waits for all
    taken = []
    before, core = traffic(cell), time.process_time()
    for _ in range(number):
        cell.publish(arrays)
        began = time.perf_counter()
        cell.collect(steps)
        taken.append(time.perf_counter() - began)
    result = {
        "seconds": taken,
        "steps": steps * number,
        "core seconds": time.process_time() - core,
        "bytes": traffic(cell) - before,
        "cut": cell.measurement.cut,
    }
    cell.close()
    return result


def traffic(cell):
    counted = cell.measurement
    return sum(counted.sent.values()) + sum(counted.received.values())


if __name__ == "__main__":
    main()
