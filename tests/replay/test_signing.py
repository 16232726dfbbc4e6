import os
from base64 import b64encode
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)

from asara_server.replay.signing import (
    KeyFileError,
    SigningKey,
    _create,
    can_make_key,
    default_key_path,
    load_key,
    load_or_make_key,
    public_key_pem,
    read_public_key,
    signature_holds,
)


def pem(kind: str, content: str) -> bytes:
    data = b64encode(bytes.fromhex(content)).decode()
    return f"-----BEGIN {kind} KEY-----\n{data}\n-----END {kind} KEY-----\n".encode()


# Keys of an algorithm 1.2.3.4.
UNKNOWN_PRIVATE = pem("PRIVATE", "300e020100300506032a030404020400")
UNKNOWN_PUBLIC = pem("PUBLIC", "300b300506032a030403020000")


def test_a_new_key_is_announced_once_and_its_folder_is_its_owners(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "referee.key"
    created: list[Path] = []
    key = load_or_make_key(path, created.append)
    assert load_or_make_key(path, created.append).public == key.public
    assert created == [path]
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]
    assert SigningKey.new().public != key.public
    other = path.with_name("other.key")
    load_or_make_key(other, created.append)  # in a folder that exists
    assert created == [path, other]
    assert _create(path) is False, "another process was quicker"
    assert load_key(path).public == key.public
    with pytest.raises(KeyFileError, match="No such file"):
        load_key(tmp_path / "none")


def test_a_key_with_a_password_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    encrypted = BestAvailableEncryption(b"word")
    key = Ed25519PrivateKey.generate()
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encrypted))
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match="without a password"):
        load_key(path)


def test_the_default_is_in_the_users_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/somewhere")
    assert default_key_path() == Path("/somewhere/asara/referee.key")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert default_key_path() == Path.home() / ".config/asara/referee.key"

    def nobody() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", nobody)
    assert default_key_path() == Path("/.config/asara/referee.key")


@pytest.mark.parametrize("allowed", [True, False])
def test_a_key_can_be_made_below_a_folder_that_may_be_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, allowed: bool
) -> None:
    asked: list[object] = []

    def access(*question: object) -> bool:
        asked.append(question)
        return allowed

    monkeypatch.setattr(os, "access", access)
    assert can_make_key(tmp_path / "new" / "folder" / "referee.key") is allowed
    assert asked == [(tmp_path, os.W_OK | os.X_OK)]


def test_what_is_signed_holds_and_nothing_else(tmp_path: Path) -> None:
    key = SigningKey.new()
    path = tmp_path / "referee.pub"
    path.write_bytes(key.public_pem)
    public = read_public_key(path)
    assert public == key.public
    assert public_key_pem(public) == key.public_pem
    signature = key.sign(b"so")
    assert signature_holds(public, signature, b"so") is True
    assert signature_holds(public, signature, b"otherwise") is False
    assert signature_holds(SigningKey.new().public, signature, b"so") is False
    assert signature_holds(bytes(5), signature, b"so") is False


def test_keys_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "key"
    for private, public in ((b"nonsense", b"nonsense"), (UNKNOWN_PRIVATE, UNKNOWN_PUBLIC)):
        path.write_bytes(private)
        path.chmod(0o600)
        with pytest.raises(KeyFileError, match="not an Ed25519 private key"):
            load_or_make_key(path)
        path.write_bytes(public)
        with pytest.raises(KeyFileError, match="not an Ed25519 public key"):
            read_public_key(path)
    for mode in (0o640, 0o604, 0o620, 0o601):
        path.chmod(mode)
        with pytest.raises(KeyFileError, match="others may read it"):
            load_or_make_key(path)
    with pytest.raises(KeyFileError, match="No such file"):
        read_public_key(tmp_path / "none")
    with pytest.raises(KeyFileError, match=r"Not a directory|File exists"):
        load_or_make_key(path / "below")
