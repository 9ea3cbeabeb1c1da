"""Draw the figures of the OpenGraphGym-MG paper, with its settings and with ours.

fig6   learning curves: trained on graphs of 20 nodes, tested on 20 and on 250
fig7   one node a step against the adaptive schedule: seconds and covers
fig8   learning curves by the number of gradient steps after an environment step
fig9   time of an inference step by the number of ranks
fig10  the same on a graph from a file (--graph), as a speed-up
fig11  time of a training step by the number of ranks

Each becomes FIGURE.png and FIGURE.csv in the output folder, which keeps training runs, best known
covers and times of steps too: what is there is not made again. The curves of fig6 are means over
training runs of several seeds, in a band from the best to the worst; those of fig8 are single runs.
All covers, also those of the paper's policy, are counted without their redundant nodes.

Times by the number of ranks are those of --records (files such as benchmarks/engines.json and
benchmarks/training.json, or lists as `step_times.py` reads them), and of this machine with 1, 2,
... ranks up to its cores; where there were more ranks than cores, none is drawn.

    python scripts/reproduce_paper.py --output figures
    python scripts/reproduce_paper.py fig9 fig11 --output figures --records benchmarks/*.json
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from curves import LEVEL, PUBLISHED, Curve, Figure
from learning_curves import COMPARED, Graphs, LearningCurves, say
from step_times import (
    ENGINES,
    INFERENCE,
    TRAINING,
    StepTime,
    measure_step_times,
    read_step_times,
)

from ogg_hpc.errors import OggError
from ogg_hpc.runtime.extras import check_plot
from ogg_hpc.runtime.files import write_whole
from ogg_hpc.runtime.launch import start
from ogg_hpc.search.collection import listed
from ogg_hpc.search.evaluate import Evaluation, evaluate
from ogg_hpc.search.methods import Search
from ogg_hpc.search.settings import SolveSettings
from ogg_hpc.training.folder import LAST

# The summary is a record such as those of the benchmarks.
sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
from common import write_record

PUBLISHED_NAME = "published: OpenGraphGym-MG"
RATIO = "cover / best known"
PRESETS = {"paper": "preset `paper`", "default": "preset `default`"}

# What the paper states in its text (section 5).
LEARNED = {  # ratio before the first step and after 1,000, by training and test graphs
    ("ER-20", "ER-20"): (1.5, 1.1),
    ("BA-20", "BA-20"): (1.32, 1.17),
    ("BA-20", "BA-250"): (1.43, 1.2),
}
SOLVED = {  # seconds by one node a step, adaptive, and the ratio of the covers, by N
    750: (15.5, 6.2, 1.008),
    1500: (64.4, 18.6, 1.002),
    3000: (407.5, 109.9, 1.004),
}
CONVERGED = {1: 650, 2: 400, 4: 230, 8: 200}  # steps until a ratio of 1.08, by tau
V100 = (1, 6)  # GPUs of the times below
INFERENCE_SECONDS = {"ER 15,000, p = 0.15": (12.2, 1.7), "ER 21,000, p = 0.15": (23.8, 3.4)}
TRAINING_SECONDS = {"ER 15,000, p = 0.15": (161.4, 29.1), "ER 21,000, p = 0.15": (316.4, 54.4)}
SPEED_UP = 4.1  # of inference on a real-world graph, on 6 V100


@dataclass(frozen=True)
class Scale:
    """How much is computed.

    Attributes
    ----------
    steps, every, seeds
        Environment steps of a training run, and between its tests; runs a curve of fig6.
    tests, limit
        Test graphs of a kind, and seconds that each best known cover takes twice.
    small, large
        Nodes of the graphs of the learning curves.
    taus
        Gradient steps after an environment step.
    solved
        Nodes of the graphs that are solved for time.
    inferred, trained
        Nodes of the graphs on which steps are timed.
    engines
        By which they are.
    """

    steps: int = 1000
    every: int = 20
    seeds: int = 3
    tests: int = 10
    limit: float = 2.0
    small: int = 20
    large: int = 250
    taus: Sequence[int] = (1, 2, 4, 8, 16)
    solved: Sequence[int] = (750, 1500, 3000)
    inferred: int = 750
    trained: int = 250
    engines: Sequence[str] = ENGINES


QUICK = Scale(
    steps=20,
    every=5,
    seeds=1,
    tests=2,
    limit=0.5,
    large=45,
    taus=(1, 2),
    solved=(60,),
    inferred=60,
    trained=30,
    engines=("scalar",),
)


class Figures:
    """The paper's figures, each made by the method of its name.

    Parameters
    ----------
    folder
        What is kept between calls.
    scale
        How much is computed.
    records
        Files with times of steps.
    graph
        The file of the real-world graph.
    """

    def __init__(
        self, folder: Path, scale: Scale, records: Sequence[Path], graph: Path | None
    ) -> None:
        self._comm = start("cpu")
        self._folder, self._scale, self._graph = folder, scale, graph
        self._recorded = [each for path in records for each in read_step_times(path)]
        self._learning = LearningCurves(
            self._comm, folder, scale.steps, scale.every, scale.tests, scale.limit
        )

    def fig6(self) -> Figure:
        """Draw learning curves on both families."""
        curves, panels = [], {}
        for family in ("ER", "BA"):
            trained = Graphs(family, self._scale.small)
            tested = [trained, Graphs(family, self._scale.large)]
            names = [f"trained on {trained}, tested on {each}" for each in tested]
            panels |= dict.fromkeys(names, RATIO)
            for preset, label in PRESETS.items():
                seeds = range(self._scale.seeds)
                curves += self._learned(names, label, preset, trained, tested, seeds)
            for panel, each in zip(names, tested, strict=True):
                curves += self._levels(panel, each)
                published = LEARNED.get((str(trained), str(each)))
                if published:
                    curves.append(Curve(panel, PUBLISHED_NAME, (0, 1000), published, PUBLISHED))
        return Figure("Learning curves (Fig. 6)", "environment steps", panels, curves)

    def fig7(self) -> Figure:
        """Draw the time and the covers of whole solves, by the paper's policy and by ours."""
        trained = Graphs("ER", self._scale.small)
        tested = [trained, Graphs("ER", self._scale.large)]
        learned = str(self._learning.train("paper", trained, tested, seed=0) / LAST)
        policies = {"preset `paper`": learned, "shipped policy `mvc`": "mvc"}
        selections = ("one", "adaptive")
        methods = [
            Search(f"{label}, {select}", SolveSettings(policy=policy, select=select, reduce=False))
            for label, policy in policies.items()
            for select in selections
        ]
        nodes = list(self._scale.solved)
        graphs = [text for n in nodes for text in Graphs("ER", n).texts(1, seed=1)]
        rows = evaluate(self._comm, Evaluation("mvc", listed(graphs), methods))
        seconds, loss, quality = "time of a solve", "what adaptive loses", "covers"
        curves, covers = [], {}
        for name in (method.name for method in methods):
            own = [row for row in rows if row.method == name]
            covers[name] = np.array([row.objective for row in own])
            curves.append(Curve(seconds, name, nodes, [row.seconds for row in own]))
            curves.append(Curve(quality, name, nodes, [row.ratio for row in own]))
        for label in policies:
            one, adaptive = (f"{label}, {select}" for select in selections)
            curves.append(Curve(loss, adaptive, nodes, covers[adaptive] / covers[one]))
        *times, ratios = zip(*SOLVED.values(), strict=True)
        for values, select in zip(times, selections, strict=True):
            curves.append(
                Curve(seconds, f"{PUBLISHED_NAME}, {select}", list(SOLVED), values, PUBLISHED)
            )
        curves.append(Curve(loss, f"{PUBLISHED_NAME}, adaptive", list(SOLVED), ratios, PUBLISHED))
        return Figure(
            "Multiple-node selection (Fig. 7), ER p = 0.15",
            "nodes",
            {
                seconds: "seconds",
                loss: "cover / cover by one node a step",
                quality: "cover / smallest of these",
            },
            curves,
            logarithmic=(seconds,),
        )

    def fig8(self) -> Figure:
        """Draw learning curves by tau, on large graphs."""
        graphs = Graphs("ER", self._scale.large)
        curves, panels = [], {}
        for preset, label in PRESETS.items():
            panel = f"{label}, trained and tested on {graphs}"
            panels[panel] = RATIO
            for tau in self._scale.taus:
                name = f"tau = {tau}"
                curves += self._learned([panel], name, preset, graphs, [graphs], [0], tau)
            curves += self._levels(panel, graphs)
            name = f"{PUBLISHED_NAME}, tau = {', '.join(map(str, CONVERGED))} from the right"
            steps = list(CONVERGED.values())
            curves.append(Curve(panel, name, steps, [1.08] * len(steps), PUBLISHED))
        return Figure("Gradient steps (Fig. 8)", "environment steps", panels, curves)

    def fig9(self) -> Figure:
        """Draw the time of an inference step."""
        return self._by_ranks("Inference (Fig. 9)", INFERENCE, INFERENCE_SECONDS)

    def fig10(self) -> Figure | None:
        """Draw the speed-up of inference on a real-world graph; None without one."""
        if self._graph is None:
            return None
        panel, curves = "inference", []
        for (graph, engine), times in self._times(INFERENCE).items():
            if graph == self._graph.stem and 1 in times:
                speed_ups = [times[1] / seconds for seconds in times.values()]
                curves.append(Curve(panel, f"{graph}, {engine}", list(times), speed_ups))
        curves.append(Curve(panel, f"{PUBLISHED_NAME}, V100", V100, (1, SPEED_UP), PUBLISHED))
        return Figure("Real-world graphs (Fig. 10)", "ranks", {panel: "speed-up"}, curves)

    def fig11(self) -> Figure:
        """Draw the time of a training step."""
        return self._by_ranks("Training (Fig. 11)", TRAINING, TRAINING_SECONDS)

    def _learned(
        self,
        panels: Sequence[str],
        label: str,
        preset: str,
        trained: Graphs,
        tested: list[Graphs],
        seeds: Sequence[int],
        tau: int | None = None,
    ) -> list[Curve]:
        """Return a curve a panel, each of one kind of test graphs."""
        found = []
        for seed in seeds:
            run = self._learning.train(preset, trained, tested, seed, tau)
            steps, ratios = self._learning.ratios(run, tested)
            found.append(ratios)
        return [
            Curve(panel, label, steps, [ratios[i] for ratios in found])
            for i, panel in enumerate(panels)
        ]

    def _levels(self, panel: str, tested: Graphs) -> list[Curve]:
        rows = self._learning.compared(tested)
        return [
            Curve(panel, name, [0], [np.mean([row.ratio for row in rows[name]])], LEVEL)
            for name in COMPARED
        ]

    def _by_ranks(self, title: str, step: str, published: dict[str, tuple[float, ...]]) -> Figure:
        """Draw times on the paper's graphs, and on others of the kind that ranks have shared."""
        panel, curves = f"{step} step", []
        for (graph, engine), times in self._times(step).items():
            if graph in published or (graph.startswith("ER ") and len(times) > 1):
                ranks, seconds = list(times), list(times.values())
                curves.append(Curve(panel, f"{graph}, {engine} engine", ranks, seconds))
        for graph, both in published.items():
            name = f"{PUBLISHED_NAME}, {graph} on V100"
            curves.append(Curve(panel, name, V100, both, PUBLISHED))
        return Figure(title, "ranks", {panel: "seconds"}, curves, logarithmic=(panel,))

    def _times(self, step: str) -> dict[tuple[str, str], dict[int, float]]:
        """Return seconds by ranks, in their order, of each graph and engine."""
        found: dict[tuple[str, str], dict[int, float]] = {}
        times = [*self._recorded, *self._measured()]
        for each in sorted(times, key=lambda each: each.ranks):
            if each.step != step:
                continue
            if each.ranks > each.cores:
                say(
                    f"{each.graph}: {each.ranks} ranks on {each.cores} cores tell nothing: left out"
                )
            else:
                found.setdefault((each.graph, each.engine), {})[each.ranks] = each.seconds
        return found

    def _measured(self) -> list[StepTime]:
        """Return what is timed on this machine, once."""
        inferred, trained = self._scale.inferred, self._scale.trained
        wanted = [(INFERENCE, *_random(inferred)), (TRAINING, *_random(trained))]
        if self._graph is not None:
            wanted.append((INFERENCE, self._graph.stem, str(self._graph)))
        times = []
        for step, name, graph in wanted:
            folder = self._folder / "steps" / re.sub(r"\W+", "-", f"{step} {name}")
            times += measure_step_times(step, name, graph, self._scale.engines, folder)
        return times


def _random(n: int) -> tuple[str, str]:
    """Return what a random graph of n nodes is called, and how it is made."""
    return f"ER {n:,}, p = 0.15", f"er:n={n},p=0.15,seed=1"


FIGURES = ("fig6", "fig7", "fig8", "fig9", "fig10", "fig11")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "figures", nargs="*", metavar="FIGURE", help=f"{', '.join(FIGURES)} (default: all)"
    )
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--quick", action="store_true", help="small graphs, few steps: a trial")
    parser.add_argument(
        "--seeds", type=int, metavar="N", help="training runs a curve of fig6 (default: 3)"
    )
    parser.add_argument(
        "--records", type=Path, nargs="*", default=[], metavar="FILE", help="times of steps"
    )
    parser.add_argument("--graph", type=Path, metavar="FILE", help="real-world graph of fig10")
    parser.add_argument(
        "--summary", type=Path, metavar="FILE", help="JSON file for some points of every curve"
    )
    args = parser.parse_args()
    if unknown := set(args.figures) - set(FIGURES):
        parser.error(f"no figure {', '.join(unknown)}; choose from {', '.join(FIGURES)}")
    try:
        check_plot()
        scale = QUICK if args.quick else Scale()
        if args.seeds is not None:
            scale = replace(scale, seeds=args.seeds)
        figures = Figures(args.output, scale, args.records, args.graph)
        points = {}
        for name in args.figures or FIGURES:
            figure = getattr(figures, name)()
            if figure is None:
                say(f"{name} needs --graph: left out")
                continue
            figure.write(args.output / name)
            points[name] = figure.sample()
            say(f"{args.output / name}.png")
        if args.summary is not None:
            with write_whole(args.summary) as temporary:
                write_record(temporary, points)
    except OggError as error:
        parser.exit(error.exit_code, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    main()
