import json
import time
from contextlib import contextmanager, suppress
from typing import ClassVar

import pytest

from ogg_hpc.runtime.clock import Clock, over_ranks
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.device import CPUDevice


@pytest.fixture
def now(monkeypatch):
    """Set the time that clocks read."""
    times = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: times[0])

    def move(seconds):
        times[0] += seconds

    return move


def test_phases_add_up(now):
    clock = Clock(Communicator(), "read", "solve", "write")
    for seconds in (1.0, 2.0):
        with clock("read"):
            now(seconds)
    with clock("solve"):
        now(4)
    now(8)
    assert clock.report() == {"read": 3, "solve": 4, "write": 0, "total": 15}


def test_a_phase_inside_another_counts_once(now):
    clock = Clock(Communicator(), "learn", "average")
    with clock("learn"):
        now(1)
        with clock("average"):
            now(2)
        now(4)
        with clock("average"):
            now(8)
    assert clock.report() == {"learn": 5, "average": 10, "total": 15}


def test_an_error_ends_a_phase(now):
    clock = Clock(Communicator(), "read")
    with suppress(OSError), clock("read"):
        now(3)
        raise OSError
    assert clock.report()["read"] == 3


def test_phases_are_ranges_of_the_device():
    class Device(CPUDevice):
        said: ClassVar[list[str]] = []

        @contextmanager
        def phase(self, name):
            self.said.append(f"begin {name}")
            yield
            self.said.append(f"end {name}")

    clock = Clock(Communicator(Device()), "learn", "average")
    with clock("learn"), clock("average"):
        pass
    assert Device.said == ["begin learn", "begin average", "end average", "end learn"]


def test_unknown_phase_is_a_mistake():
    with pytest.raises(KeyError), Clock(Communicator(), "read")("write"):
        pass


def test_over_one_rank_all_are_its_own():
    assert over_ranks(Communicator(), {"read": 2.0, "total": 3.0}) == {
        "read": {"min": 2, "median": 2, "max": 2},
        "total": {"min": 3, "median": 3, "max": 3},
    }


def test_over_three_ranks(run_ranks, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import json\n"
        "from ogg_hpc.runtime.clock import over_ranks\n"
        "from ogg_hpc.runtime.launch import start\n"
        "comm = start('cpu')\n"
        "spread = over_ranks(comm, {'read': [1, 7, 3][comm.rank], 'solve': [4, 4, 5][comm.rank]})\n"
        "if comm.rank == 2: print(json.dumps(spread))\n"
    )
    assert json.loads(run_ranks(3, [script]).stdout) == {
        "read": {"min": 1, "median": 3, "max": 7},
        "solve": {"min": 4, "median": 4, "max": 5},
    }
