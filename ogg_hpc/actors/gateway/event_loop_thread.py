"""An event loop in a thread, for a program that does something else meanwhile."""

from __future__ import annotations

import asyncio
import threading
from typing import Self

_PATIENCE = 1.0  # seconds that a task has to end


class EventLoopThread:
    """Runs an event loop until it is closed; a context manager.

    All gRPC connections of a process share one: gRPC hands events of any loop to all of them, and
    fails where one has been closed.

    Attributes
    ----------
    loop : asyncio.AbstractEventLoop
        The loop.
    """

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the loop and what is still waiting in it; nothing must need it any more."""
        asyncio.run_coroutine_threadsafe(_cancel_all(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


async def _cancel_all() -> None:
    """Cancel all other tasks: gRPC leaves some, which asyncio would complain of."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=_PATIENCE)
