"""Download of one file over HTTP, resumed where an earlier try broke off."""

from __future__ import annotations

import fcntl
import http.client
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email.message import Message
from io import RawIOBase
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.runtime.files import read_json, write_block, write_json, writing

_BLOCK = 1 << 18
_TIMEOUT = 60.0  # seconds without a byte
_SCHEMES = ("http", "https")
_WEB_PAGES = (b"<!doctype html", b"<html")

Report = Callable[[int, int | None], None]
"""Called with the bytes that are there and, where known, the bytes in all."""


@contextmanager
def downloaded(
    url: str,
    part: Path,
    *,
    size: int | None = None,
    report: Report = lambda done, total: None,
    timeout: float = _TIMEOUT,
) -> Iterator[Path]:
    """Download a file and yield it.

    It is removed when the block ends, or raises an InputError about the address. Another error
    leaves it for the next call. So does a transfer that breaks off, with a note of where it came
    from beside it; the next call asks for the rest, on the condition that the server's file is
    still the same one.

    Parameters
    ----------
    url
        An http or https address.
    part
        Where the file goes.
    size
        Bytes that it has to have, where known.
    report
        Told of the progress.
    timeout
        Seconds that the server may be silent.

    Raises
    ------
    InputError
        A server that refuses or falls silent, a transfer that broke off, content of another size, a
        web page in place of the file, a disk that is full, or another process that downloads to the
        same place.
    SettingsError
        An address that is neither http nor https.
    """
    if urlsplit(url).scheme not in _SCHEMES:
        raise SettingsError(f"{url}: only http and https addresses are fetched")
    with _held(part) as stream:
        try:
            _Transfer(url, part, stream, size, report, timeout).run()
        except _UselessError as error:
            _remove(part)
            raise InputError(url, str(error)) from None
        except InputError:
            if not part.stat().st_size:
                _remove(part)
            raise
        try:
            yield part
        except InputError as error:
            if error.args[0] == url:  # what is wrong would be wrong again
                _remove(part)
            raise
        _remove(part)


class _UselessError(Exception):
    """What has come is of no use for another try."""


class _Redirects(HTTPRedirectHandler):
    """Follows redirections that stay as safe as the first address."""

    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> Request | None:
        new = urlsplit(newurl).scheme
        if new not in _SCHEMES or (new == "http" and urlsplit(req.full_url).scheme == "https"):
            raise HTTPError(newurl, code, f"Redirection to {newurl} is not allowed", headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Transfer:
    """One try to complete a part.

    Where a part's bytes come from is noted before the first of them: the address, the bytes in all
    and the validator by which the server knows the version of its file.
    """

    def __init__(
        self,
        url: str,
        part: Path,
        stream: RawIOBase,
        size: int | None,
        report: Report,
        timeout: float,
    ) -> None:
        self.url, self.part, self.stream = url, part, stream
        self.size, self.report, self.timeout = size, report, timeout
        self.have = stream.seek(0, os.SEEK_END)
        self.origin = _read_origin(part) if self.have else {}
        if self.origin.get("url") != url:
            self._start_over()

    def run(self) -> None:
        total = self.origin.get("total")
        if self.have and self.have == total and self.size in (None, total):
            self.report(self.have, total)
            return
        try:
            with self._answer() as response:
                self._receive(response)
        except HTTPError as error:
            if error.code == 416 and self.have:
                # The server's file is no longer than the part, so it is another one.
                self._start_over()
                self.run()
                return
            raise InputError(self.url, _refusal(error)) from error
        except (URLError, OSError, http.client.HTTPException, zlib.error) as error:
            reason = error.reason if isinstance(error, URLError) else error
            raise InputError(
                self.url, f"cannot be fetched ({reason}); try again to resume"
            ) from error

    def _answer(self) -> http.client.HTTPResponse:
        # Servers that compress on the fly would change the size and the checksum.
        headers = {"User-Agent": "ogg-hpc", "Accept-Encoding": "identity"}
        if self.have:
            headers["Range"] = f"bytes={self.have}-"
            if self.origin["validator"]:
                headers["If-Range"] = self.origin["validator"]
        request = Request(self.url, headers=headers)
        response: http.client.HTTPResponse = build_opener(_Redirects).open(
            request, timeout=self.timeout
        )
        return response

    def _receive(self, response: http.client.HTTPResponse) -> None:
        decoder = _decoder(self.url, response.headers.get("Content-Encoding"))
        total = self._continue(response, decoder is not None)
        if decoder is None and total is not None and self.size not in (None, total):
            raise _UselessError(f"has {total} bytes, the catalogue says {self.size}")
        self.report(self.have, total)
        while block := _read(response):
            if decoder is not None:
                block = decoder.decompress(block)
            if self.have == 0 and block.lstrip()[:20].lower().startswith(_WEB_PAGES):
                raise _UselessError("is a web page, not the file; see whether the address is right")
            write_block(self.stream, block, self.part)
            self.have += len(block)
            self.report(self.have, total)
        if decoder is not None:
            if not decoder.eof:
                raise _UselessError(
                    f"the transfer broke off after {self.have} bytes; try again from the start"
                )
            total = None
        total = total if total is not None else self.size
        if total is not None and self.have < total:
            raise InputError(
                self.url,
                f"the transfer broke off after {self.have} of {total} bytes; try again to resume",
            )
        if total is not None and self.have > total:
            raise _UselessError(f"has {self.have} bytes, expected {total}")

    def _continue(self, response: http.client.HTTPResponse, coded: bool) -> int | None:
        """Get ready for what comes; return the bytes in all, where the server says so."""
        if response.status == 206:
            start, total = _content_range(response.headers.get("Content-Range", ""))
            known: int | None = self.origin["total"]
            if start == self.have and not coded and (known is None or total in (None, known)):
                return known if total is None else total
            raise _UselessError("the server sends another part than asked for; try again")
        self._start_over()
        if coded:
            return None
        length = response.headers.get("Content-Length", "")
        total = int(length) if length.isdecimal() else None
        self.origin = {"url": self.url, "validator": _validator(response.headers), "total": total}
        write_json(_origin_file(self.part), self.origin)
        return total

    def _start_over(self) -> None:
        if self.have:
            with writing(self.part):
                self.stream.truncate(0)
        self.have, self.origin = 0, {}
        _origin_file(self.part).unlink(missing_ok=True)


@contextmanager
def _held(part: Path) -> Iterator[RawIOBase]:
    """Open a part for this process alone, without a buffer that could fail when it is closed."""
    with writing(part):
        stream = part.open("ab", buffering=0)
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had it may have removed it since it was opened.
            held = os.path.samestat(os.fstat(stream.fileno()), part.stat())
        except (BlockingIOError, FileNotFoundError):
            held = False
        except OSError:  # a file system without locks
            held = True
        if not held:
            raise InputError(part, "another process is fetching it; wait until it is done")
        yield stream


def _remove(part: Path) -> None:
    with suppress(OSError):
        _origin_file(part).unlink()
    with suppress(OSError):
        part.unlink()


def _origin_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.origin")


def _read_origin(part: Path) -> dict[str, Any]:
    try:
        return read_json(_origin_file(part), "note of where a download came from")
    except InputError:
        return {}


def _validator(headers: Message) -> str | None:
    """Return what names this version of the file; weak tags cannot be asked for."""
    tag: str | None = headers.get("ETag")
    if tag and not tag.startswith("W/"):
        return tag
    modified: str | None = headers.get("Last-Modified")
    return modified


def _content_range(text: str) -> tuple[int | None, int | None]:
    """Return the first byte and the bytes in all of ``bytes 5-9/10``, None where not stated."""
    unit, _, rest = text.partition(" ")
    span, _, total = rest.partition("/")
    start = span.partition("-")[0]
    if unit != "bytes" or not start.isdecimal():
        return None, None
    return int(start), int(total) if total.isdecimal() else None


def _decoder(url: str, coding: str | None) -> Any:
    """Return what undoes the coding of a transfer; None where nothing is to be undone."""
    coding = (coding or "identity").strip().lower()
    if coding == "identity":
        return None
    if coding not in ("gzip", "x-gzip"):
        raise _UselessError(f"the server sends it coded as {coding}, not as it is; try a mirror")
    if Path(urlsplit(url).path).suffix in (".gz", ".tgz"):
        return None  # the name of the file's own compression
    return zlib.decompressobj(wbits=31)


def _read(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read1(_BLOCK)  # what has come, so that a silence loses nothing
    except http.client.IncompleteRead as error:
        return error.partial


def _refusal(error: HTTPError) -> str:
    reason = str(error.reason).splitlines()[0] if error.reason else ""
    if 300 <= error.code < 400:
        return f"cannot be followed: {reason}"
    later = "; try again later" if error.code == 429 or error.code >= 500 else ""
    return f"the server answers {error.code} {reason}{later}"
