"""Whom a host is to connect with: the address given, or the one that a run has written down."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ogg_hpc.actors.gateway.addresses import parse_address
from ogg_hpc.actors.gateway.announcement import node_name, read_announcement
from ogg_hpc.actors.gateway.certificates import read_pem
from ogg_hpc.actors.gateway.connection import Target
from ogg_hpc.actors.gateway.tokens import read_token
from ogg_hpc.errors import SettingsError


@dataclass(frozen=True)
class Controller:
    """What a host was told of a controller.

    Parameters
    ----------
    name
        ``HOST:PORT``, or the file ``RUN/controllers/NODE.json``.
    token_file
        The file of the token; None for the one that the file names.
    certificate
        The file of the certificate to trust; None for the one that the file names, or without a
        file for those that this system trusts.
    """

    name: str
    token_file: Path | None = None
    certificate: Path | None = None

    @property
    def announced(self) -> bool:
        """Whether there is something to be found: a file appears when the run has begun."""
        return not self._is_file or Path(self.name).exists()

    @property
    def _is_file(self) -> bool:
        return self.name.endswith(".json")

    def find(self) -> Target | None:
        """Return whom to connect with; None where the run is finished.

        The files are read anew each time: a run that goes on elsewhere writes others.

        Raises
        ------
        InputError
            A file is not there, or is not what it should be.
        SettingsError
            The address or the token is missing, or this node cannot reach the controller.
        """
        return self._by_file() if self._is_file else self._by_name()

    def _by_name(self) -> Target:
        parse_address(self.name)  # what is no address needs no token
        if self.token_file is None:
            raise SettingsError(
                f"{self.name}: name the token that lets this host in, by --token-file; it is "
                "RUN/controllers/token of the run, unless the run was given another"
            )
        return _target(self.name, self.token_file, self.certificate)

    def _by_file(self) -> Target | None:
        path = Path(self.name)
        announced = read_announcement(path)
        if announced.finished:
            return None
        if parse_address(announced.address).loopback and announced.node != node_name():
            raise SettingsError(
                f"{path}: the controller on {announced.node} listens to hosts of that node alone; "
                "set remote.listen to 0.0.0.0:0 in the settings of the run, or connect through a "
                "tunnel by --connect localhost:PORT"
            )
        token_file = self.token_file or Path(announced.token_file)
        certificate = self.certificate
        if certificate is None and announced.certificate:
            certificate = Path(announced.certificate)
        return _target(announced.address, token_file, certificate)


def _target(address: str, token_file: Path, certificate: Path | None) -> Target:
    """Return whom to connect with; a token leaves this machine by an encrypted connection alone."""
    encrypted = certificate is not None or not parse_address(address).loopback
    trusted = None if certificate is None else read_pem(certificate, "certificate")
    return Target(address, read_token(token_file), encrypted, trusted)
