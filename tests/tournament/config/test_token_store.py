"""Tokens: what is kept of them, who may change them, and what is no file of tokens."""

import fcntl
import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from asara_server.tournament.config.token_store import (
    TokenError,
    Tokens,
    new_token,
    read_tokens,
    revoke_token,
    sha256_of,
)
from tests.events import EVENT_S, wait_until


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "tokens.json"


def known(tokens: Tokens, token: str) -> list[str]:
    """The names of good tokens that this one is."""
    good = [one for one in tokens.tokens if one.revoked is None]
    return [one.name for one in good if one.sha256 == sha256_of(token)]


def test_a_token_is_kept_as_a_hash_only(file: Path) -> None:
    token = new_token(file, "ann")
    assert len(token) == 43  # 32 bytes, six bits a letter
    assert known(read_tokens(file), token) == ["ann"]
    assert known(read_tokens(file), token + "x") == []
    assert read_tokens(file).tokens[0].created.microsecond == 0  # whole seconds are shown
    for path in file.parent.iterdir():
        assert token not in path.read_text()
        assert path.stat().st_mode & 0o777 == 0o600
    assert new_token(file, "bob") != token
    assert known(read_tokens(file), token) == ["ann"]


def test_a_revoked_token_is_good_for_nothing_and_its_name_is_free(file: Path) -> None:
    first = new_token(file, "ann")
    revoke_token(file, "ann")
    assert known(read_tokens(file), first) == []
    assert read_tokens(file).valid("ann") is None
    assert read_tokens(file).revoked("ann") is not None
    second = new_token(file, "ann")
    assert known(read_tokens(file), second) == ["ann"]
    assert known(read_tokens(file), first) == []
    assert len(read_tokens(file).tokens) == 2
    revoke_token(file, "ann")
    assert read_tokens(file).revoked("ann") == read_tokens(file).tokens[1], "the last one"


def test_what_cannot_be_done_is_told(file: Path) -> None:
    assert read_tokens(file) == Tokens()
    new_token(file, "ann")
    with pytest.raises(TokenError, match="has a token named 'ann', which cannot be shown again"):
        new_token(file, "ann")
    with pytest.raises(TokenError, match="the token 'bob' does not exist"):
        revoke_token(file, "bob")
    revoke_token(file, "ann")
    with pytest.raises(TokenError, match=r"the token 'ann' was revoked on 20\d\d-"):
        revoke_token(file, "ann")
    with pytest.raises(TokenError, match="the name of a token must have 1 to 40 characters"):
        new_token(file, "")
    with pytest.raises(TokenError, match=r"U\+001B, cannot be part of a file name"):
        new_token(file, "a\x1b[2J")


GOOD = {"name": "ann", "sha256": "0" * 64, "created": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\xfe\x00garbage",
        b"[]",
        b'{"tokens": [',
        json.dumps({"version": 2, "tokens": []}).encode(),
        json.dumps({"tokens": [GOOD, GOOD]}).encode(),
        json.dumps({"tokens": [{**GOOD, "sha256": "0" * 63}]}).encode(),
        json.dumps({"tokens": [{**GOOD, "sha256": "G" * 64}]}).encode(),
        json.dumps({"tokens": [{**GOOD, "name": "\x1b[2J"}]}).encode(),
        json.dumps({"tokens": [{**GOOD, "created": "yesterday"}]}).encode(),
        json.dumps({"tokens": [{**GOOD, "token": "told"}]}).encode(),
        b"[" * 1_000_000,
    ],
)
def test_what_is_no_file_of_tokens_is_named_and_left_alone(file: Path, text: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(text)
    file.chmod(0o600)
    for change in (
        lambda: read_tokens(file),
        lambda: new_token(file, "bob"),
        lambda: revoke_token(file, "ann"),
    ):
        with pytest.raises(TokenError, match=r"tokens\.json: is not a token file") as caught:
            change()
        assert str(caught.value).isprintable()
    assert file.read_bytes() == text


def test_a_file_that_others_may_change_is_refused(file: Path) -> None:
    new_token(file, "ann")
    file.chmod(0o660)
    with pytest.raises(TokenError, match="other users may change it and so admit any bot"):
        read_tokens(file)
    file.chmod(0o644)  # who reads it can do nothing with it
    new_token(file, "bob")
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_one(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(file)
    new_token(link, "ann")
    new_token(file, "bob")
    assert link.is_symlink()
    assert [token.name for token in read_tokens(link).tokens] == ["ann", "bob"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_change_waits_for_the_one_before(file: Path) -> None:
    new_token(file, "ann")
    lock = file.with_name(".tokens.json.lock")
    waiter = re.compile(rf"-> FLOCK .*:{lock.stat().st_ino} ")
    with lock.open() as held, ThreadPoolExecutor() as pool:
        fcntl.flock(held, fcntl.LOCK_EX)
        change = pool.submit(new_token, file, "bob")
        wait_until(
            "it waits", lambda: change.done() or waiter.search(Path("/proc/locks").read_text())
        )
        assert [token.name for token in read_tokens(file).tokens] == ["ann"]
        fcntl.flock(held, fcntl.LOCK_UN)
        change.result(EVENT_S)
    assert [token.name for token in read_tokens(file).tokens] == ["ann", "bob"]


def test_a_token_file_is_made_in_a_folder_of_its_owner_and_nothing_beside_what_is_none(
    tmp_path: Path,
) -> None:
    path = tmp_path / "new" / "folder" / "tokens.json"
    new_token(path, "ann")
    assert path.parent.stat().st_mode & 0o777 == 0o700
    with pytest.raises(TokenError, match="is a folder; choose a file"):
        new_token(tmp_path, "ann")
    other = tmp_path / "other.txt"
    other.write_text("mine")
    with pytest.raises(TokenError, match="is not a token file"):
        new_token(other, "ann")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["new", "other.txt"]
