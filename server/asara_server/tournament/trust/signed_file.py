"""Signed JSON documents of a run: `manifest.json` and `tree_head.json`.

The signature covers the bytes of the file, and lies beside it in a file whose name ends in `.sig`:
64 bytes, Ed25519. So the hash and the signature of a document can be checked with ordinary tools.
Each content has one form, and the audit refuses a file in any other.
"""

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from asara_server.atomic_file import replace_file
from asara_server.replay.signing import SigningKey, signature_holds

_LARGEST = 16 * 2**20
"""Bytes of a document, many more than any has."""


class Document(BaseModel):
    """A signed document."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def content(self) -> bytes:
        """Return the bytes that its file has, and that are signed."""
        return (self.model_dump_json(indent=2) + "\n").encode()


def in_written_form(document: BaseModel, content: bytes) -> bool:
    """Return True if a program wrote this content, from which the document was parsed, as its form.

    An earlier version of the program left out fields that were added since.
    """
    forms = (document.model_dump_json(indent=2, exclude_unset=unset) for unset in (False, True))
    return any(content == f"{form}\n".encode() for form in forms)


AnyDocument = TypeVar("AnyDocument", bound=Document)


class DocumentError(ValueError):
    """A signed document cannot be read; the text says why."""


class SignedBytes(NamedTuple):
    """The bytes of a document and of its signature, neither of which has been checked."""

    content: bytes
    signature: bytes

    @property
    def sha256(self) -> str:
        """SHA-256 of the document, in hexadecimal."""
        return sha256(self.content).hexdigest()

    def signed_by(self, public_key: bytes) -> bool:
        """Return True if the owner of the key signed the document."""
        return signature_holds(public_key, self.signature, self.content)


def signature_name(name: str) -> str:
    """Return the name of the signature of a file."""
    return f"{name}.sig"


def write_signed(path: Path, document: Document, key: SigningKey) -> SignedBytes:
    """Write a document and its signature; raises OSError."""
    content = document.content()
    signed = SignedBytes(content, key.sign(content))
    replace_file(path, content)
    replace_file(path.with_name(signature_name(path.name)), signed.signature)
    return signed


def read_signed_bytes(path: Path) -> SignedBytes | None:
    """Return the bytes of a document and its signature; None if there is no such document.

    The signature is empty if there is none. Raises DocumentError.
    """
    if not path.exists() and not path.is_symlink():
        return None
    content = read_document_file(path)
    beside = path.with_name(signature_name(path.name))
    return SignedBytes(content, read_document_file(beside) if beside.exists() else b"")


def parse_document(content: bytes, kind: type[AnyDocument]) -> AnyDocument:
    """Return the document with this content; raises DocumentError."""
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise DocumentError(f"{place}: {first['msg']}" if place else first["msg"]) from None


def read_document_file(path: Path) -> bytes:
    """Return the content of a regular file of bounded size; raises DocumentError."""
    try:
        if path.is_symlink() or not path.is_file():
            raise DocumentError("not a regular file")
        if path.stat().st_size > _LARGEST:
            raise DocumentError("larger than any file of this kind")
        return path.read_bytes()
    except OSError as error:
        raise DocumentError(error.strerror or str(error)) from None
