"""``ogg-hpc actors actor``: environments outside the job, for the learners of a controller."""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path
from typing import Any

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.signals import noted_signals

_DESCRIPTION = """\
Step environments for a run, from anywhere that can reach the controller of one of its nodes. The
run tells which environment, policy and seeds. It may be started before the run, and at any time;
it leaves when the run is finished. When the controller is gone it tries again, after pauses that
grow.

A signal (SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGURG) lets its environments answer after their next
step; then it leaves, with exit code 0. Exit code 2 means that it was refused, and would be again:
a wrong token, another version of ogg-hpc, another environment."""

_EXAMPLES = """\
examples:
  ogg-hpc actors actor --connect runs/first/controllers/node7.json --processes 16
  ogg-hpc actors actor --connect node7:50051 --token-file token --certificate node7.crt
  srun --ntasks-per-node 1 ogg-hpc actors actor --connect runs/first/controllers/node7.json"""


def add_parser(commands: Any) -> None:
    """Add the subcommand to those of ``actors``."""
    parser = commands.add_parser(
        "actor",
        help="step environments for a run, from outside its job",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--connect",
        metavar="HOST:PORT|FILE",
        required=True,
        help="the controller, or the file RUN/controllers/NODE.json, which tells all that is "
        "needed where both sides see it",
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        type=Path,
        help="secret of the run, a copy of RUN/controllers/token (default: as FILE tells)",
    )
    parser.add_argument(
        "--certificate",
        metavar="PEM",
        type=Path,
        help="certificate to trust, a copy of RUN/controllers/NODE.crt (default: as FILE tells; "
        "without FILE those that this system trusts, and no TLS on this machine)",
    )
    parser.add_argument(
        "--processes",
        metavar="K",
        type=int,
        default=0,
        help="environment processes; 0 = cores that this process may use (default: 0)",
    )
    parser.add_argument(
        "--environments",
        metavar="E",
        type=int,
        default=4,
        help="environments that a process steps together (default: 4)",
    )
    parser.add_argument(
        "--lease",
        metavar="SECONDS",
        type=float,
        default=5.0,
        help="a controller without a sign of life for so long is gone (default: 5)",
    )
    parser.add_argument(
        "--pause",
        metavar="SECONDS",
        type=float,
        default=0.5,
        help="first pause between attempts; each is drawn at random, and their limit doubles up "
        "to 60 times this (default: 0.5)",
    )
    parser.add_argument(
        "--give-up-after",
        metavar="SECONDS",
        type=float,
        default=600.0,
        help="end with exit code 2 after so long without a controller; 0 = never (default: 600)",
    )
    # Each process is a host of its own, whatever it is started under.
    parser.set_defaults(run=run, parallel=True)


def run(args: argparse.Namespace) -> int:
    """Be a host; return 0."""
    with noted_signals() as came:
        from ogg_hpc.actors.gateway.finding import Controller
        from ogg_hpc.actors.host import Host
        from ogg_hpc.actors.remote_host import Patience, RemoteHost
        from ogg_hpc.runtime.extras import check_actors

        check_actors()
        for name in ("lease", "pause"):
            if not 0 < getattr(args, name) < math.inf:
                raise SettingsError(f"--{name} must be positive and finite")
        if args.processes < 0 or args.environments < 1 or args.give_up_after < 0:
            raise SettingsError(
                "--processes and --give-up-after must not be negative, --environments must be "
                "at least 1"
            )
        controller = Controller(args.connect, args.token_file, args.certificate)
        patience = Patience(args.lease, args.pause, 60 * args.pause, args.give_up_after)
        processes = args.processes or len(os.sched_getaffinity(0))
        with Host(processes, args.environments) as host:
            RemoteHost(host, controller, lambda: came() is not None, patience).run()
    return 0
