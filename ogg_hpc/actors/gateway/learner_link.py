"""The controller's connection with one learner of its node."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from ogg_hpc.actors.gateway.link import HEAD, PACKET_BYTES, WINDOW, Kind, Packet, head


class LearnerLink:
    """A learner, as the controller sees it.

    Attributes
    ----------
    name : str
        For people.
    about : dict
        What the learner is: the digest of its ``schema``.
    load : int
        Environments of the hosts that it has been given.
    finished : bool
        Whether it needs hosts no more.
    """

    def __init__(
        self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.name = name
        self.about: dict[str, Any] = {}
        self.load = 0
        self.finished = False
        self._reader = reader
        self._writer = writer
        self._turn = asyncio.Lock()  # one at a time waits for the learner to read
        writer.transport.set_write_buffer_limits(high=WINDOW)

    @classmethod
    async def connect(cls, path: Path) -> LearnerLink:
        """Return the link with the learner that listens at a path.

        Raises
        ------
        OSError
            None does.
        """
        link = cls(path.name, *await asyncio.open_unix_connection(path, limit=PACKET_BYTES))
        packet = await link.receive()
        link.about = json.loads(packet.content)
        return link

    async def receive(self) -> Packet:
        """Return the next packet of the learner.

        Raises
        ------
        OSError, EOFError
            The learner is gone.
        """
        kind, host, length = HEAD.unpack(await self._reader.readexactly(HEAD.size))
        return Packet(Kind(kind), host, await self._reader.readexactly(length))

    async def packets(self) -> AsyncIterator[Packet]:
        """Yield what the learner sends until it is gone."""
        while True:
            try:
                packet = await self.receive()
            except (OSError, EOFError):
                return
            yield packet

    async def pass_on(self, host: int, frame: bytes) -> None:
        """Send a frame of a host, as soon as the learner has room for it."""
        async with self._turn:
            self.tell(Kind.FRAME, host, frame)
            await self._writer.drain()

    def tell(self, kind: Kind, host: int = 0, content: bytes = b"") -> None:
        """Send a packet at once."""
        if not self._writer.is_closing():
            self._writer.write(head(kind, host, content) + content)

    @property
    def lags(self) -> bool:
        """Whether the learner has much left to read."""
        return self._writer.transport.get_write_buffer_size() > 0

    def close(self) -> None:
        """End the connection, whatever is on its way."""
        self._writer.transport.abort()
