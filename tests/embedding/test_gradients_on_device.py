"""The kernels of gradients, run on a CPU by emulation."""

import pytest
from cuda_emulation import ApartDevice, emulated
from gradient_device_checks import GradientChecks

from ogg_hpc.runtime.communicator import Communicator


class TestByEmulation(GradientChecks):
    @pytest.fixture(params=["in order", "in any order"])
    def on_device(self, request):
        """Threads run in their own order, or in one drawn anew for each launch."""
        return emulated(Communicator(), ApartDevice(None if request.param == "in order" else 1))
