"""Let one test suite run on one rank or on many.

Without a launcher these are ordinary tests and nothing of MPI is imported. Under one, the ranks
run the same tests side by side and agree on each outcome: a failure on any rank is a failure,
rank 0 reports it with the rank's number, and if some rank cannot hear of it because it waits
inside a collective, the job is aborted.
"""

import faulthandler
import functools
import os
import sys
import time
from collections.abc import Callable

import numpy as np
import pytest

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.abort import abort
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.launch import promised_size, start

PATIENCE = 2.0  # seconds a failed rank waits for the others
LIMIT = 120.0  # seconds a test may take


@functools.cache
def _world() -> Communicator:
    return start(device="cpu")


@pytest.fixture(scope="session")
def comm() -> Communicator:
    """All ranks of the job."""
    return _world()


@pytest.fixture
def alone() -> Communicator:
    """A communicator of this rank alone, for what a result should be."""
    return Communicator()


@pytest.fixture(scope="session")
def random_graph() -> Callable[..., Graph]:
    """Make a random graph; weights have both signs."""

    def make(n: int, seed: int, weighted: bool = False) -> Graph:
        generator = np.random.default_rng([n, seed])
        matrix = np.triu(generator.random((n, n)) < 0.35, 1)
        weights = np.where(matrix, generator.standard_normal((n, n)), 0.0)
        weights = weights + weights.T
        rows, columns = np.nonzero(weights)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
        return Graph(
            offsets.astype(np.int64),
            columns.astype(np.int32),
            weights[rows, columns] if weighted else None,
        )

    return make


@pytest.hookimpl(trylast=True)  # after the terminal reporter
def pytest_configure(config):
    _, ranks = promised_size() or ("", 1)
    if ranks == 1:
        return
    rank = _world().rank
    config.pluginmanager.register(_CollectiveVerdict(), "collective verdict")
    if rank != 0:
        config.pluginmanager.unregister(name="terminalreporter")
        silent = pytest.TerminalReporter(config, open(os.devnull, "w"))  # noqa: SIM115
        config.pluginmanager.register(silent, "terminalreporter")


class _CollectiveVerdict:
    def __init__(self):
        from mpi4py import MPI

        # Of its own, so that the verdict never meets a collective of a test.
        self._mpi = MPI.COMM_WORLD.Dup()
        self._stderr = os.dup(2)  # pytest redirects 2 while a test runs

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        faulthandler.dump_traceback_later(LIMIT, exit=True, file=self._stderr)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if not self._any_failed(report):
            return report
        texts = self._mpi.allgather(self._text(report) if report.failed else "")
        report.outcome = "failed"
        report.longrepr = "\n\n".join(text for text in texts if text)
        return report

    def pytest_collectreport(self, report):
        if report.failed:
            self._abort(report)

    def pytest_internalerror(self, excrepr):
        self._abort(excrepr)

    def _any_failed(self, report):
        failed = np.zeros(1, np.int64)
        request = self._mpi.Iallreduce(np.array([int(report.failed)]), failed)
        patience_ends = time.monotonic() + PATIENCE
        while not request.Test():
            if report.failed and time.monotonic() > patience_ends:
                self._abort(report)
            time.sleep(0.0005)
        return failed[0] > 0

    def _text(self, report):
        prefix = f"[rank {self._mpi.rank}] "
        parts = [getattr(report, "longreprtext", "") or str(report)]
        parts += [f"{title}\n{text}" for title, text in getattr(report, "sections", ())]
        return "\n".join(prefix + line for part in parts for line in part.splitlines())

    def _abort(self, report):
        where = getattr(report, "nodeid", "pytest")
        print(f"{self._text(report)}\nrank {self._mpi.rank} failed in {where}", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        abort(self._mpi, 1)
