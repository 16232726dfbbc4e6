"""Signed JSON documents of a run: `manifest.json` and `tree_head.json`.

The signature covers the bytes of the document. It is stored in a file next to the document, whose
name ends in `.sig`: 64 bytes, Ed25519. Hash and signature can thus be checked with ordinary tools.
Each document can be written in only one form, and the audit refuses a file in any other form.
"""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from asara_server.replay.signing import SigningKey
from asara_server.tournament.run.run_record import SignedBytes

_LARGEST = 16 * 2**20
"""Maximum bytes read of a document, far more than any real document has."""


class Document(BaseModel):
    """A JSON document of a run that the referee signs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def content(self) -> bytes:
        """Return the bytes of the document's file; the signature covers these bytes."""
        return (self.model_dump_json(indent=2) + "\n").encode()


AnyDocument = TypeVar("AnyDocument", bound=Document)


class DocumentError(ValueError):
    """Raised if a signed document cannot be read; the text gives the reason."""


def signature_name(name: str) -> str:
    """Return the file name of a document's signature."""
    return f"{name}.sig"


def sign(document: Document, key: SigningKey) -> SignedBytes:
    """Sign a document."""
    content = document.content()
    return SignedBytes(content, key.sign(content))


def read_signed_bytes(path: Path) -> SignedBytes | None:
    """Return the bytes of a document and its signature; None if the document does not exist.

    Without a signature file, the signature is empty. Raises DocumentError.
    """
    if not path.exists() and not path.is_symlink():
        return None
    content = read_document_file(path)
    beside = path.with_name(signature_name(path.name))
    return SignedBytes(content, read_document_file(beside) if beside.exists() else b"")


def parse_document(content: bytes, kind: type[AnyDocument]) -> AnyDocument:
    """Parse the content of a document; raises DocumentError."""
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
