"""What a controller is told, and what it makes for itself: its secrets."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from ogg_hpc.actors.gateway.addresses import Address, parse_address
from ogg_hpc.actors.gateway.announcement import controllers_folder, node_name
from ogg_hpc.actors.gateway.certificates import check_pair, own_certificate, read_pem
from ogg_hpc.actors.gateway.link import socket_folder
from ogg_hpc.actors.gateway.tokens import make_token, read_token
from ogg_hpc.actors.settings import RemoteSettings
from ogg_hpc.errors import SettingsError


@dataclass(frozen=True)
class ControllerOptions:
    """What a controller is told.

    Attributes
    ----------
    listen : Address
        Port 0 for a free one.
    sockets : Path
        The folder where learners listen; see `link.socket_folder`.
    learners : int
        How many there are to be: hosts are given away when all are there.
    announcement : Path
        The file that tells hosts where the controller is.
    token_file : Path
        The file of the token.
    token : str
        What hosts must know.
    certificate_file : str
        The file by which hosts know the certificate; empty without TLS.
    certificate, key : bytes
        PEM; empty without TLS.
    lease : float
        Seconds without a sign of life after which a host is gone.
    parent : int
        The process that the controller belongs to, and ends with; 0 for none.
    """

    listen: Address
    sockets: Path
    learners: int
    announcement: Path
    token_file: Path
    token: str = field(repr=False)
    certificate_file: str
    certificate: bytes
    key: bytes = field(repr=False)
    lease: float
    parent: int


def controller_options(
    run_folder: Path, remote: RemoteSettings, learners: int, lease: float, parent: int = 0
) -> ControllerOptions:
    """Return the options of a controller, its secrets read, or made where none are given.

    Only what stays on this machine goes unencrypted. A certificate of its own goes to the
    folder ``controllers`` of the run, as the token does.

    Raises
    ------
    InputError
        A file cannot be read or written, or is not what it should be.
    SettingsError
        A setting does not fit.
    MissingExtraError
        The package ``cryptography`` is not installed, and a certificate is to be made.
    """
    listen = parse_address(remote.listen)
    if learners < 1:
        raise SettingsError("--learners must be at least 1")
    if not 0 < lease < math.inf:
        raise SettingsError("--lease must be positive and finite")
    folder, node = controllers_folder(run_folder), node_name()
    token_file = Path(remote.token_file) if remote.token_file else folder / "token"
    make_token(token_file)
    certificate, key = Path(remote.certificate), Path(remote.key)
    encrypted = bool(remote.certificate) or not listen.loopback
    if encrypted and not remote.certificate:
        certificate, key = own_certificate(folder, node, also=() if listen.any else (listen.host,))
    certificate_bytes = key_bytes = b""
    if encrypted:
        certificate_bytes = read_pem(certificate, "certificate")
        key_bytes = read_pem(key, "private key")
        check_pair(certificate, key)
    return ControllerOptions(
        listen=listen,
        sockets=socket_folder(run_folder),
        learners=learners,
        announcement=folder / f"{node}.json",
        token_file=token_file.resolve(),
        token=read_token(token_file),
        certificate_file=str(certificate.resolve()) if encrypted else "",
        certificate=certificate_bytes,
        key=key_bytes,
        lease=lease,
        parent=parent,
    )
