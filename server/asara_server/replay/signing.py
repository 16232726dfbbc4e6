"""The referee's key, which signs every replay (see `file.signed_records`), and its signatures.

The private key is an Ed25519 key as PEM (PKCS #8, no password) that only its owner may read; it is
created when first needed. Every run directory contains the public key (PEM, SubjectPublicKeyInfo).
"""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from asara_server import system
from asara_server.atomic_file import PRIVATE, create_file
from asara_server.bounded_file import read_bounded
from asara_server.user_error import UserError

PUBLIC_KEY_FILE: Final = "referee.pub"
"""Name of the public key in a run directory."""

_LARGEST_KEY: Final = 64 * 1024


class KeyFileError(UserError, ValueError):
    """Raised when a key cannot be read or created; the text gives the reason and the remedy."""


class SigningKey:
    """The referee's private key.

    - `public`: the public key, 32 bytes
    - `public_pem`: the public key as PEM
    """

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        public = key.public_key()
        self.public = public.public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.public_pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    @classmethod
    def new(cls) -> Self:
        """Return a new random key."""
        return cls(Ed25519PrivateKey.generate())

    def sign(self, data: bytes) -> bytes:
        """Return the signature of the data, 64 bytes."""
        return self._key.sign(data)

    def private_pem(self) -> bytes:
        """Return the private key as PEM."""
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def default_key_path() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME")
    if home and Path(home).is_absolute():
        return Path(home) / "asara" / "referee.key"
    try:
        return Path.home() / ".config" / "asara" / "referee.key"
    except RuntimeError:  # neither HOME nor an entry in passwd
        return Path("/.config/asara/referee.key")


def can_make_key(path: Path) -> bool:
    """Return True if a file can be created at this path, including missing parent folders."""
    folder = next(one for one in path.parents if os.path.exists(one))  # noqa: PTH110 - no errors
    return os.access(folder, os.W_OK | os.X_OK)


def load_or_make_key(
    path: Path | None = None, created: Callable[[Path], None] = lambda path: None
) -> SigningKey:
    """Return the key in a file, creating the file if it does not exist; raises KeyFileError.

    `created` is called with the path of a new key.
    """
    path = path or default_key_path()
    try:
        if not path.exists() and _create(path):
            created(path)
        return _load(path)
    except OSError as error:
        raise KeyFileError(f"{path}: {error.strerror or error}") from None


def load_key(path: Path | None = None) -> SigningKey:
    """Return the key in an existing file; raises KeyFileError."""
    path = path or default_key_path()
    try:
        return _load(path)
    except OSError as error:
        raise KeyFileError(f"{path}: {error.strerror or error}") from None


def _create(path: Path) -> bool:
    """Write a new key; return False if another process has written one first."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        create_file(path, SigningKey.new().private_pem(), mode=PRIVATE)
        return True
    return False


def _load(path: Path) -> SigningKey:
    if system.open_to_others(path.stat().st_mode, 0o077):
        raise KeyFileError(
            f"{path}: others may read it, and sign as this referee: run chmod 600 {path}, "
            "or move it away for a new key to be created, if somebody may have read it"
        )
    try:
        key = load_pem_private_key(read_bounded(path, _LARGEST_KEY), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(
            f"{path}: not an Ed25519 private key in PEM without a password; choose another "
            "file, or none to have a new key created"
        )
    return SigningKey(key)


def read_public_key(path: Path) -> bytes:
    """Return the 32 bytes of the public key in a file; raises KeyFileError."""
    try:
        key = load_pem_public_key(read_bounded(path, _LARGEST_KEY))
    except OSError as error:
        raise KeyFileError(f"{path}: {error.strerror or error}") from None
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise KeyFileError(
            f"{path}: not an Ed25519 public key in PEM; name the {PUBLIC_KEY_FILE} of a run"
        )
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def public_key_pem(public_key: bytes) -> bytes:
    """Return a public key of 32 bytes as PEM; raises ValueError."""
    key = Ed25519PublicKey.from_public_bytes(public_key)
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def signature_holds(public_key: bytes, signature: bytes, data: bytes) -> bool:
    """Return True if the owner of the key signed this data."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def fingerprint(public_key: bytes) -> str:
    """Return a short form of a key by which people can recognise it."""
    return public_key.hex()[:16]
