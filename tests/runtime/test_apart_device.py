"""Code on arrays never mixes those of a device with those of the host."""

import pytest
from batch_device_checks import BatchChecks
from cuda_emulation import ApartDevice

from ogg_hpc.runtime.communicator import Communicator


@pytest.fixture(scope="module")
def on_device():
    return Communicator(ApartDevice())


@pytest.fixture
def alone():
    return Communicator()


class TestBatches(BatchChecks):
    pass
