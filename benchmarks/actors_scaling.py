"""Steps a second against the number of actors, where a step takes 20 ms; and what a slow one costs.

The environment sleeps, so that two cores hold many. For local environment processes and for those
of a host behind the controller, each point is a run of proximal policy optimisation with rounds of
1,024 steps. Beside what was measured stand n / 20 ms, and the bound that the measured update
predicts: 1024 / (T_learn + 1024 x 20 ms / n). Then one of 16 actors is ten times as slow, with the
cut-off and without.

Use: python benchmarks/actors_scaling.py [--seeds K] [--actors N ...] [--folder DIR] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
from common import write_record

from ogg_hpc.actors.settings import load_actors_settings
from ogg_hpc.actors.throughput_model import fit_throughput
from ogg_hpc.runtime.run_folder import LOG_FILE, RECORD
from ogg_hpc.scaling.actors import HOSTS, ActorStudy, measure_points

HERE = Path(__file__).parent
CONFIG = "synthetic"
STEP = 0.02  # seconds
MANY, SLOW = 16, 10


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=2, help="that are measured in a run")
    parser.add_argument("--actors", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--folder", type=Path, help="keeps the runs; the same goes on with them")
    parser.add_argument("--output", type=Path, default=HERE / "actors_scaling.json")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or Path(temporary)
        results = {hosts: scaling(args, hosts, folder) for hosts in HOSTS}
        results[f"one of {MANY} actors {SLOW} times as slow"] = straggler(args, folder)
    write_record(args.output, results)


def measured(seeds, folder, actors, rounds, hosts="local", *overrides):
    study = ActorStudy(CONFIG, overrides, tuple(actors), seeds, rounds, hosts)
    settings = load_actors_settings(CONFIG, overrides)
    return measure_points(study, settings, folder, lambda text: print(text, flush=True))


def scaling(args, hosts, folder):
    """Return rates, ratios and parts of rounds for each number of actors."""
    points = measured(args.seeds, folder, args.actors, args.rounds, hosts)
    model = fit_throughput(points)
    alone = np.mean([point.rate for point in points if point.actors == 1] or [1 / STEP])
    found = {}
    for actors in args.actors:
        own = [point for point in points if point.actors == actors]
        rate = float(np.mean([point.rate for point in own]))
        learn = float(np.mean([point.learn for point in own]))
        steps = own[0].steps
        bound = steps / (learn + steps * STEP / actors)
        found[actors] = {
            "steps_per_second": {"mean": rate, "all": [point.rate for point in own]},
            "of_n_over_step": rate * STEP / actors,
            "of_the_predicted_bound": rate / bound,
            "efficiency": rate / (actors * float(alone)),
            "model": model.rate(actors),
            "milliseconds_of_a_round": {
                part: 1e3 * float(np.mean([getattr(point, part) for point in own]))
                for part in ("seconds", "learn", "collect", "wait", "broadcast")
            },
        }
        print(hosts, actors, json.dumps(found[actors]), flush=True)
    return {"model": vars(model) | {"peak": model.peak, "limit": model.limit}, "actors": found}


def straggler(args, folder):
    """Return the throughput with a slow actor as a share of that without, and what the run says."""
    slow = f'environment.options.slow={{"3" = {SLOW}}}'
    ways = {
        "none is slow": (),
        "with the cut-off": (slow,),
        "without": (slow, "collection.patience=0"),
    }
    found, points = {}, {}
    for seeds in range(1, args.seeds + 1):  # in turn, so that each meets the machine alike
        for name, overrides in ways.items():
            place = folder / name.replace(" ", "-")
            points[name] = measured(seeds, place, [MANY], 3 * args.rounds, "local", *overrides)
    for name in ways:
        place = folder / name.replace(" ", "-")
        runs = sorted(place.glob(f"*/{RECORD}"))
        file = runs[0].with_name(LOG_FILE)
        log = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        found[name] = {
            "steps_per_second": float(np.mean([point.rate for point in points[name]])),
            "share": float(
                np.mean(
                    [
                        own.rate / usual.rate
                        for own, usual in zip(points[name], points["none is slow"], strict=True)
                    ]
                )
            ),
            "cut": [json.loads(run.read_text())["collection"]["cut"] for run in runs],
            "said": next((line for line in log if "slot 3" in line), None),
        }
    print(json.dumps(found), flush=True)
    return found


if __name__ == "__main__":
    main()
