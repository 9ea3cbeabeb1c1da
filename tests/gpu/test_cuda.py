"""The same code on a GPU gives what it gives on the host."""

import pytest
from batch_device_checks import BatchChecks
from frontier_device_checks import FrontierChecks
from gradient_device_checks import GradientChecks
from scalar_device_checks import ScalarEngineChecks

from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.device import CUDADevice, visible_gpus

if visible_gpus() == 0:
    pytest.skip("needs a GPU and CuPy", allow_module_level=True)


@pytest.fixture(scope="module")
def on_device():
    return Communicator(CUDADevice(0))


@pytest.fixture
def alone():
    return Communicator()


class TestBatches(BatchChecks):
    pass


class TestScalarEngines(ScalarEngineChecks):
    pass


class TestFrontierEngine(FrontierChecks):
    pass


class TestGradients(GradientChecks):
    pass
