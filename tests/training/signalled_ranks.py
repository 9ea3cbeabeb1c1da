"""Run under two ranks: train while one rank or the other gets a signal.

Usage: signalled_ranks.py FOLDER, which holds ``documents.json``: settings by method. For each
method there will be the runs ``undisturbed`` and ``run``, and ``stops.json``: signal and step of
each stop of the latter. At the end ``ogg-hpc train`` gets a signal while it starts.
"""

import json
import os
import signal
import sys
from pathlib import Path

from ogg_hpc.cli import train as command
from ogg_hpc.cli.main import main
from ogg_hpc.errors import StoppedError
from ogg_hpc.runtime.launch import start
from ogg_hpc.runtime.signals import noted_signals
from ogg_hpc.settings import build
from ogg_hpc.training import run, settings

SIGNALS = [(1, 4, signal.SIGUSR1), (0, 7, signal.SIGURG), (1, 9, signal.SIGINT), (0, -1, None)]


def signalled(method, step, number):
    """Return a method that gets a signal within a step."""

    class Signalled(method):
        def advance(self, at):
            if at == step:
                os.kill(os.getpid(), number)
            return super().advance(at)

    return Signalled


def train_with_signals(comm, chosen, folder):
    stops, method = [], run.METHODS[chosen.method]
    run.train(comm, chosen, folder / "undisturbed")
    for rank, step, number in SIGNALS:
        if comm.rank == rank:
            run.METHODS[chosen.method] = signalled(method, step, number)
        try:
            with noted_signals() as stop:
                run.train(comm, chosen, folder / "run", resume=True, stop=stop)
            stops.append(None)
        except StoppedError:
            marker = json.loads((folder / "run" / "UNFINISHED").read_text())
            stops.append([marker["signal"], marker["step"]])
        comm.barrier()
        comm.on_root(lambda: (folder / "run" / "UNFINISHED").unlink(missing_ok=True))
        run.METHODS[chosen.method] = method
    comm.on_root(lambda: (folder / "stops.json").write_text(json.dumps(stops)))


def train_with_a_signal_at_the_start(comm, chosen, folder):
    def start_ranks(args):
        if comm.rank == 1:
            os.kill(os.getpid(), signal.SIGTERM)
        return comm

    command.start_ranks = start_ranks
    settings.load_train_settings = lambda *_: chosen
    main(["train", "chosen", "--resume", str(folder / "at start")])


if __name__ == "__main__":
    comm, folder = start("cpu"), Path(sys.argv[1])
    documents = json.loads((folder / "documents.json").read_text())
    made = {name: build(settings.TrainSettings, each) for name, each in documents.items()}
    for name, chosen in made.items():
        train_with_signals(comm, chosen, folder / name)
    first = next(iter(made))
    train_with_a_signal_at_the_start(comm, made[first], folder / first)
