"""Whole messages over a stream socket, without ever waiting for the other end."""

from __future__ import annotations

import socket
import struct
from collections import deque
from contextlib import suppress

from ogg_hpc.actors.message import MESSAGE_LIMIT, MalformedMessageError

_LENGTH = struct.Struct("<Q")
_PIECE = 1 << 18  # bytes that are read at once


class Channel:
    """One end of a connected stream socket; every message goes after its length.

    Parameters
    ----------
    connection
        The socket, which belongs to the channel from now on.

    Attributes
    ----------
    ended : bool
        Whether the other end has been closed, and all that it had sent has been read.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._outgoing: deque[memoryview] = deque()
        self._incoming = bytearray()
        self._in_vain = False  # nobody will read what is sent; there may still be what to read
        self.ended = False

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        return self._socket.fileno()

    @property
    def sending(self) -> bool:
        """Whether something is left to send, once the descriptor can be written to."""
        return bool(self._outgoing)

    def send(self, data: bytes) -> None:
        """Send a message, or as much of it as the other end takes now; `flush` sends the rest."""
        self._outgoing += (memoryview(_LENGTH.pack(len(data))), memoryview(data))
        self.flush()

    def flush(self) -> None:
        """Send as much as the other end takes now."""
        try:
            while self._outgoing and not self._in_vain:
                sent = self._socket.sendmsg([*self._outgoing][:2])
                while self._outgoing and sent >= len(self._outgoing[0]):
                    sent -= len(self._outgoing.popleft())
                if sent:
                    self._outgoing[0] = self._outgoing[0][sent:]
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            self._in_vain = True
        if self._in_vain:
            self._outgoing.clear()

    def receive(self) -> list[bytes]:
        """Return the messages that have come whole by now.

        Raises
        ------
        MalformedMessageError
            The other end announces a message above the limit.
        """
        self._read()
        messages = []
        while len(self._incoming) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._incoming)
            if length > MESSAGE_LIMIT:
                raise MalformedMessageError(f"a message of {length} bytes is announced")
            end = _LENGTH.size + length
            if len(self._incoming) < end:
                break
            messages.append(bytes(memoryview(self._incoming)[_LENGTH.size : end]))
            del self._incoming[:end]
        return messages

    def close(self) -> None:
        """Close this end; what has not been sent is forgotten."""
        self.ended = self._in_vain = True
        self._outgoing.clear()
        self._socket.close()

    def _read(self) -> None:
        with suppress(BlockingIOError):
            while not self.ended:
                try:
                    piece = self._socket.recv(_PIECE)
                except ConnectionResetError:
                    piece = b""
                self._incoming += piece
                self.ended = not piece
