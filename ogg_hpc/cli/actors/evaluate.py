"""``ogg-hpc actors evaluate``: what a policy is worth that a run has saved."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ogg_hpc.cli.options import console, print_json
from ogg_hpc.errors import SettingsError

_DESCRIPTION = """\
Play episodes by a saved policy, in this process and without torch, and tell returns, lengths, and
what the environment says of each episode, such as the share of valid molecules and how many are
distinct. Actions are drawn as in the run, or are the most probable ones with --greedy. Episode i
is the same in each evaluation with the same seed."""

_EXAMPLES = """\
examples:
  ogg-hpc actors evaluate runs/cartpole
  ogg-hpc actors evaluate runs/molecules-qed --episodes 256 --csv molecules.csv
  ogg-hpc actors evaluate runs/cartpole --greedy --seed 7 --json"""


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "evaluate",
        help="play episodes by a saved policy",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "policy", metavar="RUN", help="folder of a finished run, or a policy.safetensors"
    )
    parser.add_argument(
        "--episodes", type=int, default=50, metavar="N", help="how many to play (default: 50)"
    )
    parser.add_argument(
        "--greedy", action="store_true", help="take the most probable action (default: draw one)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="seed of the episodes (default: 0)"
    )
    parser.add_argument(
        "--csv",
        metavar="FILE",
        help="write a line an episode, with all that it tells (default: no)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print all episodes and the summary as one JSON object"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play and tell."""
    from ogg_hpc.runtime.extras import check_actors

    if args.episodes < 1:
        raise SettingsError("--episodes must be at least 1")
    check_actors()

    from ogg_hpc.actors.evaluation import Player, summary
    from ogg_hpc.actors.folder import POLICY
    from ogg_hpc.actors.policy_file import load_policy

    path = Path(args.policy)
    player = Player(load_policy(path / POLICY if path.is_dir() else path), args.seed, args.greedy)
    try:
        episodes = list(player.episodes(args.episodes))
    finally:
        player.close()
    found = summary(episodes)
    if args.csv:
        _write_csv(Path(args.csv), episodes)
    if args.json:
        print_json({**found, "greedy": args.greedy, "seed": args.seed, "played": episodes})
    else:
        _print(found)
    return 0


def _print(found: dict[str, Any]) -> None:
    from rich.table import Table

    columns = ("mean", "min", "max", "share", "distinct", "of")
    table = Table(f"{found.pop('episodes')} episodes", *columns, box=None)
    for name, values in found.items():
        table.add_row(name, *(f"{values[key]:g}" if key in values else "" for key in columns))
    console().print(table)


def _write_csv(path: Path, episodes: list[dict[str, Any]]) -> None:
    import csv

    from ogg_hpc.runtime.files import write_whole

    names = list(dict.fromkeys(name for each in episodes for name in each))
    with write_whole(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as out:
        rows = csv.DictWriter(out, names)
        rows.writeheader()
        rows.writerows(episodes)
