import pytest

from ogg_hpc.actors.gateway.addresses import Address, parse_address
from ogg_hpc.errors import SettingsError


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [("node7:50051", "node7", 50051), ("[::1]:0", "::1", 0), ("10.0.0.1:1", "10.0.0.1", 1)],
)
def test_an_address_is_read_and_written_alike(text, host, port):
    assert parse_address(text) == Address(host, port)
    assert str(parse_address(text)) == text


@pytest.mark.parametrize(
    "text", ["", "node7", ":1", "node7:", "node7:x", "node7:65536", "::1:5", "[::1]", "[node7]:1"]
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(SettingsError, match="expected HOST:PORT"):
        parse_address(text)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "::1"])
def test_loopback_stays_on_the_machine(host):
    assert Address(host, 1).loopback
    assert not Address(host, 1).any


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_all_networks_are_not_loopback(host):
    assert Address(host, 1).any
    assert not Address(host, 1).loopback


@pytest.mark.parametrize("host", ["10.0.0.1", "node7", "localhost.example.org", "fe80::1"])
def test_others_leave_the_machine(host):
    assert not Address(host, 1).loopback
