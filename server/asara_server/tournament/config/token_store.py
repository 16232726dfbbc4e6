"""Tokens of entries on other machines: made, listed, revoked; only their hashes are kept.

A token is 32 random bytes in letters. Its file, of JSON, has the SHA-256 of each, a name, and when
it was made and revoked; nobody can come in by what it holds. Only its owner may change it. It is
replaced at once, so that a reader never sees half of it, and under a lock, so that two who change
it at the same time both do.
"""

import hashlib
import os
import secrets
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator

from asara_server.atomic_file import PRIVATE, replace_file
from asara_server.replay.signing import default_key_path
from asara_server.tournament.config.names import name_fault
from asara_server.tournament.config.validation_errors import describe, problem

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

TOKEN_BYTES: Final = 32
"""Random bytes that a token is made of."""

_LARGEST: Final = 16 << 20
"""Bytes that are read of a file of tokens."""


class TokenError(ValueError):
    """The tokens cannot be read or changed so; the text says why and what to do."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Token(_Strict):
    """What is kept of a token."""

    name: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """Of the token's text in ASCII, in hexadecimal digits."""
    created: AwareDatetime
    revoked: AwareDatetime | None = None
    """When it was; None while it is good."""

    @field_validator("name")
    @classmethod
    def _name(cls, name: str) -> str:
        if fault := name_fault(name):
            raise problem(fault)
        return name


class Tokens(_Strict):
    """All that a file holds, the oldest first. Of each name one token at most is good."""

    version: Literal[1] = 1
    tokens: tuple[Token, ...] = ()

    @field_validator("tokens")
    @classmethod
    def _distinct(cls, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        good = Counter(token.name for token in tokens if token.revoked is None)
        for name, times in good.items():
            if times > 1:
                raise problem(f"two tokens are named {name!r}, and neither is revoked")
        return tokens

    def good(self, name: str) -> Token | None:
        """The token of this name, unless there is none, or it was revoked."""
        return next((t for t in self.tokens if t.name == name and t.revoked is None), None)

    def revoked(self, name: str) -> Token | None:
        """The last one of this name that was revoked."""
        found = [t for t in self.tokens if t.name == name and t.revoked is not None]
        return found[-1] if found else None


def sha256_of(token: str) -> str:
    """What a token is known by. Whatever was presented as one has a hash, too."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def default_tokens_path() -> Path:
    """Where tokens are kept: beside the referee's key."""
    return default_key_path().with_name("tokens.json")


def read_tokens(path: Path) -> Tokens:
    """The tokens in a file, none where there is no file; raises TokenError."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise TokenError(
                    f"{path}: others may change it, and let in whom they like: "
                    f"look through it, then run chmod 600 {path}"
                )
            data = file.read(_LARGEST)
    except FileNotFoundError:
        return Tokens()
    except OSError as error:
        raise TokenError(f"{path}: {error.strerror or error}") from None
    try:
        return Tokens.model_validate_json(data)
    except ValidationError as error:
        what = "; ".join(describe(error, Tokens)[:3])
        raise TokenError(
            f"{path}: cannot be read as tokens ({what}): mend it, or name another file"
        ) from None


def new_token(path: Path, name: str) -> str:
    """Make a token of this name; it is told here and nowhere else. Raises TokenError."""
    if fault := name_fault(name):
        raise TokenError(f"the name of a token {fault}")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with _changing(path, make_folder=True) as held:
        if held.tokens.good(name) is not None:
            raise TokenError(
                f"{path}: has a token named {name!r}, which cannot be told again: revoke it first, "
                "or choose another name"
            )
        made = Token(name=name, sha256=sha256_of(token), created=_now())
        held.replace((*held.tokens.tokens, made))
    return token


def revoke_token(path: Path, name: str) -> None:
    """From now on the token of this name is good for nothing; raises TokenError."""
    with _changing(path) as held:
        good = held.tokens.good(name)
        if good is None:
            was = held.tokens.revoked(name)
            why = f"was revoked before, {was.revoked:%Y-%m-%d %H:%M} UTC" if was else "is not there"
            raise TokenError(f"{path}: the token {name!r} {why}; `asara token list` has all")
        revoked = good.model_copy(update={"revoked": _now()})
        held.replace([revoked if token is good else token for token in held.tokens.tokens])


class _Held:
    """A file of tokens that nobody else changes meanwhile."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.tokens = read_tokens(path)

    def replace(self, tokens: Sequence[Token]) -> None:
        """Replace the file's tokens, all or none of them."""
        text = Tokens(tokens=tuple(tokens)).model_dump_json(indent=2) + "\n"
        replace_file(self._path, text.encode(), mode=PRIVATE)


@contextmanager
def _changing(path: Path, *, make_folder: bool = False) -> Iterator[_Held]:
    """The file, read behind a lock. The lock has a file of its own: this one is replaced."""
    place = Path(os.path.realpath(path))  # a link stays one
    lock = place.with_name(f".{place.name}.lock")
    try:
        if make_folder:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)) as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            yield _Held(place)
    except OSError as error:
        raise TokenError(f"{path}: cannot be changed: {error.strerror or error}") from None


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
