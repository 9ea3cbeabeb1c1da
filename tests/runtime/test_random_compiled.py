import numba
import numpy as np
import pytest

from ogg_hpc.runtime import random
from ogg_hpc.runtime.random_compiled import absorb, begin, to_integer, to_uniform


@numba.njit
def compiled(seed: np.uint64, a: int, b: int) -> tuple[np.uint64, float, int]:
    state = absorb(absorb(begin(seed), a), b)
    return state, to_uniform(state), to_integer(state, 1000)


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_compiled_hash_equals_the_array_hash_bit_for_bit(seed: int) -> None:
    for a in (0, 7, -1, 2**31, 2**62):
        for b in (0, 3, 10**12):
            state, fraction, integer = compiled(np.uint64(seed), a, b)
            assert int(state) == int(random.hash64(seed, a, b))
            assert fraction == random.uniform(seed, a, b)
            assert integer == random.integers(1000, seed, a, b)
