"""CUDA C sources of the package on a CPU: g++ compiles them, a loop runs thread after thread.

An `EmulatedDevice` in a communicator makes code that asks its device for kernels get these. Every
call is checked: the number of arguments, their dtypes, and that arrays are contiguous. On an
`ApartDevice`, moreover, no array of the host gets to the device, or back, without being copied.
"""

from __future__ import annotations

import copy
import ctypes
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from ogg_hpc.runtime.cuda_source import grid, source_text
from ogg_hpc.runtime.device import CPUDevice

# What the sources use of CUDA, for one thread at a time.
HEADER = r"""
#include <cmath>
#include <cstring>
#define __global__
#define __device__
#define __restrict__
using std::isfinite;
static struct { int x; } threadIdx, blockIdx, blockDim, gridDim;
template <class T, class Change> static T exchange(T *at, Change change)
{
    T old = *at;
    *at = change(old);
    return old;
}
#define ATOMIC(NAME, TYPE, RESULT) \
    [[maybe_unused]] static TYPE NAME(TYPE *at, TYPE value) \
    { \
        return exchange(at, [=](TYPE old) -> TYPE { return RESULT; }); \
    }
#define INTEGERS(NAME, RESULT) \
    ATOMIC(NAME, int, RESULT) \
    ATOMIC(NAME, unsigned, RESULT) \
    ATOMIC(NAME, unsigned long long, RESULT)
INTEGERS(atomicAdd, old + value)
ATOMIC(atomicAdd, float, old + value)
ATOMIC(atomicAdd, double, old + value)
ATOMIC(atomicSub, int, old - value)
ATOMIC(atomicSub, unsigned, old - value)
INTEGERS(atomicOr, old | value)
INTEGERS(atomicMax, old > value ? old : value)
ATOMIC(atomicMax, long long, old > value ? old : value)
[[maybe_unused]] static int __popc(unsigned x) { return __builtin_popcount(x); }
[[maybe_unused]] static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
[[maybe_unused]] static int __ffsll(long long x) { return __builtin_ffsll(x); }
[[maybe_unused]] static int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
[[maybe_unused]] static double __dmul_rn(double x, double y) { return x * y; }
[[maybe_unused]] static double __dadd_rn(double x, double y) { return x + y; }
[[maybe_unused]] static long long __double_as_longlong(double x)
{
    long long bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
[[maybe_unused]] static int __float_as_int(float x)
{
    int bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
#line 1 "prelude.cuh"
"""
# `order` is null, or says which thread runs next.
LAUNCHER = r"""
extern "C" void emulate_{name}(int blocks, int threads, const int *order, {parameters})
{{
    gridDim.x = blocks;
    blockDim.x = threads;
    for (int i = 0; i < blocks * threads; ++i) {{
        int thread = order ? order[i] : i;
        blockIdx.x = thread / threads;
        threadIdx.x = thread % threads;
        {name}({names});
    }}
}}
"""
KERNEL = re.compile(r'extern "C" __global__ void (\w+)\(([^)]*)\)')
ARRAYS = {
    "bool": np.bool_,
    "int": np.int32,
    "i64": np.int64,
    "u64": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
SCALARS = {"i64": (ctypes.c_int64, int), "double": (ctypes.c_double, float)}


class EmulatedDevice(CPUDevice):
    """A CPU that passes for a device with kernels.

    Parameters
    ----------
    shuffled
        Seed of the order in which the threads of a launch run; in their own order by default.
    """

    def __init__(self, shuffled: int | None = None) -> None:
        self._order = None if shuffled is None else np.random.default_rng(shuffled)

    def kernels(self, source: Path) -> EmulatedSource:
        return EmulatedSource(source, self._order)


def emulated(comm, device):
    """Return a communicator of the same ranks on an emulated device."""
    result = copy.copy(comm)
    result.device, result.counts, result._staging = device, {}, {}
    return result


class ApartArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that, as those of CuPy, mixes with none of the host."""

    def __init__(self, memory):
        self.memory = memory

    def __getattr__(self, name):
        if name.startswith("_"):  # by which NumPy finds memory
            raise AttributeError(name)
        return _apart(getattr(self.memory, name))

    def __array__(self, *_, **__):
        raise TypeError("an array of the device is not one of the host")

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return _apart(getattr(ufunc, method))(*inputs, **options)

    def __len__(self):
        return len(self.memory)

    def __bool__(self):
        return bool(self.memory)

    def __int__(self):
        return int(self.memory)

    def __float__(self):
        return float(self.memory)

    def __getitem__(self, place):
        # A single element is an array too, of no dimensions.
        found = self.memory[_memory(place)]
        return ApartArray(np.asarray(found))

    def __setitem__(self, place, value):
        self.memory[_memory(place)] = _memory(value)


class ApartMatrix:
    """A sparse matrix whose arrays are apart from those of the host."""

    def __init__(self, matrix):
        self._matrix = matrix

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _apart(getattr(self._matrix, name))

    def __getitem__(self, place):
        return _apart(self._matrix[_memory(place)])

    def __matmul__(self, other):
        return _apart(self._matrix @ _memory(other))


class ApartDevice(EmulatedDevice):
    """An emulated device whose arrays are apart from those of the host."""

    def __init__(self, shuffled=None):
        super().__init__(shuffled)
        self.xp = _ApartLibrary(np)

    @property
    def sparse(self):
        return _ApartLibrary(super().sparse)

    def to_host(self, array, out=None):
        assert isinstance(array, ApartArray), "this is no array of the device"
        if out is None:
            return array.memory.copy()
        np.copyto(out, array.memory)
        return out

    def from_host(self, array):
        assert isinstance(array, np.ndarray), "this is no array of the host"
        return ApartArray(array.copy())

    def tensor(self, array):
        assert isinstance(array, ApartArray), "this is no array of the device"
        return super().tensor(array.memory)

    def array(self, tensor):
        return ApartArray(super().array(tensor))

    def kernels(self, source):
        return EmulatedSource(source, self._order, apart=True)


class _ApartLibrary:
    """NumPy or SciPy on arrays of the device, with what CuPy cannot do."""

    def __init__(self, library):
        self._library = library

    def __getattr__(self, name):
        return _apart(getattr(self._library, name))

    def bincount(self, array, weights=None, minlength=0):
        assert len(array), "CuPy looks for the largest number, which an empty array has not"
        return _apart(np.bincount)(array, weights, minlength)


def _memory(value):
    """Return what an operation on the device takes: arrays of the device, or no arrays at all."""
    if isinstance(value, tuple | list):
        return type(value)(map(_memory, value))
    assert not isinstance(value, np.ndarray), "this is an array of the host"
    return value.memory if isinstance(value, ApartArray) else value


def _apart(value):
    """Return a function, or the result of one, as the device has it."""
    if isinstance(value, np.ndarray | np.generic):
        return ApartArray(np.asarray(value))
    if isinstance(value, tuple):
        return tuple(map(_apart, value))
    if scipy.sparse.issparse(value):
        return ApartMatrix(value)
    if not callable(value) or (isinstance(value, type) and issubclass(value, np.generic)):
        return value

    def function(*arguments, **options):
        given = {name: _memory(option) for name, option in options.items()}
        return _apart(value(*map(_memory, arguments), **given))

    return function


class EmulatedSource:
    """The kernels of one source as attributes, as `CudaSource` has them."""

    def __init__(self, path, order=None, apart=False):
        self._library, self._signatures = _compiled(path)
        self._order, self._apart = order, apart

    def __getattr__(self, name):
        types = self._signatures[name]
        function = getattr(self._library, f"emulate_{name}")
        function.restype = None

        def kernel(n_threads, *arguments):
            assert len(arguments) == len(types), f"{name} takes {len(types)} arguments"
            blocks, threads = grid(n_threads)
            order = None
            if self._order is not None:
                order = self._order.permutation(blocks * threads).astype(np.int32)
            function(
                blocks,
                threads,
                ctypes.c_void_p(None if order is None else order.ctypes.data),
                *(
                    _argument(f"{name}({place})", kind, value, self._apart)
                    for place, (kind, value) in enumerate(zip(types, arguments, strict=True))
                ),
            )

        return kernel


def _argument(where, kind, value, apart):
    if kind in SCALARS:
        type_, python = SCALARS[kind]
        assert type(value) is python, f"{where} is {value!r}, not of type {python}"
        return type_(value)
    dtype = ARRAYS[kind.removeprefix("const ").removesuffix(" *")]
    if apart:
        assert isinstance(value, ApartArray), f"{where} is not on the device"
        value = value.memory
    assert isinstance(value, np.ndarray), f"{where} is no array"
    assert value.dtype == dtype, f"{where} is of {value.dtype}, not of {dtype}"
    assert value.flags.c_contiguous, f"{where} is not contiguous"
    return ctypes.c_void_p(value.ctypes.data)


@cache
def _compiled(path):
    """Return the library of a source and the types of each kernel's parameters."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++ to run kernels on a CPU")
    text, signatures = source_text(path), {}
    launchers = ""
    for name, parameters in KERNEL.findall(text):
        declared = [parameter.strip() for parameter in parameters.split(",")]
        parts = [re.fullmatch(r"(.*?)(\w+)", one).groups() for one in declared]
        signatures[name] = [kind.strip() for kind, _ in parts]
        launchers += LAUNCHER.format(
            name=name, parameters=parameters, names=", ".join(variable for _, variable in parts)
        )
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "kernels.cpp"), Path(folder, "kernels.so")
        source.write_text(HEADER + text + launchers)
        # As on the GPU, products and sums are rounded one by one.
        flags = ["-std=c++17", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Werror"]
        done = subprocess.run(
            [compiler, *flags, "-o", library, source], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return ctypes.CDLL(str(library)), signatures
