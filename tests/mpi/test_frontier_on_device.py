"""The frontier engine's kernel, run on a CPU by emulation, on every number of ranks."""

import pytest
from cuda_emulation import ApartDevice, emulated
from frontier_device_checks import FrontierChecks


class TestByEmulation(FrontierChecks):
    @pytest.fixture(params=["in order", "in any order"])
    def on_device(self, comm, request):
        """Threads run in their own order, or in one drawn anew for each launch."""
        shuffled = None if request.param == "in order" else comm.rank
        return emulated(comm, ApartDevice(shuffled))
