"""``ogg-hpc actors run``: actors and learners in one job."""

from __future__ import annotations

import argparse
from typing import Any

from ogg_hpc.cli.actors.learning import add_learning_options, learn

_DESCRIPTION = """\
Learn a policy from environments that actors step: by proximal policy optimisation, or by deep
Q-learning from graph problems. CONFIG is a TOML file, or the name of a preset such as `cartpole`.

On one rank the learner steps the environments itself, in as many processes as there are cores.
Under mpiexec, srun or jsrun some ranks learn, one for each GPU or else one a node, and the others
act, each with environment processes of its own. Actors outside the job may join and leave at any
time where remote.listen says so.

A signal to the learners (SIGUSR1, SIGUSR2, SIGURG, SIGTERM, SIGINT) stops all ranks after the
present round: a checkpoint and the marker RUN/UNFINISHED are written, and the exit code is 75. A
run that ends by itself or fails leaves no marker, so a jobscript submits itself again while there
is one. `ogg-hpc actors run CONFIG --resume RUN` is all that it needs to run."""

_EXAMPLES = """\
examples:
  ogg-hpc actors run cartpole
  mpiexec -n 3 ogg-hpc actors run cartpole --output runs/pole --set seed=1
  ogg-hpc actors run --environment mine.py:Maze --set environment.options.size=8
  srun ogg-hpc actors run mine.toml --resume runs/long
  ogg-hpc actors run --settings"""


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "run",
        help="learn a policy, with actors and learners in one job",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_learning_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Learn (collective)."""
    return learn(args, [])
