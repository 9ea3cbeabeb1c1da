"""A certificate that a controller makes for itself: its own authority, for this node alone."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ogg_hpc.errors import InputError, MissingExtraError
from ogg_hpc.runtime.files import write_whole
from ogg_hpc.runtime.private_files import write_private

_LIFE = datetime.timedelta(days=365)
_SKEW = datetime.timedelta(days=1)  # by which the clocks of two machines may differ
_SIOCGIFADDR = 0x8915


def own_certificate(folder: Path, name: str, also: Iterable[str] = ()) -> tuple[Path, Path]:
    """Return the files of a certificate and its key for this node, made unless they are there.

    A controller that is started again keeps its certificate: hosts have a copy.

    Parameters
    ----------
    folder, name
        The files are ``NAME.crt`` and ``NAME.key`` there; the key is its owner's alone.
    also
        Names and addresses by which hosts reach this node, besides its own.

    Raises
    ------
    InputError
        They cannot be written.
    MissingExtraError
        The package ``cryptography`` is not installed.
    """
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    names = sorted({*local_names(), *also})
    if not _suits(certificate, key, names):
        certificate_bytes, key_bytes = _self_signed(names)
        write_private(key, key_bytes)
        with write_whole(certificate) as temporary:
            temporary.write_bytes(certificate_bytes)
    return certificate, key


def read_pem(path: Path, what: str) -> bytes:
    """Return the content of a file that holds PEM blocks.

    Raises
    ------
    InputError
        There is none, or it holds something else.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(path, f"no {what}: {error.strerror}") from None
    if b"-----BEGIN " not in content:
        raise InputError(path, f"no {what}: expected PEM, which begins with -----BEGIN")
    return content


def check_pair(certificate: Path, key: Path) -> None:
    """Find out that a certificate and a key cannot be used.

    Raises
    ------
    InputError
        They do not belong together, or are damaged or encrypted.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, password="")  # or it would ask at the terminal
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise InputError(
            certificate, f"cannot be used as a certificate with the key {key}: {reason}"
        ) from None


def local_names() -> set[str]:
    """Return the names and addresses of this node by which hosts may reach it."""
    names = {"localhost", "127.0.0.1", "::1", socket.gethostname(), socket.getfqdn()}
    with suppress(OSError):
        found = socket.getaddrinfo(socket.gethostname(), None)
        names.update(str(each[4][0]).partition("%")[0] for each in found)
    return names | _interface_addresses()


def _interface_addresses() -> set[str]:
    """Return the addresses of all network interfaces, as Linux tells them."""
    import fcntl

    found = set()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            with suppress(OSError):  # an interface without such an address
                request = struct.pack("256s", name.encode()[:15])
                answer = fcntl.ioctl(asking.fileno(), _SIOCGIFADDR, request)
                found.add(socket.inet_ntoa(answer[20:24]))
    with suppress(OSError), open("/proc/net/if_inet6") as table:
        for line in table:
            address = ipaddress.IPv6Address(bytes.fromhex(line.split()[0]))
            if not address.is_link_local:
                found.add(str(address))
    return found


def _suits(certificate: Path, key: Path, names: list[str]) -> bool:
    """Return whether the files are there, belong together, are of these names and still valid."""
    x509, _, serialization, _ = _cryptography()
    try:
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
        secret = serialization.load_pem_private_key(key.read_bytes(), None)
    except (OSError, ValueError, TypeError):
        return False
    until = found.not_valid_after_utc - _SKEW
    alternatives = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return bool(
        secret.public_key() == found.public_key()
        and until > datetime.datetime.now(datetime.UTC)
        and set(_alternatives(x509, names)) <= set(alternatives)
    )


def _self_signed(names: list[str]) -> tuple[bytes, bytes]:
    """Return a certificate and its key as PEM."""
    x509, hashes, serialization, ec = _cryptography()
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ogg-hpc controller")])
    now = datetime.datetime.now(datetime.UTC)
    usage = x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.SERVER_AUTH])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + _LIFE)
        .add_extension(x509.SubjectAlternativeName(_alternatives(x509, names)), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return certificate.public_bytes(serialization.Encoding.PEM), secret


def _alternatives(x509: Any, names: list[str]) -> list[Any]:
    """Return the names as a certificate holds them; one that it cannot hold is left out."""
    found = []
    for name in names:
        try:
            found.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            with suppress(ValueError):
                found.append(x509.DNSName(name))
    return found


def _cryptography() -> tuple[Any, Any, Any, Any]:
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError:
        raise MissingExtraError("cryptography", "remote") from None
    return x509, hashes, serialization, ec
