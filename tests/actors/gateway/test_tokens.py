import threading

import pytest

from ogg_hpc.actors.gateway.tokens import make_token, read_token
from ogg_hpc.errors import InputError


def test_a_token_is_made_once_and_is_its_owners_alone(tmp_path):
    path = tmp_path / "folder" / "token"
    make_token(path)
    token = read_token(path)
    make_token(path)
    assert read_token(path) == token
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["token"]


def test_tokens_differ(tmp_path):
    for name in "ab":
        make_token(tmp_path / name)
    assert read_token(tmp_path / "a") != read_token(tmp_path / "b")


def test_many_makers_agree_on_one_token(tmp_path):
    path = tmp_path / "token"
    found = []

    def make():
        make_token(path)
        found.append(read_token(path))

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_token_that_others_can_read_is_refused_with_the_remedy(tmp_path, mode):
    path = tmp_path / "token"
    make_token(path)
    path.chmod(mode)
    with pytest.raises(InputError, match=f"chmod 600 {path}") as refused:
        read_token(path)
    assert path.read_text().strip() not in str(refused.value)


@pytest.mark.parametrize(
    "content", [b"", b"short\n", b"a" * 5000, b"two words of a token", b"\xff" * 32]
)
def test_what_is_no_token_is_refused_without_being_told(tmp_path, content):
    path = tmp_path / "token"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InputError, match="not a token") as refused:
        read_token(path)
    assert not content or content.decode("latin1") not in str(refused.value)


def test_a_missing_token_names_the_option(tmp_path):
    with pytest.raises(InputError, match="--token-file"):
        read_token(tmp_path / "token")
