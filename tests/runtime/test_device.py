import subprocess
import sys

import numpy as np
import pytest

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime import device as module
from ogg_hpc.runtime.device import CPUDevice, select_device


@pytest.fixture
def gpus(monkeypatch):
    """Pretend that there are some GPUs, on a machine that may have none."""

    def pretend(count):
        monkeypatch.setattr(module, "visible_gpus", lambda: count)
        monkeypatch.setattr(module, "torch_uses_gpus", lambda: True)
        monkeypatch.setattr(module, "CUDADevice", lambda index: f"cuda:{index}")

    return pretend


@pytest.mark.parametrize("count", [0, 6])
def test_cpu_is_the_cpu_whatever_there_is(gpus, count):
    gpus(count)
    assert isinstance(select_device("cpu", 0), CPUDevice)


def test_auto_without_a_gpu_is_the_cpu(gpus):
    gpus(0)
    assert isinstance(select_device("auto", 3), CPUDevice)


@pytest.mark.parametrize("kind", ["auto", "cuda"])
@pytest.mark.parametrize(
    ("count", "devices"),
    [
        (6, [0, 1, 2, 3, 4, 5]),  # all GPUs of the node are visible to all ranks
        (1, [0, 0, 0]),  # the launcher shows each rank its own
        (2, [0, 1, 0, 1]),  # more ranks than GPUs
    ],
)
def test_gpu_is_chosen_by_the_rank_on_the_node(gpus, kind, count, devices):
    gpus(count)
    assert [select_device(kind, rank) for rank in range(len(devices))] == [
        f"cuda:{index}" for index in devices
    ]


def test_cuda_without_a_gpu_says_what_to_do(gpus, monkeypatch):
    gpus(0)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    with pytest.raises(SettingsError) as caught:
        select_device("cuda", 0)
    message = str(caught.value)
    assert "pip install 'ogg-hpc[cuda12]'" in message
    assert "CUDA_VISIBLE_DEVICES=7" in message
    assert "--device cpu" in message


def test_unknown_device_is_refused():
    with pytest.raises(SettingsError, match="'gpu' is unknown; use one of auto, cpu, cuda"):
        select_device("gpu", 0)


@pytest.mark.parametrize("kind", ["auto", "cuda"])
def test_a_gpu_that_torch_cannot_use_is_a_message(gpus, monkeypatch, kind):
    gpus(1)
    monkeypatch.setattr(module, "torch_uses_gpus", lambda: False)
    with pytest.raises(SettingsError, match="CUDA build of torch, or use --device cpu"):
        select_device(kind, 0)
    assert isinstance(select_device("cpu", 0), CPUDevice)


def test_no_gpu_is_visible_without_cupy(monkeypatch):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    assert module.visible_gpus() == 0


def test_cpu_device_shares_memory_with_torch():
    device = CPUDevice()
    array = np.arange(4.0)
    tensor = device.tensor(array)
    tensor[0] = 7
    assert array[0] == 7
    assert np.shares_memory(device.array(tensor), array)


def test_cpu_device_copies_into_a_given_buffer():
    out = np.zeros(3)
    assert CPUDevice().to_host(np.ones(3), out) is out
    assert out.tolist() == [1, 1, 1]


def test_peak_memory_is_in_bytes():
    assert 2**20 < CPUDevice().peak_memory_bytes() < 2**40


def test_peak_memory_is_of_this_program_alone():
    big = np.ones(40_000_000)  # 320 MB, which a child inherits for a moment
    code = "from ogg_hpc.runtime.device import CPUDevice; print(CPUDevice().peak_memory_bytes())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 10_000_000 < int(run.stdout) < big.nbytes
