"""The device a rank computes on, and the one array language spoken there.

`xp` and `sparse` are ``numpy`` and ``scipy.sparse`` on a CPU, ``cupy`` and ``cupyx.scipy.sparse``
on a GPU. Code above this module uses those two names and never asks which they are.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import resource
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.cuda_source import CudaSource

if TYPE_CHECKING:
    import torch

DEVICE_KINDS = ("auto", "cpu", "cuda")

# What launchers and users hide GPUs by: NVIDIA's variable, and those of ROCm's two layers.
_VISIBLE = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")


class Device(Protocol):
    """What a rank computes on.

    Attributes
    ----------
    name : str
        For people and records, such as ``cpu`` or ``cuda:0``.
    platform : str
        ``cpu``, ``cuda`` or, for an AMD GPU, ``hip``: what MPI has to know its buffers by.
    xp, sparse : module
        The array and the sparse matrix library.
    """

    name: str
    platform: str
    xp: Any

    @property
    def sparse(self) -> Any:
        """The sparse matrix library."""

    def synchronize(self) -> None:
        """Wait until all work submitted so far has finished."""

    def to_host(self, array: Any, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Copy an array to host memory (`out` when given)."""

    def from_host(self, array: NDArray[Any]) -> Any:
        """Copy a host array to this device."""

    def pinned(self, nbytes: int) -> NDArray[np.uint8]:
        """Allocate page-locked host memory for transfers."""

    def tensor(self, array: Any) -> torch.Tensor:
        """Return a torch tensor on the same memory as an array."""

    def array(self, tensor: torch.Tensor) -> Any:
        """Return an array on the same memory as a torch tensor."""

    def kernels(self, source: Path) -> Any:
        """Return the kernels of a CUDA C source, or None where compiled Python does their work.

        They are attributes by their names; see `cuda_source.Kernel`.
        """

    def peak_memory_bytes(self) -> int:
        """Return the most memory this process has used: host, plus device where there is one."""

    def gpu(self) -> dict[str, Any] | None:
        """Return what GPU this is, for people and records; None for a host."""

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Name what the block does in the timeline of the device's own profiler."""


class CPUDevice:
    """The host itself: NumPy and SciPy."""

    name = "cpu"
    platform = "cpu"
    xp: Any = np

    @property
    def sparse(self) -> Any:
        """``scipy.sparse``, imported on first use."""
        return importlib.import_module("scipy.sparse")

    def synchronize(self) -> None:
        """Do nothing: host work is never deferred."""

    def to_host(self, array: Any, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Copy `array` into `out`, or return it as it is."""
        if out is None:
            return np.asarray(array)
        np.copyto(out, array)
        return out

    def from_host(self, array: NDArray[Any]) -> Any:
        """Return the array as it is."""
        return array

    def pinned(self, nbytes: int) -> NDArray[np.uint8]:
        """Return ordinary memory: there is nothing to transfer to."""
        return np.empty(nbytes, np.uint8)

    def tensor(self, array: Any) -> torch.Tensor:
        """Return a torch tensor on the same memory as an array."""
        import torch

        return torch.from_numpy(np.ascontiguousarray(array))

    def array(self, tensor: torch.Tensor) -> Any:
        """Return an array on the same memory as a torch tensor."""
        return tensor.detach().numpy()

    def kernels(self, source: Path) -> Any:
        """Return None: compiled Python runs here."""
        return None

    def peak_memory_bytes(self) -> int:
        """Return the peak resident set size of this process."""
        return host_peak_memory_bytes()

    def gpu(self) -> None:
        """Return None: this is no GPU."""

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Do nothing: profilers of host code name its functions."""
        return nullcontext()


class CUDADevice:
    """One GPU: CuPy for arrays, torch for differentiation, one allocator for both.

    Both libraries work on the default stream, so their kernels are ordered without events. Their
    builds for ROCm call an AMD GPU by the same names, such as ``cuda:0``.

    Parameters
    ----------
    index
        Which of the visible devices.
    """

    def __init__(self, index: int) -> None:
        import cupy
        import cupyx.scipy.sparse
        import torch

        self.name = f"cuda:{index}"
        self.platform = "hip" if cupy.cuda.runtime.is_hip else "cuda"
        self.xp: Any = cupy
        self.sparse: Any = cupyx.scipy.sparse
        self.index = index
        self._sources = cache(CudaSource)
        cupy.cuda.Device(index).use()
        torch.cuda.set_device(index)
        # Two caching pools on one GPU would each hoard what the other needs.
        cupy.cuda.set_allocator(
            cupy.cuda.PythonFunctionAllocator(
                lambda size, _: torch.cuda.caching_allocator_alloc(size, index),
                lambda pointer, _: torch.cuda.caching_allocator_delete(pointer),  # type: ignore[no-untyped-call]
            ).malloc
        )

    def synchronize(self) -> None:
        """Wait for all streams of the device."""
        self.xp.cuda.runtime.deviceSynchronize()

    def to_host(self, array: Any, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Copy a device array to host memory."""
        host: NDArray[Any] = self.xp.ascontiguousarray(array).get(out=out)
        return host

    def from_host(self, array: NDArray[Any]) -> Any:
        """Copy a host array to the device."""
        return self.xp.asarray(array)

    def pinned(self, nbytes: int) -> NDArray[np.uint8]:
        """Allocate page-locked host memory."""
        memory = self.xp.cuda.alloc_pinned_memory(max(nbytes, 1))
        return np.frombuffer(memory, np.uint8, nbytes)

    def tensor(self, array: Any) -> torch.Tensor:
        """Return a torch tensor on the same memory as an array."""
        import torch.utils.dlpack

        return torch.utils.dlpack.from_dlpack(self.xp.ascontiguousarray(array))

    def array(self, tensor: torch.Tensor) -> Any:
        """Return an array on the same memory as a torch tensor."""
        return self.xp.from_dlpack(tensor.detach())

    def kernels(self, source: Path) -> Any:
        """Return the kernels of a CUDA C source, compiled on first use."""
        return self._sources(source)

    def peak_memory_bytes(self) -> int:
        """Return the peak of host memory plus the peak of device memory."""
        import torch

        return host_peak_memory_bytes() + int(torch.cuda.max_memory_allocated(self.index))

    def gpu(self) -> dict[str, Any]:
        """Return name, place, memory, compute capability, driver and CUDA of the GPU.

        The last two are None on an AMD GPU.
        """
        runtime = self.xp.cuda.runtime
        properties = runtime.getDeviceProperties(self.index)
        free, total = runtime.memGetInfo()
        return {
            "name": properties["name"].decode(),
            "bus": runtime.deviceGetPCIBusId(self.index),
            "memory_bytes": total,
            "free_bytes": free,
            "compute_capability": f"{properties['major']}.{properties['minor']}",
            "driver": nvidia_driver(),
            "cuda": None if runtime.is_hip else _cuda_version(runtime.driverGetVersion()),
        }

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Return an NVTX range, which Nsight Systems shows; on an AMD GPU one of rocTX."""
        import torch

        marked: AbstractContextManager[None] = torch.cuda.nvtx.range(name)
        return marked


def host_peak_memory_bytes() -> int:
    """Return the peak resident set size of this process."""
    # getrusage counts what the process was before it became this program, too: its parent's copy.
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def visible_gpus() -> int:
    """Return how many GPUs CuPy can use; 0 without CuPy or without a driver."""
    if importlib.util.find_spec("cupy") is None:
        return 0
    try:
        import cupy

        return int(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # a CuPy without a driver raises errors of its own kinds
        return 0


def visible_gpu_addresses() -> list[str]:
    """Return the PCI addresses of the GPUs that CuPy can use, by which ranks tell them apart."""
    count = visible_gpus()
    if not count:
        return []
    import cupy

    return [str(cupy.cuda.runtime.deviceGetPCIBusId(index)) for index in range(count)]


def installed_gpus(devices: Path = Path("/dev")) -> int:
    """Return how many NVIDIA GPUs the system shows, whether or not a library can use them."""
    return len(list(devices.glob("nvidia[0-9]*")))


def visibility(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that say which GPUs this process may see."""
    return {name: environment[name] for name in _VISIBLE if name in environment}


def nvidia_driver(file: Path = Path("/proc/driver/nvidia/version")) -> str | None:
    """Return the version of the NVIDIA driver, None without one."""
    try:
        found = re.search(r"\d+\.\d+(\.\d+)?", file.read_text(encoding="utf-8"))
    except OSError:
        return None
    return found[0] if found else None


def _cuda_version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def torch_uses_gpus() -> bool:
    """Return whether torch can use a GPU."""
    import torch

    return torch.cuda.is_available()


def select_device(kind: str, local_rank: int) -> Device:
    """Choose the device of a rank.

    Parameters
    ----------
    kind
        ``cpu``, ``cuda`` (an NVIDIA or AMD GPU), or ``auto`` for a GPU where there is one.
    local_rank
        The rank's number on its own node: with one visible GPU a rank, and with all GPUs of the
        node visible to all ranks, each rank gets its own.

    Raises
    ------
    SettingsError
        ``cuda`` where no GPU can be used, or a GPU that CuPy can use and torch cannot.
    """
    if kind not in DEVICE_KINDS:
        raise SettingsError(f"device {kind!r} is unknown; use one of {', '.join(DEVICE_KINDS)}")
    if kind == "cpu":
        return CPUDevice()
    gpus = visible_gpus()
    if gpus and not torch_uses_gpus():
        raise SettingsError(
            "CuPy sees a GPU that torch cannot use: torch is a build for CPUs, or for another CUDA"
            " or ROCm than the driver's; install the build of torch for this GPU, or use"
            " --device cpu"
        )
    if gpus:
        return CUDADevice(local_rank % gpus)
    if kind == "cuda":
        limits = [f"{name}={value}" for name, value in visibility().items()]
        raise SettingsError(
            "no GPU can be used: CuPy is missing (pip install 'ogg-hpc[cuda12]'; for AMD GPUs its"
            f" build for ROCm) or sees no device ({', '.join(limits) or 'none is hidden'}); use"
            " --device cpu to run without one"
        )
    return CPUDevice()
