"""The scalar engine's kernels on a GPU do what they do on a CPU by emulation."""

import pytest
from scalar_device_checks import ScalarEngineChecks

from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.device import CUDADevice, visible_gpus

if visible_gpus() == 0:
    pytest.skip("needs an NVIDIA GPU and CuPy", allow_module_level=True)


class TestOnGPU(ScalarEngineChecks):
    @pytest.fixture(scope="class")
    def on_device(self):
        return Communicator(CUDADevice(0))

    @pytest.fixture
    def alone(self):
        return Communicator()
