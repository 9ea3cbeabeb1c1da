"""``ogg-hpc actors learner``: learners alone, whose actors come from outside the job."""

from __future__ import annotations

import argparse
from typing import Any

from ogg_hpc.cli.actors.learning import add_learning_options, learn

_DESCRIPTION = """\
Learn a policy from remote actors alone: as `ogg-hpc actors run`, but all ranks learn. Actors join
and leave at any time by `ogg-hpc actors actor`; the run says how, and RUN/controllers/NODE.json
holds what they need to connect."""

_EXAMPLES = """\
examples:
  ogg-hpc actors learner cartpole --output runs/pole
  ogg-hpc actors learner cartpole --listen 0.0.0.0:7000 --resume runs/pole"""


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "learner",
        help="learn a policy from remote actors alone",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--listen",
        metavar="ADDRESS:PORT",
        default="127.0.0.1:0",
        help="where actors connect, on each node; port 0 for a free one. Short for --set "
        "remote.listen=ADDRESS:PORT (default: 127.0.0.1:0)",
    )
    add_learning_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Learn (collective)."""
    return learn(args, ["roles.local=false", f"remote.listen={args.listen}"])
