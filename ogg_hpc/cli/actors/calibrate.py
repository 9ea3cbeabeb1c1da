"""``ogg-hpc actors calibrate``: how many actors are worth their cores, measured on the spot."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from ogg_hpc.cli.scale_actors import add_study_options, measure, show

_DESCRIPTION = """\
Run CONFIG for a few rounds with few environment processes, here and now, and tell from them how
many would be best: a round with n of them takes T(n) = T_learn + T_collect / n + c n. Where they
share cores with one another, what is measured is this machine, not a larger one: measure with no
more processes than there are cores. `ogg-hpc scale actors` makes a study with a plot."""

_EXAMPLES = """\
examples:
  ogg-hpc actors calibrate cartpole
  ogg-hpc actors calibrate mine.toml --actors 1 4 16 --set ppo.round_steps=4096
  ogg-hpc actors calibrate mine.toml --hosts remote"""


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "calibrate",
        help="measure a few rounds and tell how many actors are best",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_study_options(parser, actors=[1, 2], seeds=1, rounds=3)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure and tell."""
    from ogg_hpc.actors.throughput_model import fit_throughput

    with tempfile.TemporaryDirectory() as folder:
        points = measure(args, Path(folder))
    show(points, fit_throughput(points))
    return 0
