"""``ogg-hpc actors controller``: the gateway of a node for hosts from outside the job."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

_DESCRIPTION = """\
Let hosts from outside the job reach the learners of this node. The first learner of a node starts
this command itself where remote.listen is set; by hand it is started on the learners' node, before
them or after, and ends when the run is finished."""

_EXAMPLES = """\
examples:
  ogg-hpc actors controller runs/first
  ogg-hpc actors controller runs/first --listen 0.0.0.0:50051 --certificate c.pem --key c.key"""


def add_parser(commands: Any) -> None:
    """Add the subcommand to those of ``actors``."""
    parser = commands.add_parser(
        "controller",
        help="let hosts from outside the job reach the learners of this node",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="RUN", type=Path, help="folder of the run")
    parser.add_argument(
        "--listen",
        metavar="ADDRESS:PORT",
        default="127.0.0.1:0",
        help="where to listen; 0.0.0.0 for all networks, port 0 for a free port, which "
        "RUN/controllers/NODE.json tells (default: 127.0.0.1:0)",
    )
    parser.add_argument(
        "--learners",
        metavar="N",
        type=int,
        default=1,
        help="learners of this node; hosts are shared out when all are there (default: 1)",
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="secret that hosts must know, made if there is none (default: RUN/controllers/token)",
    )
    parser.add_argument(
        "--certificate",
        metavar="PEM",
        help="TLS certificate chain (default: one made for this node, where it listens to others)",
    )
    parser.add_argument("--key", metavar="PEM", help="its private key (default: none)")
    parser.add_argument(
        "--lease",
        metavar="SECONDS",
        type=float,
        default=5.0,
        help="a host without a sign of life for so long is gone (default: 5)",
    )
    parser.add_argument(
        "--parent",
        metavar="PID",
        type=int,
        default=0,
        help="end with this process, which has started this one (default: no)",
    )
    # Each process is a controller of its own, whatever it is started under.
    parser.set_defaults(run=run, parallel=True)


def run(args: argparse.Namespace) -> int:
    """Be a controller; return 0."""
    from ogg_hpc.actors.gateway.options import controller_options
    from ogg_hpc.actors.gateway.server import serve
    from ogg_hpc.actors.settings import RemoteSettings

    remote = RemoteSettings(
        args.listen, args.token_file or "", args.certificate or "", args.key or ""
    )
    serve(controller_options(args.folder, remote, args.learners, args.lease, args.parent))
    return 0
