"""Who may speak with whom, and what each side hears of one that it cannot trust."""

import datetime
import ipaddress
import socket
import time
from dataclasses import replace

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from plain_host import hello
from remote_learner import LIMIT

from ogg_hpc.actors.gateway.certificates import own_certificate
from ogg_hpc.actors.gateway.connection import Connection, End
from ogg_hpc.actors.gateway.finding import Controller
from ogg_hpc.errors import SettingsError


@pytest.fixture
def connect(at_end, loop_thread):
    """Return the end of a connection that cannot last."""

    def connect(target, lease=10.0):
        connection = Connection(loop_thread, target, lease)
        at_end.callback(connection.close)
        connection.send(hello())
        end = time.monotonic() + LIMIT
        while connection.end is None and not connection.heard:
            assert time.monotonic() < end
            time.sleep(0.01)
        return connection

    return connect


def test_a_controller_that_others_can_reach_speaks_tls_by_each_of_its_names(
    start_learner, connect, tmp_path
):
    learner = start_learner(listen="0.0.0.0:0")
    target = Controller(str(learner.announcement)).find()
    assert target.address == f"{socket.gethostname()}:{learner.port}"
    assert target.encrypted
    assert target.certificate == learner.announcement.with_suffix(".crt").read_bytes()
    for name in ("localhost", "127.0.0.1", socket.gethostname()):
        assert connect(replace(target, address=f"{name}:{learner.port}")).heard

    other = own_certificate(tmp_path, "other")[0].read_bytes()
    for untrusted in (other, None):
        refused = connect(replace(target, certificate=untrusted))
        assert refused.end is End.REFUSED
        assert "cannot be trusted" in refused.reason
    plain = connect(replace(target, encrypted=False))
    assert plain.end is End.LOST
    assert not plain.heard
    assert connect(replace(target, token="x" * 43)).end is End.REFUSED


def test_a_controller_on_loopback_alone_speaks_no_tls(start_learner, connect):
    learner = start_learner()
    target = Controller(str(learner.announcement)).find()
    assert not target.encrypted
    assert connect(target).heard
    certificate = own_certificate(learner.folder, "own")[0].read_bytes()
    refused = connect(replace(target, encrypted=True, certificate=certificate))
    assert refused.end is End.REFUSED
    assert "does not speak TLS" in refused.reason


def test_a_host_that_is_to_leave_its_machine_encrypts(tmp_path):
    token = tmp_path / "token"
    token.write_text("x" * 43)
    token.chmod(0o600)
    assert Controller("node7:50051", token).find().encrypted
    assert Controller("127.0.0.1:50051", token, own_certificate(tmp_path, "n")[0]).find().encrypted
    assert not Controller("127.0.0.1:50051", token).find().encrypted


def test_a_given_certificate_is_used_and_known_by_who_has_signed_it(
    start_learner, connect, tmp_path
):
    authority, chain, key = sign(tmp_path)
    learner = start_learner(
        listen="127.0.0.1:0", certificate=str(chain), key=str(key), token_file=str(tmp_path / "t")
    )
    assert not learner.token_file.exists()
    named = Controller(learner.address, tmp_path / "t", authority)
    assert connect(named.find()).heard
    announced = Controller(str(learner.announcement))
    assert connect(announced.find()).heard  # which names the certificate itself


@pytest.mark.parametrize("fault", ["no such file", "not the key"])
def test_a_certificate_that_cannot_be_used_is_told(start_learner, tmp_path, fault):
    certificate, key = own_certificate(tmp_path, "node")
    if fault == "no such file":
        key, message = tmp_path / "missing", "no private key: No such file"
    else:
        key, message = (
            own_certificate(tmp_path, "other")[1],
            "cannot be used as a certificate with the key",
        )
    with pytest.raises(SettingsError, match=message):
        start_learner(certificate=str(certificate), key=str(key))


def sign(folder):
    """Return an authority, a certificate of this machine that it has signed, and its key."""
    authority_key, own_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer, subject = (
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]) for name in ("ca", "node")
    )
    now = datetime.datetime.now(datetime.UTC)

    def certificate(name, key, extension):
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(extension, critical=False)
            .sign(authority_key, hashes.SHA256())
            .public_bytes(serialization.Encoding.PEM)
        )

    authority, chain, key = folder / "ca.pem", folder / "c.pem", folder / "c.key"
    authority.write_bytes(
        certificate(issuer, authority_key, x509.BasicConstraints(ca=True, path_length=None))
    )
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    chain.write_bytes(certificate(subject, own_key, names))
    key.write_bytes(
        own_key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return authority, chain, key
