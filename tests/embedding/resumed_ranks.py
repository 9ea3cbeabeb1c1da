"""Run under two ranks: embed a graph with stops, on one rank and on two in turn.

Usage: resumed_ranks.py GRAPH FOLDER. Leaves embeddings in FOLDER, named after what was done, and
``said.json``: what was said at stops and errors.
"""

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from ogg_hpc.embedding import trainer
from ogg_hpc.embedding.run import embed
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.strategies.strategy import Strategy
from ogg_hpc.errors import InputError, StoppedError
from ogg_hpc.runtime.launch import start
from ogg_hpc.runtime.signals import noted_signals

SETTINGS = EmbedSettings(
    dim=8, walks=2, walk_length=10, window=3, epochs=3, batch_pairs=300, checkpoint_minutes=0,
    learning_rate=0.05,
)  # fmt: skip
METHODS = {
    "deepwalk": SETTINGS,
    "line": replace(SETTINGS, method="line", samples=900, epochs=2),
    "rotate": replace(SETTINGS, strategy="rotate", parts=4),
}
WINDOWS = 4  # before a stop


def part(comm, graph, output, settings, signalled=None):
    """Run to the end, or to a signal that one rank gets; return what is said then."""
    train, calls = trainer.Trainer.train, iter(range(1000))

    def counted(self, *arguments):
        if comm.rank == signalled and next(calls) == WINDOWS:
            os.kill(os.getpid(), signal.SIGURG)
        return train(self, *arguments)

    trainer.Trainer.train = counted
    try:
        with noted_signals() as stop:
            embed(comm, graph, settings, output, resume=True, stop=stop)
        return None
    except StoppedError as error:
        return str(error)
    finally:
        trainer.Trainer.train = train


def full_disk(comm, graph, output, settings):
    """Fail to write a checkpoint, on rank 0; return what all ranks say, and then go on."""
    write = np.lib.format.write_array_header_1_0

    def fail(stream, header):
        raise OSError(28, "No space left on device")

    np.lib.format.write_array_header_1_0 = fail
    try:
        embed(comm, graph, settings, output, resume=True)
        said = None
    except InputError as error:
        said = str(error)
    finally:
        np.lib.format.write_array_header_1_0 = write
    embed(comm, graph, settings, output, resume=True)
    return comm.gather_objects(said)


def main(graph, folder):
    Strategy.window_pairs = 600
    world = start("cpu")
    alone = world.split(world.rank)
    said = {}
    for name, settings in METHODS.items():
        simple = served = settings
        if settings.strategy != "rotate":  # which goes on with itself alone
            simple = replace(settings, strategy="simple")
            served = replace(settings, servers=1)
        if world.rank == 0:
            embed(alone, graph, settings, folder / f"{name} 1.h5")
            said[f"{name} 1-2"] = part(alone, graph, folder / f"{name} 1-2.h5", settings, 0)
        world.barrier()
        part(world, graph, folder / f"{name} 1-2.h5", simple)
        embed(world, graph, settings, folder / f"{name} 2.h5")
        for output, rank, last in (("2-1", 1, alone), ("2-2", 0, world)):
            path = folder / f"{name} {output}.h5"
            said[f"{name} {output}"] = part(world, graph, path, settings, rank)
            if last is world or world.rank == 0:
                part(last, graph, path, settings)
            world.barrier()
        part(world, graph, folder / f"{name} served.h5", served)
        said[f"{name} full"] = full_disk(world, graph, folder / f"{name} full.h5", settings)
    world.on_root(lambda: (folder / "said.json").write_text(json.dumps(said)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
