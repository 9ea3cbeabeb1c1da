import subprocess
import sys
from contextlib import nullcontext
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime import device as module
from ogg_hpc.runtime.device import CPUDevice, CUDADevice, select_device


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


@pytest.mark.parametrize(
    "name", ["CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"]
)
def test_what_hides_a_gpu_is_named_on_either_platform(gpus, monkeypatch, name):
    gpus(0)
    for other in module._VISIBLE:
        monkeypatch.delenv(other, raising=False)
    with pytest.raises(SettingsError, match="none is hidden"):
        select_device("cuda", 0)
    monkeypatch.setenv(name, "")
    with pytest.raises(SettingsError, match=rf"sees no device \({name}=\)"):
        select_device("cuda", 0)


def test_unknown_device_is_refused():
    with pytest.raises(SettingsError, match="'gpu' is unknown; use one of auto, cpu, cuda"):
        select_device("gpu", 0)


@pytest.mark.parametrize("kind", ["auto", "cuda"])
def test_a_gpu_that_torch_cannot_use_is_a_message(gpus, monkeypatch, kind):
    gpus(1)
    monkeypatch.setattr(module, "torch_uses_gpus", lambda: False)
    with pytest.raises(SettingsError, match="build of torch for this GPU, or use --device cpu"):
        select_device(kind, 0)
    assert isinstance(select_device("cpu", 0), CPUDevice)


def test_no_gpu_is_visible_without_cupy(monkeypatch):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    assert module.visible_gpus() == 0


@pytest.mark.parametrize(("is_hip", "platform"), [(False, "cuda"), (True, "hip")])
def test_gpu_of_either_platform_is_used_by_the_same_names(monkeypatch, is_hip, platform):
    used = []
    cuda = SimpleNamespace(
        runtime=SimpleNamespace(is_hip=is_hip, getDeviceCount=lambda: 2),
        Device=lambda index: SimpleNamespace(use=lambda: used.append(("cupy", index))),
        PythonFunctionAllocator=lambda allocate, free: SimpleNamespace(malloc=allocate),
        set_allocator=lambda allocate: None,
    )
    modules = {
        "cupy": ModuleType("cupy"),
        "cupyx": ModuleType("cupyx"),
        "cupyx.scipy": ModuleType("cupyx.scipy"),
        "cupyx.scipy.sparse": ModuleType("cupyx.scipy.sparse"),
    }
    modules["cupy"].cuda = cuda
    modules["cupy"].__spec__ = ModuleSpec("cupy", None)
    modules["cupyx"].scipy = modules["cupyx.scipy"]
    modules["cupyx.scipy"].sparse = modules["cupyx.scipy.sparse"]
    for name, stand_in in modules.items():
        monkeypatch.setitem(sys.modules, name, stand_in)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.set_device", lambda index: used.append(("torch", index)))
    device = select_device("auto", 3)
    assert (device.name, device.platform) == ("cuda:1", platform)
    assert used == [("cupy", 1), ("torch", 1)]


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


def test_a_gpu_is_described(monkeypatch):
    monkeypatch.setattr(module, "nvidia_driver", lambda: "550.54.14")
    runtime = SimpleNamespace(  # what CuPy answers
        getDeviceProperties=lambda index: {"name": b"GPU 3", "major": 7, "minor": 0},
        memGetInfo=lambda: (3 * 2**30, 16 * 2**30),
        deviceGetPCIBusId=lambda index: f"0000:0{index}:00.0",
        driverGetVersion=lambda: 12040,
        is_hip=False,
    )
    device = CUDADevice.__new__(CUDADevice)
    device.index, device.xp = 3, SimpleNamespace(cuda=SimpleNamespace(runtime=runtime))
    assert device.gpu() == {
        "name": "GPU 3", "bus": "0000:03:00.0", "compute_capability": "7.0",
        "memory_bytes": 16 * 2**30, "free_bytes": 3 * 2**30,
        "driver": "550.54.14", "cuda": "12.4",
    }  # fmt: skip
    assert CPUDevice().gpu() is None


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19", "535.104.05"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54  Release", "550.54"),
        ("no version", None),
    ],
)
def test_version_of_the_driver(tmp_path, line, version):
    (tmp_path / "version").write_text(line)
    assert module.nvidia_driver(tmp_path / "version") == version
    assert module.nvidia_driver(tmp_path / "none") is None


def test_gpus_of_the_system_are_counted(tmp_path):
    for name in ("nvidia0", "nvidia11", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    assert module.installed_gpus(tmp_path) == 2


def test_phases_on_a_gpu_are_nvtx_ranges(monkeypatch):
    ranges = []
    monkeypatch.setattr("torch.cuda.nvtx.range", lambda name: nullcontext(ranges.append(name)))
    with CUDADevice.__new__(CUDADevice).phase("learn"):
        assert ranges == ["learn"]
    with CPUDevice().phase("learn"):
        assert ranges == ["learn"]
