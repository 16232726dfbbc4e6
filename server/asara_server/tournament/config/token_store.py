"""The token file of remote entries: creates, lists and revokes tokens, which are stored as hashes.

A token is the text of 32 random bytes. For each token, the JSON file holds the SHA-256, the name,
and the times of creation and revocation; none of these can be used to connect. Only the file's
owner may change the file. It is replaced atomically, so that a reader never sees a partial file,
and under a lock, so that two concurrent changes both take effect.
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

from asara_server import system
from asara_server.atomic_file import PRIVATE, replace_file
from asara_server.bounded_file import open_ordinary
from asara_server.replay.signing import default_key_path
from asara_server.tournament.config.fields import Name
from asara_server.tournament.config.names import name_fault
from asara_server.tournament.config.validation_errors import describe
from asara_server.user_error import UserError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

TOKEN_BYTES: Final = 32
"""Random bytes in a token."""

_LARGEST: Final = 16 << 20
"""Maximum bytes read of a token file."""


class TokenError(UserError, ValueError):
    """Raised if tokens cannot be read or changed; the text gives the reason and the remedy."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Token(_Strict):
    """A token as stored in the file: by its hash."""

    name: Name
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """SHA-256 of the token's text, in hexadecimal digits."""
    created: AwareDatetime
    revoked: AwareDatetime | None = None
    """Time of revocation; None while the token is valid."""


class Tokens(_Strict):
    """The content of a token file, oldest token first. At most one token per name is valid."""

    version: Literal[1] = 1
    tokens: tuple[Token, ...] = ()

    @field_validator("tokens")
    @classmethod
    def _distinct(cls, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        valid = Counter(token.name for token in tokens if token.revoked is None)
        for name, times in valid.items():
            if times > 1:
                raise ValueError(f"two tokens are named {name!r}, and neither is revoked")
        return tokens

    def valid(self, name: str) -> Token | None:
        """Return the valid token of this name, or None."""
        return next((t for t in self.tokens if t.name == name and t.revoked is None), None)

    def revoked(self, name: str) -> Token | None:
        """Return the most recently revoked token of this name, or None."""
        found = [t for t in self.tokens if t.name == name and t.revoked is not None]
        return found[-1] if found else None


def sha256_of(token: str) -> str:
    """Return the SHA-256 that identifies a token; the text need not be a valid token."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def default_tokens_path() -> Path:
    """Return the path of the user's token file, which is next to the referee's key."""
    return default_key_path().with_name("tokens.json")


def read_tokens(path: Path) -> Tokens:
    """Return the tokens in a file, or no tokens if the file is missing; raise TokenError."""
    try:
        with open_ordinary(path) as file:
            mode = os.fstat(file.fileno()).st_mode
            if system.open_to_others(mode, stat.S_IWGRP | stat.S_IWOTH):
                raise TokenError(
                    f"{path}: other users may change it and so admit any bot: check its content, "
                    f"then run chmod 600 {path}"
                )
            data = file.read(_LARGEST)
    except FileNotFoundError:
        return Tokens()
    except OSError as error:
        raise TokenError(f"{path}: {error.strerror or error}") from None
    try:
        return Tokens.model_validate_json(data)
    except ValidationError as error:
        faults = "; ".join(describe(error, Tokens)[:3])
        raise TokenError(
            f"{path}: is not a token file ({faults}): repair it, or choose another file"
        ) from None


def new_token(path: Path, name: str) -> str:
    """Create and return a token of this name, storing only its hash; raise TokenError."""
    if fault := name_fault(name):
        raise TokenError(f"the name of a token {fault}")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with _locked(path, make_folder=True) as file:
        before = read_tokens(file)
        if before.valid(name) is not None:
            raise TokenError(
                f"{path}: already has a token named {name!r}, which cannot be shown again; revoke "
                "that token first, or choose another name"
            )
        made = Token(name=name, sha256=sha256_of(token), created=_now())
        _write(file, (*before.tokens, made))
    return token


def revoke_token(path: Path, name: str) -> None:
    """Revoke the token of this name; raise TokenError if there is no valid one."""
    with _locked(path) as file:
        before = read_tokens(file)
        current = before.valid(name)
        if current is None:
            was = before.revoked(name)
            why = f"was revoked on {was.revoked:%Y-%m-%d %H:%M} UTC" if was else "does not exist"
            raise TokenError(
                f"{path}: the token {name!r} {why}; `asara token list` shows all tokens"
            )
        revoked = current.model_copy(update={"revoked": _now()})
        _write(file, [revoked if token is current else token for token in before.tokens])


def _write(path: Path, tokens: Sequence[Token]) -> None:
    """Replace the content of a file atomically."""
    text = Tokens(tokens=tuple(tokens)).model_dump_json(indent=2) + "\n"
    replace_file(path, text.encode(), mode=PRIVATE)


@contextmanager
def _locked(path: Path, *, make_folder: bool = False) -> Iterator[Path]:
    """Lock a token file, and yield its path without links.

    The lock is a separate file, because the token file gets replaced.
    """
    place = Path(os.path.realpath(path))  # a link stays a link
    if place.is_dir():
        raise TokenError(f"{path}: is a folder; choose a file")
    if place.exists():
        read_tokens(place)  # refuses other kinds of file before anything is created
    lock = place.with_name(f".{place.name}.lock")
    try:
        if make_folder:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)) as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            yield place
    except OSError as error:
        raise TokenError(f"{path}: cannot be changed: {error.strerror or error}") from None


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
