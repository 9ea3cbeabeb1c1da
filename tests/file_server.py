"""A web server of a few files that misbehaves as asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


@dataclass
class FileServer:
    """Serves bytes by path.

    Attributes
    ----------
    files, moved
        Content, and addresses to redirect to, by path.
    headers
        More headers of every answer, such as an ETag.
    broken
        So many of the next answers stop half way.
    ranges, lengths
        Whether it sends parts of files, and says how long they are.
    silent
        Sends half of the next answer and then nothing, until it is set.
    asked
        Headers of each request.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    broken: int = 0
    ranges: bool = True
    lengths: bool = True
    silent: Event | None = None
    asked: list[dict[str, str]] = field(default_factory=list)
    url: str = ""


@contextmanager
def file_server() -> Iterator[FileServer]:
    """Run a server on a free port of this machine."""
    state = FileServer()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            state.asked.append(dict(self.headers))
            if self.path in state.moved:
                self.send_response(302)
                self.send_header("Location", state.moved[self.path])
                self.end_headers()
            elif self.path in state.files:
                self.send_file(state.files[self.path])
            else:
                self.send_error(404)

        def send_file(self, content: bytes) -> None:
            start = self.first_byte()
            if start is None:
                start = 0
                self.send_response(200)
            elif start >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.end_headers()
                return
            else:
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(content)}/{len(content)}")
            rest = content[start:]
            for name, value in state.headers.items():
                self.send_header(name, value)
            if state.lengths:
                self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            half = rest[: len(rest) // 2]
            if state.silent is not None:
                self.wfile.write(half)
                state.silent.wait(60)
            elif state.broken > 0:
                state.broken -= 1
                self.wfile.write(half)
            else:
                self.wfile.write(rest)

        def first_byte(self) -> int | None:
            """Return where the answer starts, None for the whole file."""
            asked, condition = self.headers["Range"], self.headers["If-Range"]
            if not asked or not state.ranges:
                return None
            known = (state.headers.get("ETag"), state.headers.get("Last-Modified"))
            if condition and condition not in known:
                return None
            return int(asked.removeprefix("bytes=").removesuffix("-"))

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_address[1]}"
    try:
        yield state
    finally:
        if state.silent is not None:
            state.silent.set()
        http.shutdown()
        thread.join()
        http.server_close()
