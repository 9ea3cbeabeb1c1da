import datetime
import ipaddress
import socket

import pytest

from ogg_hpc.actors.gateway import certificates
from ogg_hpc.actors.gateway.certificates import local_names, own_certificate, read_pem
from ogg_hpc.errors import InputError

x509 = pytest.importorskip("cryptography.x509")


def load(path):
    return x509.load_pem_x509_certificate(path.read_bytes())


def alternatives(path):
    return load(path).extensions.get_extension_for_class(x509.SubjectAlternativeName).value


def test_a_certificate_has_all_names_of_its_node_and_the_key_is_private(tmp_path):
    certificate, key = own_certificate(tmp_path, "node", also=["login.example.org", "10.1.2.3"])
    names = alternatives(certificate)
    dns = names.get_values_for_type(x509.DNSName)
    addresses = names.get_values_for_type(x509.IPAddress)
    assert {"localhost", socket.gethostname(), "login.example.org"} <= set(dns)
    wanted = {ipaddress.ip_address(each) for each in ("127.0.0.1", "::1", "10.1.2.3")}
    assert wanted <= set(addresses)
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.read_bytes() not in certificate.read_bytes()


def test_the_addresses_of_the_interfaces_are_among_the_names():
    assert {"127.0.0.1", "localhost", socket.gethostname()} <= local_names()


def test_a_controller_that_starts_again_keeps_its_certificate(tmp_path):
    before = own_certificate(tmp_path, "node")[0].read_bytes()
    assert own_certificate(tmp_path, "node")[0].read_bytes() == before


@pytest.mark.parametrize("change", ["new name", "lost key", "damaged", "other key", "run out"])
def test_a_certificate_that_does_not_suit_is_made_anew(tmp_path, change, monkeypatch):
    also = []
    if change == "run out":
        monkeypatch.setattr(certificates, "_LIFE", datetime.timedelta(hours=1))
    certificate, key = own_certificate(tmp_path, "node")
    monkeypatch.undo()
    before = certificate.read_bytes()
    if change == "new name":
        also = ["another.example.org"]
    elif change == "lost key":
        key.unlink()
    elif change == "damaged":
        certificate.write_bytes(before[:100])
    elif change == "other key":
        key.write_bytes(own_certificate(tmp_path, "other")[1].read_bytes())
    own_certificate(tmp_path, "node", also)
    assert certificate.read_bytes() != before


def test_what_is_no_pem_is_refused(tmp_path):
    path = tmp_path / "c.pem"
    with pytest.raises(InputError, match="no certificate: No such file"):
        read_pem(path, "certificate")
    path.write_text("hello")
    with pytest.raises(InputError, match="expected PEM"):
        read_pem(path, "certificate")
