"""Addresses such as ``node7:50051`` or ``[::1]:0``, and whether they leave the node."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple

from ogg_hpc.errors import SettingsError


class Address(NamedTuple):
    """Where a controller listens."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def loopback(self) -> bool:
        """Whether nobody outside this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def any(self) -> bool:
        """Whether it stands for all addresses of the machine."""
        try:
            return ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            return False


def parse_address(text: str) -> Address:
    """Return the address that a text such as ``node7:50051`` names.

    Raises
    ------
    SettingsError
        It names none.
    """
    host, _, port = text.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    if host and port.isascii() and port.isdigit() and int(port) < 1 << 16:
        bracketed = text.strip().startswith("[")
        if bracketed == (":" in host):
            return Address(host, int(port))
    raise SettingsError(
        f"{text!r} is no address; expected HOST:PORT, such as node7:50051 or [::1]:50051"
    )
