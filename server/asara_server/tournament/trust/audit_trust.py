"""Checks who signed the documents of a run, and whether they match what was published.

An auditor may have up to three things that were published before the first match: the referee's
public key, the hash of the manifest, and the commitment to the deals.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256

from asara_server.match.deal_secrets import commitment
from asara_server.replay.signing import fingerprint
from asara_server.tournament.run.run_record import SignedBytes
from asara_server.tournament.trust.manifest import MANIFEST, Manifest
from asara_server.tournament.trust.signed_file import (
    AnyDocument,
    DocumentError,
    parse_document,
    signature_name,
)
from asara_server.tournament.trust.tree_head import TREE_HEAD, TreeHead


@dataclass(frozen=True, slots=True)
class Published:
    """What the auditor has; None for anything unknown. Hashes are in lower-case hexadecimal."""

    public_key: bytes | None = None
    manifest_sha256: str | None = None


class KeySource(Enum):
    """Why a key is trusted."""

    GIVEN = "the one given with --public-key"
    MANIFEST = "from the published manifest"
    OWN = "found in the run itself"


@dataclass(slots=True)
class Signed:
    """The signed documents of a run, as far as they are readable."""

    faults: list[str]
    """Faults; each text begins with a file name."""
    manifest: Manifest | None = None
    manifest_sha256: str = ""
    manifest_signed: bool = False
    """True if the right key signed the manifest as it is now; nothing follows from another one."""
    head: TreeHead | None = None
    public_key: bytes | None = None
    """Key that must have signed everything; None if there is no key."""
    source: KeySource = KeySource.OWN
    deal_commitment: str | None = None
    """The commitment to the deals, from the signed manifest."""

    @property
    def secret(self) -> bytes | None:
        """The secret of all deals from the tree head, if it matches the commitment."""
        try:
            secret = bytes.fromhex(self.head.tournament_secret or "") if self.head else b""
        except ValueError:
            return None
        return secret if secret and commitment(secret).hex() == self.deal_commitment else None


def check_signed(manifest: SignedBytes, head: SignedBytes | None, published: Published) -> Signed:
    """Check the documents of a run against the published values, and against each other."""
    signed = Signed([], manifest_sha256=manifest.sha256, public_key=published.public_key)
    if published.public_key is not None:
        signed.source = KeySource.GIVEN
    _check_manifest(signed, manifest, published)
    if head is not None:
        _check_head(signed, manifest, head)
    return signed


def _check_manifest(signed: Signed, found: SignedBytes, published: Published) -> None:
    expected = published.manifest_sha256
    if expected is not None and found.sha256 != expected:
        signed.faults.append(
            f"{MANIFEST}: not the manifest that was published: expected SHA-256 {expected}, "
            f"found {found.sha256}"
        )
    manifest = signed.manifest = _parse(signed, MANIFEST, found.content, Manifest)
    if manifest is None:
        return
    own = _hexadecimal(manifest.public_key)
    if signed.public_key is None:
        signed.public_key = own
        if found.sha256 == expected:
            signed.source = KeySource.MANIFEST
    elif own != signed.public_key:
        signed.faults.append(
            f"{MANIFEST}: expected a signature by key {fingerprint(signed.public_key)}; it names "
            f"key {manifest.public_key[:16]}: another key signed this run"
        )
    signed.faults += _signature_faults(MANIFEST, found, own)
    signed.manifest_signed = own == signed.public_key and found.signed_by(own)
    if signed.manifest_signed:
        signed.deal_commitment = manifest.deal_commitment


def _check_head(signed: Signed, manifest: SignedBytes, found: SignedBytes) -> None:
    head = signed.head = _parse(signed, TREE_HEAD, found.content, TreeHead)
    signed.faults += _signature_faults(TREE_HEAD, found, signed.public_key)
    if head is None:
        return
    if signed.manifest_signed and head.manifest_sha256 != manifest.sha256:
        signed.faults.append(
            f"{TREE_HEAD}: belongs to another run: expected the manifest {manifest.sha256}, "
            f"found {head.manifest_sha256}"
        )
    known = signed.deal_commitment is not None
    if known and head.tournament_secret is not None and signed.secret is None:
        signed.faults.append(
            f"{TREE_HEAD}: the secret of the tournament does not open the commitment: expected "
            f"{signed.deal_commitment}, found {_commitment_text(head.tournament_secret)}"
        )
    if head.state == "finished" and head.tournament_secret is None:
        signed.faults.append(
            f"{TREE_HEAD}: tournament_secret: missing, although the run is finished"
        )


def _signature_faults(name: str, found: SignedBytes, key: bytes | None) -> Iterator[str]:
    if not found.signature:
        yield f"{signature_name(name)}: missing"
    elif key is not None and not found.signed_by(key):
        yield (
            f"{name}: not signed by key {fingerprint(key)}: the file or {signature_name(name)} was "
            "changed after the signing, or another key signed it"
        )


def _parse(
    signed: Signed, name: str, content: bytes, kind: type[AnyDocument]
) -> AnyDocument | None:
    try:
        document = parse_document(content, kind)
    except DocumentError as error:
        signed.faults.append(f"{name}: cannot be read: {error}")
        return None
    if document.content() != content:
        signed.faults.append(f"{name}: not written as asara writes it: its text was changed")
    return document


def _hexadecimal(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _commitment_text(secret: str) -> str:
    data = _hexadecimal(secret)
    return sha256(data).hexdigest() if data else "no secret"
