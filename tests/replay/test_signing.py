from pathlib import Path

import pytest

from asara_server.replay.signing import (
    KeyFileError,
    SigningKey,
    default_key_path,
    load_or_make_key,
    read_public_key,
    signature_holds,
)


def test_a_key_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "referee.key"
    key = load_or_make_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]
    assert load_or_make_key(path).public == key.public
    assert SigningKey.new().public != key.public


def test_the_default_is_in_the_users_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/somewhere")
    assert default_key_path() == Path("/somewhere/asara/referee.key")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert default_key_path() == Path.home() / ".config/asara/referee.key"


def test_what_is_signed_holds_and_nothing_else(tmp_path: Path) -> None:
    key = SigningKey.new()
    path = tmp_path / "referee.pub"
    path.write_bytes(key.public_pem)
    public = read_public_key(path)
    assert public == key.public
    signature = key.sign(b"so")
    assert signature_holds(public, signature, b"so")
    assert not signature_holds(public, signature, b"otherwise")
    assert not signature_holds(SigningKey.new().public, signature, b"so")
    assert not signature_holds(bytes(5), signature, b"so")


def test_keys_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("nonsense")
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match="not an Ed25519 private key"):
        load_or_make_key(path)
    with pytest.raises(KeyFileError, match="not an Ed25519 public key"):
        read_public_key(path)
    path.chmod(0o644)
    with pytest.raises(KeyFileError, match="others may read it"):
        load_or_make_key(path)
    with pytest.raises(KeyFileError, match="No such file"):
        read_public_key(tmp_path / "none")
    with pytest.raises(KeyFileError, match=r"Not a directory|File exists"):
        load_or_make_key(path / "below")
