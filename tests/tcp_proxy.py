"""A stretch of network between two processes that can be cut, or made slow, by a test."""

import selectors
import socket
import threading
import time
from contextlib import suppress


class TCPProxy:
    """Forwards connections to a port of this machine, as long as and as fast as it is told to.

    Attributes
    ----------
    address
        What to connect to instead.
    rate
        Bytes a second, each way; 0 = none at all, as when a cable is cut; None = no limit.
    """

    def __init__(self, port):
        self.rate = None
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._forward, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()

    def _forward(self):
        while not self._ended.is_set():
            if self.rate == 0:
                time.sleep(0.01)
                continue
            for key, _ in self._selector.select(0.01):
                if key.fileobj is self._listener:
                    self._connect()
                else:
                    self._pass_on(key.fileobj, key.data)

    def _connect(self):
        near, _ = self._listener.accept()
        try:
            far = socket.create_connection(("127.0.0.1", self._port))
        except OSError:
            near.close()
            return
        self._selector.register(near, selectors.EVENT_READ, far)
        self._selector.register(far, selectors.EVENT_READ, near)

    def _pass_on(self, source, sink):
        rate = self.rate
        try:
            block = source.recv(65536 if rate is None else max(1, rate // 100))
            sink.sendall(block)
        except OSError:
            block = b""
        if rate:
            time.sleep(len(block) / rate)
        if not block:
            for each in (source, sink):
                with suppress(KeyError, ValueError):  # it has been closed before
                    self._selector.unregister(each)
                each.close()
