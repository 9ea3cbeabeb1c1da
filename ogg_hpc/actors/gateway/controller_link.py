"""A learner's connection with the controller of its node, which never waits."""

from __future__ import annotations

import socket
from collections import deque
from itertools import islice

from ogg_hpc.actors.gateway.link import HEAD, PACKET_BYTES, Kind, Packet, head

_BUFFERS = 64  # of a call of the system


class ControllerLink:
    """Packets from a controller and to it.

    Parameters
    ----------
    connection
        A connected socket, which is this object's from now on.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._incoming = bytearray()
        self._outgoing = deque[memoryview]()

    def fileno(self) -> int:
        """Return the number of the socket, for a selector."""
        return self._socket.fileno()

    @property
    def idle(self) -> bool:
        """Whether all that was sent is on its way."""
        return not self._outgoing

    def send(self, kind: Kind, host: int = 0, content: bytes = b"") -> None:
        """Send a packet as soon as there is room for it; see `flush`."""
        self._outgoing += (memoryview(head(kind, host, content)), memoryview(content))

    def flush(self) -> None:
        """Send as much as there is room for.

        Raises
        ------
        OSError
            The controller is gone.
        """
        while self._outgoing:
            try:
                sent = self._socket.sendmsg(islice(self._outgoing, _BUFFERS))
            except BlockingIOError:
                return
            while self._outgoing and sent >= len(self._outgoing[0]):
                sent -= len(self._outgoing.popleft())
            if sent:
                self._outgoing[0] = self._outgoing[0][sent:]

    def receive(self) -> list[Packet]:
        """Return the packets that have come.

        Raises
        ------
        OSError, EOFError
            The controller is gone.
        """
        try:
            chunk = self._socket.recv(PACKET_BYTES)
        except BlockingIOError:
            return []
        if not chunk:
            raise EOFError
        incoming = self._incoming
        incoming += chunk
        packets = []
        start = 0
        while len(incoming) - start >= HEAD.size:
            kind, host, length = HEAD.unpack_from(incoming, start)
            end = start + HEAD.size + length
            if len(incoming) < end:
                break
            packets.append(Packet(Kind(kind), host, bytes(incoming[start + HEAD.size : end])))
            start = end
        del incoming[:start]
        return packets

    def close(self) -> None:
        """End the connection, whatever is on its way."""
        self._socket.close()
