"""What messages cost, and what a host pays for each of its environment processes.

Messages: microseconds to make and to read those of PPO on CartPole. Processes: the seconds until
all can be stepped; processor time of their host, of the server that forks them, and of each of
them until then; the memory of each, all that it sees and what is its own alone; and the
processor time of a fragment of a single step, from the grant to the check by the learner, on the
side of host and learner and on that of the process. Steps of the environment cost nothing.

Use: python benchmarks/environment_processes.py [--processes 1 8 32 64] [--output FILE.json]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
import timeit
from pathlib import Path

import gymnasium
import numpy as np
from common import write_record

from ogg_hpc.actors.cell import PHASES, Cell, Setup
from ogg_hpc.actors.collectors.rollout import step_layout
from ogg_hpc.actors.environments.registry import make_environment
from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.actors.host import Host
from ogg_hpc.actors.message import decode, decode_head, encode
from ogg_hpc.actors.networks.registry import make_network
from ogg_hpc.actors.normalisation import ObservationNormaliser
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.settings import ActorsSettings, CollectionSettings, EnvironmentSettings
from ogg_hpc.actors.transports.inside import InsideTransport
from ogg_hpc.actors.weights import Weights
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator

STEPS = 128  # of a fragment
WIDTHS = [256, 256]
ROUNDS = 50


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 8, 32, 64])
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    results = {"messages": messages(), "processes": {}}
    print(json.dumps(results["messages"], indent=1), flush=True)
    for count in args.processes:
        results["processes"][count] = processes(count)
        print(count, json.dumps(results["processes"][count], indent=1), flush=True)
    write_record(args.output, results)


def messages():
    schema = Schema.of(gymnasium.make("CartPole-v1"))
    layout = step_layout(schema)
    arrays = {leaf.name: np.zeros((STEPS, *leaf.shape), leaf.dtype) for leaf in layout.steps}
    episodes = [{"return": 32.0, "length": 32}] * 4
    arrays["terminated"][31::32] = True
    fragment = Fragment("run", 1, 1, 0, 0, 0, STEPS, True, episodes, arrays)
    weights = Weights("run", 1, make_network("mlp", schema, {"hidden": WIDTHS}).initial(0))
    data, published = encode(fragment.message()), encode(weights.message())
    return {
        "fragment": {
            "steps": STEPS,
            "bytes": len(data),
            "make": microseconds(lambda: encode(fragment.message())),
            "pass on": microseconds(lambda: decode_head(data)),
            "read": microseconds(lambda: Fragment.of(decode(data), layout)),
        },
        "weights": {
            "bytes": len(published),
            "make": microseconds(lambda: encode(weights.message())),
            "pass on": microseconds(lambda: decode_head(published)),
            "read": microseconds(lambda: Weights.of(decode(published))),
        },
    }


def microseconds(work, number=100):
    return round(min(timeit.repeat(work, number=number, repeat=10)) / number * 1e6, 1)


def processes(count):
    schema = Schema.of(make_environment("synthetic", {}))
    # Nobody is cut: what is measured is the way, not who is slow on a machine with few cores.
    settings = ActorsSettings(
        environment=EnvironmentSettings("synthetic", {"seconds": 0}),
        collection=CollectionSettings(patience=0),
    )
    setup = Setup(0, settings, schema, step_layout(schema))
    arrays = make_network("mlp", schema, {}).initial(0) | ObservationNormaliser(schema).arrays()

    started, before = time.perf_counter(), time.process_time()
    with Host(count, 1) as host:
        cell = Cell([InsideTransport(host)], setup, Clock(Communicator(), *PHASES), tell=print)
        cell.publish(arrays)
        cell.collect(count)
        seconds, host_seconds = time.perf_counter() - started, time.process_time() - before
        (server,) = children(os.getpid())
        pids = children(server)
        assert len(pids) == count
        start = {
            "seconds": round(seconds, 2),
            "processor ms of the host": round(1e3 * host_seconds),
            "of the server": round(1e3 * processor_seconds(server)),
            "of each process": round(1e3 * sum(map(processor_seconds, pids)) / count, 1),
        }
        memory = {
            f"{name} MB": round(sum(memory_of(pid)[key] for pid in pids) / count / 1024, 1)
            for name, key in (("all", "Rss"), ("shared fairly", "Pss"), ("own", "Private_Dirty"))
        }
        before, before_there = time.process_time(), sum(map(processor_seconds, pids))
        for _ in range(ROUNDS):
            cell.collect(count)
        here = time.process_time() - before
        there = sum(map(processor_seconds, pids)) - before_there
        cell.close()
    fragment = {
        "processor us of host and learner": round(1e6 * here / ROUNDS / count),
        "of the process": round(1e6 * there / ROUNDS / count),
    }
    return {"start": start, "memory of each process": memory, "fragment of one step": fragment}


def children(pid):
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def processor_seconds(pid):
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def memory_of(pid):
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return {name: int(kilobytes) for name, kilobytes in re.findall(r"(\w+): +(\d+) kB", text)}


if __name__ == "__main__":
    main()
