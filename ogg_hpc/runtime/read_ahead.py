"""Items read by number: the next ones by a thread meanwhile, the last used kept."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")

MEGABYTE = 1 << 20


class ReadAhead(Generic[T]):
    """Items that are read when they are asked for, or before, and kept while there is room.

    One thread does all reading, so that what it reads from need not be safe for several. Its
    errors are raised where the item is asked for.

    Parameters
    ----------
    read
        Reads an item by its number.
    size
        Returns the bytes of an item.
    most
        Bytes of the items that are kept; those not used for longest go first. The last one used is
        kept whatever its size. Not counted are expected ones that nobody has asked for yet.

    Attributes
    ----------
    reads : int
        How many items were asked for and not kept.
    waited : float
        Seconds that those who asked have waited for them.
    """

    def __init__(self, read: Callable[[int], T], size: Callable[[T], int], most: float) -> None:
        self._read, self._size, self._most = read, size, most
        self._kept: OrderedDict[int, T] = OrderedDict()
        self._bytes = 0
        self._coming: dict[int, Future[T]] = {}
        self._thread = ThreadPoolExecutor(1, "read-ahead")
        self.reads, self.waited = 0, 0.0

    @property
    def kept_bytes(self) -> int:
        """Bytes of the items that are kept."""
        return self._bytes

    def __getitem__(self, number: int) -> T:
        """Return an item; wait for it where it is not there yet."""
        if number in self._kept:
            self._kept.move_to_end(number)
            return self._kept[number]
        start = time.perf_counter()
        coming = self._coming.pop(number, None) or self._thread.submit(self._read, number)
        item = coming.result()
        self.reads += 1
        self.waited += time.perf_counter() - start
        self._keep(number, item)
        return item

    def expect(self, numbers: Iterable[int]) -> None:
        """Say which items are to be asked for next, in this order, and no longer any others."""
        wanted = [number for number in dict.fromkeys(numbers) if number not in self._kept]
        for number in self._coming.keys() - set(wanted):
            self._coming.pop(number).cancel()
        for number in wanted:
            if number not in self._coming:
                self._coming[number] = self._thread.submit(self._read, number)

    def _keep(self, number: int, item: T) -> None:
        self._kept[number] = item
        self._bytes += self._size(item)
        while self._bytes > self._most and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= self._size(oldest)
