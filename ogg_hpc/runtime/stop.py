"""Work that may be asked to come to an end, in pieces between which it can be."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

Stop = Callable[[], bool]
"""Tells whether this rank has been asked to come to an end; once true, it stays so."""

# Seconds that a piece of work should take.
_PIECE = 0.05


def never() -> bool:
    """Return that nobody has asked."""
    return False


def amounts(stop: Stop, most: int = 1 << 62) -> Iterator[int]:
    """Yield how much to do next, again and again until `stop` holds.

    It begins with 1 and doubles, up to `most`, as long as the caller has done it in a twentieth
    of a second; else it is halved.
    """
    amount = 1
    while not stop():
        start = time.perf_counter()
        yield amount
        quick = time.perf_counter() - start < _PIECE
        amount = min(2 * amount, most) if quick else max(1, amount // 2)


def pieces(total: int, stop: Stop) -> Iterator[tuple[int, int]]:
    """Yield the bounds of ranges that make up ``range(total)``, in turn, until `stop` holds."""
    start = 0
    for amount in amounts(stop):
        if start >= total:
            return
        end = min(start + amount, total)
        yield start, end
        start = end
