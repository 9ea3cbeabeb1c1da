"""Training runs on random graphs, and how good they are on test graphs as they go on."""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.families import parse_family
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.files import write_whole
from ogg_hpc.runtime.run_folder import CHECKPOINTS, RECORD
from ogg_hpc.search.collection import listed
from ogg_hpc.search.evaluate import Evaluation, Row, evaluate
from ogg_hpc.search.evaluation_tables import rows_from_csv, rows_to_csv
from ogg_hpc.search.methods import Search, exact_method
from ogg_hpc.search.settings import SolveSettings
from ogg_hpc.training.run import train
from ogg_hpc.training.settings import GraphSource, load_train_settings

FAMILIES = {"ER": "er:n={nodes},p=0.15", "BA": "ba:n={nodes},d=4"}
# Methods that learning curves are compared with; a run divides by what the second one finds.
GREEDY = "maximum degree"
COMPARED = {
    "shipped policy `mvc`": "mvc",
    GREEDY: "max-degree",
    "minimum degree": "min-degree",
    "inverse degree 1.25": "inverse-degree",
}


@dataclass(frozen=True)
class Graphs:
    """Graphs of one family and size.

    Attributes
    ----------
    family
        A key of `FAMILIES`.
    nodes
        How many nodes each has.
    """

    family: str
    nodes: int

    def __str__(self) -> str:
        return f"{self.family}-{self.nodes}"

    def texts(self, count: int, seed: int) -> list[str]:
        """Return so many graphs, each as a family of one graph with a seed of its own."""
        text = FAMILIES[self.family].format(nodes=self.nodes)
        return [f"{text},seed={seed + i}" for i in range(count)]

    def source(self, count: int, seed: int) -> GraphSource:
        """Return so many graphs as one source of a training run."""
        return _source(f"{FAMILIES[self.family].format(nodes=self.nodes)},{count=},{seed=}")


@dataclass(frozen=True)
class LearningCurves:
    """Training runs and best known covers, kept in a folder.

    Attributes
    ----------
    comm
        This process alone.
    folder
        What is there is not computed again, a training run that has been cut is continued.
    steps
        Environment steps of each run.
    every
        Environment steps between two tests.
    tests
        Test graphs of a family and size.
    limit
        Seconds, each, that CP-SAT and the local search have for a best known cover.
    """

    comm: Communicator
    folder: Path
    steps: int
    every: int
    tests: int
    limit: float

    def train(
        self, preset: str, graphs: Graphs, tested: list[Graphs], seed: int, tau: int | None = None
    ) -> Path:
        """Return the folder of a finished training run.

        Parameters
        ----------
        preset
            A preset of ``ogg-hpc train``.
        graphs
            What it is trained on, instead of the preset's own.
        tested
            What it is tested on.
        seed
            Of the run.
        tau
            Gradient steps after an environment step, where not as in the preset.
        """
        name = f"{preset}-{graphs}{'' if tau is None else f'-tau-{tau}'}-seed-{seed}"
        folder = self.folder / "runs" / name
        overrides = [
            f"seed={seed}",
            f"learning.steps={self.steps}",
            f"output.evaluate_every={self.every}",
            f"output.checkpoint_every={min(100, self.steps)}",
            "output.tensorboard=false",
            *([] if tau is None else [f"learning.tau={tau}"]),
        ]
        # A test graph a source: a run notes the mean ratio of each source.
        settings = replace(
            load_train_settings(preset, overrides),
            # An episode has about as many steps as the graph has nodes: few large ones are used.
            train=(graphs.source(count=1000 if graphs.nodes < 100 else 100, seed=1),),
            validation=tuple(_source(text) for each in tested for text in self._tests(each)),
        )
        folder.mkdir(parents=True, exist_ok=True)
        # A finished run makes no step: it is checked that its settings are these.
        resume = (folder / CHECKPOINTS).exists()
        say(f"{'resuming' if resume else 'training'} {folder}")
        with open(folder / "log", "a") as log, contextlib.redirect_stderr(log):
            train(self.comm, settings, folder, resume=resume)
        return folder

    def ratios(self, run: Path, tested: list[Graphs]) -> tuple[list[int], NDArray[np.float64]]:
        """Return the steps at which a run was tested, and its ratios to the best known covers.

        Returns
        -------
        steps : list of int
            Environment steps.
        ratios : (len(tested), steps) float64
            Means over the test graphs.
        """
        record = json.loads((run / RECORD).read_text(encoding="utf-8"))
        greedy = [row.ratio for each in tested for row in self.compared(each)[GREEDY]]
        kinds = record["references"].values()
        divided = [
            1.0 if kind == "optimum" else ratio for kind, ratio in zip(kinds, greedy, strict=True)
        ]
        metrics = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        found = {
            line["step"]: list(line["ratio"].values())
            for line in map(json.loads, metrics)
            if "ratio" in line
        }
        ratios = np.array(list(found.values())) * divided
        means = ratios.reshape(len(found), len(tested), self.tests).mean(axis=2)
        return list(found), means.T

    def compared(self, graphs: Graphs) -> dict[str, list[Row]]:
        """Return what the methods of `COMPARED` find on the test graphs, by method.

        ``Row.best`` is the best known cover: the optimum where CP-SAT proves it, else the
        smallest that is found, also by a local search.
        """
        methods = [
            *(
                Search(name, SolveSettings(policy=policy, select="one", reduce=False))
                for name, policy in COMPARED.items()
            ),
            exact_method("mvc", self.limit),
            Search("local search", SolveSettings(policy="mvc", polish=self.limit)),
        ]
        tests, path = self._tests(graphs), self.folder / "best-known" / f"{graphs}.csv"
        rows = rows_from_csv(path.read_text(encoding="utf-8")) if path.exists() else []
        if [row.family for row in rows] != [text for text in tests for _ in methods]:
            say(f"best known covers of {graphs}")
            rows = evaluate(self.comm, Evaluation("mvc", listed(tests), methods))
            with write_whole(path) as temporary:
                temporary.write_text(rows_to_csv(rows), encoding="utf-8")
        return {
            method.name: [row for row in rows if row.method == method.name] for method in methods
        }

    def _tests(self, graphs: Graphs) -> list[str]:
        return graphs.texts(self.tests, seed=1000)


def _source(text: str) -> GraphSource:
    family = parse_family(text)
    own = dict(family.parameters)
    return GraphSource(
        family=family.generator,
        nodes=int(own.pop("n")),
        count=family.count,
        seed=family.seed,
        **own,  # type: ignore[arg-type]
    )


def say(text: str) -> None:
    """Tell the user what is being done."""
    print(text, file=sys.stderr, flush=True)
