"""Draw what a paper on distributed graph embedding shows: loss, traffic and time of strategies.

The paper trains LINE, APP and DeepWalk by three strategies, which it calls simple, dot product and
partitioned, on 2 to 16 workers of a cluster with a network of 1 Gb/s. Its claims, which are checked
and printed here:

(a) all strategies come to the same loss;
(b) the dot product sends least on few workers, and falls behind as they become more;
(c) partitioned sends less than simple on any number of workers;
(d) for m distinct nodes in a batch and D numbers in a vector they send in the order of 4mD
    (simple), 4m a server (dot product) and 2mD (partitioned) numbers.

Its graphs are Wikipedia, YouTube and LiveJournal. The first is most likely SNAP's wiki-Vote; for
the second stands an R-MAT graph (0.57, 0.19, 0.19) of 2^20 nodes and three million edges; there is
nothing for the third. BlogCatalog is added. All samplers and numbers of workers are run on the
first, some on the others. Epochs are far shorter than the paper's, so that all runs fit in some
minutes on two cores: some 50,000 pairs. Negatives are shared by a batch: where each pair has its
own, rows of them are most of what is sent, by simple and partitioned alike.

Each run is ``mpiexec -n P ogg-hpc embed ... --json``; those that the output folder has are not made
again. Where there are more ranks than cores, seconds say nothing of a cluster: counted bytes do.
Beside the seconds measured are those that the bytes would take on the paper's network: a model.

    python scripts/reproduce_embedding_paper.py --output figures --data FOLDER
    python scripts/reproduce_embedding_paper.py --output figures --quick
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

import numpy as np
from curves import Curve, Figure

from ogg_hpc.errors import OggError
from ogg_hpc.runtime.extras import check_plot
from ogg_hpc.runtime.files import read_json, write_json, write_whole
from ogg_hpc.scaling.launcher import MPIEXEC, launch_command

# The summary is a record such as those of the benchmarks.
sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
from common import write_record

STRATEGIES = ("simple", "dot", "partitioned")
NETWORK = "1 Gb/s"  # the paper's
SAME_LOSS = 1e-3  # relative difference of losses that are the same
FORMULA = (0.9, 1.1)  # ratio of counted to predicted bytes


@dataclass(frozen=True)
class Subject:
    """A graph, and what is run on it.

    Attributes
    ----------
    source
        What ``ogg-hpc embed`` is given.
    samplers
        Those that are run, with their options, which win over those of all runs.
    ranks
        Numbers of workers.
    """

    source: str
    samplers: Mapping[str, str]
    ranks: Sequence[int]


@dataclass(frozen=True)
class Scale:
    """How much is computed.

    Attributes
    ----------
    subjects
        By the names of the graphs.
    options
        Of all runs.
    """

    subjects: Mapping[str, Subject]
    options: str


@dataclass(frozen=True)
class Run:
    """What a record of ``ogg-hpc embed`` tells.

    Attributes
    ----------
    losses
        Mean loss of a pair in each epoch.
    pairs
        That were trained.
    counted, predicted
        Bytes that crossed ranks, of all ranks together: those that the claims speak of, counted
        and by their formula.
    seconds, modelled
        Of an epoch, on this machine; of its bytes alone on the paper's network, by a model.
    """

    losses: Sequence[float]
    pairs: int
    counted: int
    predicted: int
    seconds: float
    modelled: float

    @classmethod
    def of(cls, record: dict[str, Any]) -> Run:
        """Return what a record tells."""
        epochs, models = record["losses"], record["models"]
        formulas = [model["traffic"]["formula"] for model in models]
        modelled = sum(model["modelled_network_seconds"][NETWORK] for model in models)
        return cls(
            [epoch["loss"] for epoch in epochs],
            record["pairs"],
            sum(formula["counted_bytes"] for formula in formulas),
            sum(formula["predicted_bytes"] for formula in formulas),
            record["pairs"] / record["pairs_per_second"] / len(epochs),
            modelled / len(epochs),
        )


# By graph and sampler, strategy, and ranks.
Found = dict[str, dict[str, dict[int, Run]]]


def subjects(data: Path) -> dict[str, Subject]:
    """Return what is run in full; for walks of DeepWalk an arc is an edge, or most would end."""
    return {
        "wiki-Vote": Subject(
            str(data / "wiki-Vote.txt"),
            {
                "line": "--directed --order second --samples 50000",
                "app": "--directed --walks 8 --learning-rate 0.3",
                "deepwalk": "--undirected --walks 1 --walk-length 6 --window 2",
            },
            (1, 2, 4, 8, 16),
        ),
        "BlogCatalog": Subject(
            str(data / "blogcatalog.mat"),
            {
                "line": "--order second --samples 50000",
                "deepwalk": "--walks 1 --walk-length 4 --window 2",
            },
            (2, 8),
        ),
        "R-MAT": Subject(
            "rmat:n=1048576,d=3,a=0.57,b=0.19,c=0.19,seed=1",
            {"line": "--order second --samples 50000"},
            (2, 8),
        ),
    }


# Steps are as large as batches of so few pairs bear.
OPTIONS = (
    "--epochs 4 --dim 128 --batch-pairs 1000 --negatives batch --shared-negatives 30 "
    "--learning-rate 0.1 --row-limit 10"
)
QUICK = Scale(
    {
        "R-MAT": Subject(
            "rmat:n=1024,d=4,a=0.57,b=0.19,c=0.19,seed=1",
            {"line": "--order second --samples 2000"},
            (2,),
        )
    },
    "--epochs 2 --dim 64 --batch-pairs 500 --negatives batch --shared-negatives 5 "
    "--learning-rate 0.1 --row-limit 10",
)


def find_runs(folder: Path, scale: Scale) -> Found:
    """Make all runs that the folder has no record of, and return all."""
    return {
        f"{sampler} on {graph}": {
            strategy: {
                ranks: _run(folder, scale, graph, sampler, strategy, ranks)
                for ranks in subject.ranks
            }
            for strategy in STRATEGIES
        }
        for graph, subject in scale.subjects.items()
        for sampler in subject.samplers
    }


def _run(folder: Path, scale: Scale, graph: str, sampler: str, strategy: str, ranks: int) -> Run:
    subject = scale.subjects[graph]
    options = [
        *("--method", sampler, "--strategy", strategy),
        *scale.options.split(),
        *subject.samplers[sampler].split(),
    ]
    # Runs by other options have other names.
    digest = crc32(" ".join([subject.source, *options]).encode())
    path = folder / f"{graph}-{sampler}-{strategy}-{ranks:02d}-{digest:08x}.json"
    if not path.exists():
        say(path.stem)
        write_json(path, _embed(subject.source, options, ranks))
    return Run.of(read_json(path, "record of an embedding"))


def _embed(source: str, options: Sequence[str], ranks: int) -> dict[str, Any]:
    """Run the command in a folder of its own, and return its record."""
    with TemporaryDirectory() as folder:
        command = [
            *(*launch_command(MPIEXEC, ranks), sys.executable, "-m", "ogg_hpc", "embed", source),
            *("--json", "--output", f"{folder}/embedding.h5", *options),
        ]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise OggError(f"{' '.join(command)}: {done.stderr.strip()}")
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def draw(found: Found) -> dict[str, Figure]:
    """Return the figures by name."""
    loss = [
        Curve(panel, strategy, _epochs(runs), [run.losses for run in runs.values()])
        for panel, strategies in found.items()
        for strategy, runs in strategies.items()
    ]
    return {
        "loss": Figure(
            "Mean loss of a pair, in bands over all numbers of workers",
            "epoch",
            dict.fromkeys(found, "loss"),
            loss,
        ),
        "traffic": _by_ranks(
            "Bytes that cross ranks", "bytes a pair", found, {"": lambda r: r.counted / r.pairs}
        ),
        "time": _by_ranks(
            "Time of an epoch",
            "seconds",
            found,
            {
                ", measured": lambda run: run.seconds,
                ", bytes alone at 1 Gb/s (model)": lambda run: run.modelled,
            },
        ),
    }


def _epochs(runs: Mapping[int, Run]) -> list[int]:
    return [epoch + 1 for epoch in range(len(next(iter(runs.values())).losses))]


def _by_ranks(
    title: str, y_label: str, found: Found, values: Mapping[str, Callable[[Run], float]]
) -> Figure:
    """Return a figure of values over ranks; what is 0, on one rank, is not drawn."""
    curves = []
    for panel, strategies in found.items():
        for strategy, runs in strategies.items():
            for what, value in values.items():
                points = {ranks: value(run) for ranks, run in runs.items() if value(run) > 0}
                curves.append(
                    Curve(panel, f"{strategy}{what}", list(points), list(points.values()))
                )
    panels = dict.fromkeys(found, y_label)
    return Figure(title, "workers", panels, curves, logarithmic=tuple(panels))


def check(found: Found) -> dict[str, dict[str, Any]]:
    """Return of each graph and sampler what became of the claims."""
    return {panel: _claims(strategies) for panel, strategies in found.items()}


def _claims(strategies: dict[str, dict[int, Run]]) -> dict[str, Any]:
    losses = np.array([run.losses for runs in strategies.values() for run in runs.values()])
    spread = float(np.ptp(losses, axis=0).max() / losses.min())
    sending = [ranks for ranks in strategies["dot"] if ranks > 1]
    least = {
        ranks: min(strategies, key=lambda name: strategies[name][ranks].counted)
        for ranks in sending
    }
    shares = {
        ranks: strategies["partitioned"][ranks].counted / strategies["simple"][ranks].counted
        for ranks in sending
    }
    ratios = {
        name: [runs[ranks].counted / runs[ranks].predicted for ranks in sending]
        for name, runs in strategies.items()
    }
    return {
        "a: same loss": {"holds": spread < SAME_LOSS, "largest relative difference": spread},
        "b: dot first, then behind": {
            "holds": least[sending[0]] == "dot" and least[sending[-1]] != "dot",
            "least bytes": least,
        },
        "c: partitioned below simple": {
            "holds": max(shares.values()) < 1,
            "partitioned / simple": shares,
        },
        "d: bytes by their formulas": {
            "holds": all(
                FORMULA[0] <= ratio <= FORMULA[1] for own in ratios.values() for ratio in own
            ),
            "counted / predicted": ratios,
        },
    }


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--quick", action="store_true", help="a small graph: a trial")
    data = Path("data")
    parser.add_argument(
        "--data", type=Path, default=data, metavar="FOLDER",
        help="where wiki-Vote.txt and blogcatalog.mat are (default: data)",
    )  # fmt: skip
    parser.add_argument(
        "--graphs", nargs="*", metavar="NAME", help=f"of {', '.join(subjects(data))} (default: all)"
    )
    parser.add_argument(
        "--ranks", type=int, nargs="*", metavar="P", help="numbers of workers (default: by graph)"
    )
    parser.add_argument(
        "--summary", type=Path, metavar="FILE", help="JSON file for the claims and the curves"
    )
    args = parser.parse_args()
    scale = QUICK if args.quick else Scale(subjects(args.data), OPTIONS)
    if unknown := set(args.graphs or ()) - set(scale.subjects):
        parser.error(f"no graph {', '.join(unknown)}; choose from {', '.join(scale.subjects)}")
    if args.ranks and (min(args.ranks) < 1 or max(args.ranks) < 2):
        parser.error("--ranks are at least 1, and one of them more: one worker sends nothing")
    chosen = {
        name: replace(subject, ranks=args.ranks or subject.ranks)
        for name, subject in scale.subjects.items()
        if name in (args.graphs or scale.subjects)
    }
    try:
        check_plot()
        found = find_runs(args.output / "runs", replace(scale, subjects=chosen))
        figures, claims = draw(found), check(found)
        for name, figure in figures.items():
            figure.write(args.output / name)
            say(f"{args.output / name}.png")
        print_claims(claims)
        if args.summary is not None:
            curves = {name: figure.sample() for name, figure in figures.items()}
            with write_whole(args.summary) as temporary:
                write_record(temporary, {"claims": claims, "curves": curves})
    except OggError as error:
        parser.exit(error.exit_code, f"{parser.prog}: {error}\n")


def print_claims(claims: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Print whether each claim holds, and the numbers that say so."""
    for panel, found in claims.items():
        for claim, numbers in found.items():
            holds, *rest = numbers.values()
            print(f"{panel}: {claim}: {'yes' if holds else 'NO'} ({rest[0]})")


if __name__ == "__main__":
    main()
