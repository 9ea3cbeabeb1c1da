"""Every CUDA C source compiles for every GPU that is supported, on a machine without one."""

import ctypes
import ctypes.util
import importlib.util
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import ogg_hpc
from ogg_hpc.runtime.cuda_source import HIP_OPTIONS, OPTIONS, CudaSource, grid, source_text

PACKAGE = Path(ogg_hpc.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.cu"))
ARCHITECTURES = ("sm_70", "sm_80", "sm_90")


@pytest.fixture(scope="module")
def nvrtc():
    """The CUDA C compiler as a library, as CuPy uses it."""
    wheel = importlib.util.find_spec("nvidia")
    folders = [] if wheel is None else wheel.submodule_search_locations
    found = [path for folder in folders for path in Path(folder).glob("cuda_nvrtc/lib/*rtc.so.12")]
    if not found:
        pytest.skip("needs NVRTC: pip install 'nvidia-cuda-nvrtc-cu12>=12.8'")
    return ctypes.CDLL(str(found[0]))


def compiled(nvrtc, text, architecture, form="CUBIN"):
    """Return the machine code (or the PTX) of a source, or fail with the compiler's words."""
    program = ctypes.c_void_p()
    assert not nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), text.encode(), b"source.cu", 0, None, None
    )
    options = [option.encode() for option in (f"--gpu-architecture={architecture}", *OPTIONS)]
    verdict = nvrtc.nvrtcCompileProgram(
        program, len(options), (ctypes.c_char_p * len(options))(*options)
    )
    if verdict:
        pytest.fail(_read(nvrtc, "ProgramLog", program).decode())
    code = _read(nvrtc, form, program)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code


def _read(nvrtc, what, program):
    size = ctypes.c_size_t()
    assert not nvrtc[f"nvrtcGet{what}Size"](program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    assert not nvrtc[f"nvrtcGet{what}"](program, buffer)
    return buffer.raw


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_source_compiles(nvrtc, path, architecture):
    text = source_text(path)
    code = compiled(nvrtc, text, architecture)
    assert code.startswith(b"\x7fELF")
    kernels = re.findall(r"__global__ void (\w+)\(", text)
    assert kernels
    for name in kernels:
        assert f".text.{name}\0".encode() in code


@pytest.fixture(scope="module")
def hiprtc():
    """The compiler for AMD GPUs as a library, as CuPy's build for ROCm uses it."""
    found = ctypes.util.find_library("amdhip64")
    if found is None:
        pytest.skip("needs hipRTC: apt-get install libamdhip64-dev")
    return ctypes.CDLL(found)


@pytest.mark.parametrize("architecture", ["gfx908", "gfx90a"])  # MI100, MI250X
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_source_compiles_for_amd_gpus(hiprtc, path, architecture):
    program = ctypes.c_void_p()
    text = source_text(path).encode()
    assert not hiprtc.hiprtcCreateProgram(ctypes.byref(program), text, b"source.cu", 0, None, None)
    options = [option.encode() for option in (f"--gpu-architecture={architecture}", *HIP_OPTIONS)]
    verdict = hiprtc.hiprtcCompileProgram(
        program, len(options), (ctypes.c_char_p * len(options))(*options)
    )
    size = ctypes.c_size_t()
    hiprtc.hiprtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    hiprtc.hiprtcGetProgramLog(program, log)
    assert not verdict, log.value.decode()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_products_and_sums_are_rounded_one_by_one(nvrtc, path):
    code = compiled(nvrtc, source_text(path), "compute_70", "PTX")
    assert b".entry" in code
    assert b"fma.rn.f" not in code


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_source_can_run_thread_by_thread(path):
    text = source_text(path)
    for word in ("__shared__", "__syncthreads", "__syncwarp", "_sync(", "cooperative_groups"):
        assert word not in text
    # By its plain name, and declared as the emulation reads it.
    assert text.count("__global__") == len(re.findall(r'extern "C" __global__ void \w+\(', text))


@pytest.mark.parametrize(("is_hip", "options"), [(False, OPTIONS), (True, HIP_OPTIONS)])
def test_kernels_are_launched_in_whole_blocks_and_only_where_there_is_work(
    monkeypatch, is_hip, options
):
    launches, compiles = [], []

    class RawModule:
        def __init__(self, code, options):
            compiles.append((code, options))

        def get_function(self, name):
            return lambda *launch: launches.append((name, *launch))

    cuda = SimpleNamespace(runtime=SimpleNamespace(is_hip=is_hip))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(RawModule=RawModule, cuda=cuda))
    source, array = CudaSource(SOURCES[0]), np.zeros(3)
    for threads in (0, 1, 256, 257):
        source.work(threads, array, 5)
    assert compiles == [(source_text(SOURCES[0]), options)]
    assert launches == [
        ("work", (blocks,), (threads,), (array, 5))
        for blocks, threads in ((1, 1), (1, 256), (2, 256))
    ]


def test_a_grid_has_a_thread_for_each_piece_of_work_up_to_what_a_gpu_can_use():
    for work in (0, 1, 5, 255, 256, 257, 100_000):
        blocks, threads = grid(work)
        assert work <= blocks * threads < work + max(threads, 1)
    assert grid(10**12) == grid(10**9)
