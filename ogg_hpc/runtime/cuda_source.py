"""CUDA C sources, compiled for the rank's GPU when a kernel is first used.

A source is plain C: kernels that loop over their work by ``FOR_EACH`` and meet in atomics alone,
without shared memory, barriers or warps. The same text then runs on a CPU, thread by thread, and
that is how it is tested where there is no GPU.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

# A product and a sum are rounded one by one, as on a CPU: scores are then the same bits. NVRTC and
# hipRTC, which compiles for AMD GPUs, refuse each other's word for it.
OPTIONS = ("-std=c++17", "--fmad=false")
HIP_OPTIONS = ("-std=c++17", "-ffp-contract=off")
_PRELUDE = Path(__file__).with_name("prelude.cuh")
# Threads of a block, and enough blocks to keep a large GPU busy.
_BLOCK, _MOST_BLOCKS = 256, 2048


class Kernel(Protocol):
    """A compiled function that many threads run."""

    def __call__(self, n_threads: int, *arguments: Any) -> None:
        """Run after all earlier work, without waiting.

        Parameters
        ----------
        n_threads
            How many threads could share the work; fewer may do it, and none do where it is 0.
        *arguments
            Arrays of the device with the dtypes that the source names, whole numbers for ``i64``
            and floats for ``double``.
        """


def source_text(path: Path) -> str:
    """Return a source as the compiler reads it."""
    # A header beside the source would be no part of the key that compiled code is cached by.
    prelude, text = (file.read_text(encoding="utf-8") for file in (_PRELUDE, path))
    return f'{prelude}\n#line 1 "{path.name}"\n{text}'


def grid(n_threads: int) -> tuple[int, int]:
    """Return the number of blocks, and of threads in each, for work that so many could share."""
    threads = max(1, min(n_threads, _BLOCK))
    return min(-(-n_threads // threads), _MOST_BLOCKS), threads


class CudaSource:
    """The kernels of one source as attributes, each a `Kernel`, for the GPU in use."""

    def __init__(self, path: Path) -> None:
        import cupy

        options = HIP_OPTIONS if cupy.cuda.runtime.is_hip else OPTIONS
        self._module = cupy.RawModule(code=source_text(path), options=options)

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("_"):
            raise AttributeError(name)
        function = self._module.get_function(name)

        def kernel(n_threads: int, *arguments: Any) -> None:
            blocks, threads = grid(n_threads)
            if blocks:
                function((blocks,), (threads,), arguments)

        self.__dict__[name] = kernel  # looked up once
        return kernel
