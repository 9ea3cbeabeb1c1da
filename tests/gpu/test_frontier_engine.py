"""The frontier engine on a GPU does what it does on a CPU by emulation."""

import pytest
from frontier_device_checks import FrontierChecks

from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.device import CUDADevice, visible_gpus

if visible_gpus() == 0:
    pytest.skip("needs an NVIDIA GPU and CuPy", allow_module_level=True)


class TestOnGPU(FrontierChecks):
    @pytest.fixture(scope="class")
    def on_device(self):
        return Communicator(CUDADevice(0))

    @pytest.fixture
    def alone(self):
        return Communicator()
