"""Entry point of ``ogg-hpc``: parse, start the subcommand, turn errors into exit codes."""

from __future__ import annotations

import argparse
import atexit
import errno
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NoReturn

from ogg_hpc.cli import (
    actors,
    data,
    embed,
    embed_eval,
    embed_export,
    evaluate,
    info,
    scale,
    solve,
    train,
    verify,
)
from ogg_hpc.errors import InterruptionError, OggError
from ogg_hpc.runtime.launch import end_job, promised_rank, promised_size, start


class _Parser(argparse.ArgumentParser):
    """A parser that speaks on rank 0 alone: all ranks see the same command line."""

    def print_help(self, file: Any = None) -> None:
        if promised_rank() == 0:
            super().print_help(file)

    def error(self, message: str) -> NoReturn:
        if promised_rank() != 0:
            sys.exit(2)
        super().error(message)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all subcommands."""
    parser = _Parser(
        prog="ogg-hpc",
        description="Learned graph optimisation on supercomputers. Runs on one rank as it is, and "
        "on P ranks under mpiexec -n P, srun or jsrun.",
    )
    subcommands = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", required=True
    )
    for command in (
        info,
        data,
        solve,
        verify,
        train,
        evaluate,
        embed,
        embed_eval,
        embed_export,
        actors,
        scale,
    ):
        command.add_parser(subcommands)
    return parser


def _run(args: argparse.Namespace) -> int:
    code: int
    if not getattr(args, "parallel", False) and promised_size() is not None:
        # A command for one process does its work once, whatever it is started under.
        code = start("cpu").on_root(lambda: args.run(args))
    else:
        with ExitStack() as args.at_end:
            code = args.run(args)
    return code


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    # Or the interpreter looks for garbage at its end, seconds long where torch has been loaded.
    atexit.register(gc.freeze)
    try:
        try:
            code = _run(build_parser().parse_args(arguments))
        except SystemExit:  # of the parser, which may have printed help
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except OggError as error:
        code = end_job(error)
    except KeyboardInterrupt:
        code = end_job(InterruptionError("interrupted"))
    except MemoryError as error:
        message = str(error).rstrip(".") or "more than the host allows"
        code = end_job(OggError(f"out of memory: {message}; use more memory or a smaller graph"))
    except BrokenPipeError:  # the reader of our output has left
        _discard_output()
        code = 0
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        # Of our files `writing` tells which cannot be written: this is the output.
        _discard_output()
        code = end_job(OggError(f"the output cannot be written: {error.strerror}"))
    sys.exit(code)


def _discard_output() -> None:
    """Let the interpreter not fail again at its end, when it flushes what is left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
