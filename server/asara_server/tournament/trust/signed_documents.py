"""The signed documents of a run: its manifest, signed at its start, and its tree head, at its end.

The audit checks who signed them, and whether they match what was published. An auditor may have two
things that were published before the first match: the referee's public key, and the hash of the
manifest, which contains the commitment to the deals.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeVar

from pydantic import ValidationError

from asara_server.bounded_file import open_evidence
from asara_server.journal.journal import Fact
from asara_server.match.deal_secrets import commitment
from asara_server.replay.signing import SigningKey, fingerprint
from asara_server.tournament.run.directory import RunDirectory, RunError
from asara_server.tournament.run.run_record import Document, SignedBytes, signature_name
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult, utc_now
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.trust.manifest import MANIFEST, Manifest, changed_field
from asara_server.tournament.trust.tree_head import TREE_HEAD, TreeHead, root_text

_LARGEST: Final = 16 * 2**20
"""Maximum bytes read of a document, far more than any real document has."""

AnyDocument = TypeVar("AnyDocument", bound=Document)


class DocumentError(ValueError):
    """Raised if a signed document cannot be read; the text gives the reason."""


# Signing


def signed_beginning(directory: RunDirectory, manifest: Manifest, key: SigningKey) -> list[Fact]:
    """Return the facts with which a new run begins; a resumed run must have the same manifest.

    Raises RunError.
    """
    found = directory.record.documents.get("manifest")
    if found is None:
        return [manifest.signed(key).fact(MANIFEST)]
    path = directory.path
    try:
        begun = parse_document(found.content, Manifest)
    except DocumentError as error:
        raise RunError(f"{path / MANIFEST}: {error}") from None
    changed = changed_field(begun, manifest)
    if changed and begun.public_key != manifest.public_key:
        raise RunError(
            f"{path}: the replays of this run are signed with another key; pass that key with --key"
        )
    if changed:
        raise RunError(
            f"{path / MANIFEST}: the run cannot resume with other settings: {changed}; "
            "restore them, or start another run"
        )
    return []


def sign_end(
    directory: RunDirectory,
    key: SigningKey,
    schedule: Sequence[ScheduledMatch],
    results: Sequence[MatchResult],
    standings: Standings,
    *,
    out: dict[str, str],
    suspended: dict[str, str],
    tournament_secret: str | None,
) -> None:
    """Write the standings, and the signed tree head as the last row of the journal.

    `schedule` is the whole schedule of the manifest. Without a secret, the run was cut short.
    """
    standings_sha256 = sha256(directory.write_standings(standings)).hexdigest()
    head = TreeHead(
        manifest_sha256=directory.info.manifest_sha256,
        state="cut short" if tournament_secret is None else "finished",
        ended=utc_now(),
        scheduled=standings.matches.scheduled,
        played=standings.matches.played,
        void=standings.matches.void,
        attempts=len(results),
        root=root_text(results, schedule),
        results_sha256=directory.results_sha256(),
        standings_sha256=standings_sha256,
        journal_sha256=directory.journal.sha256(),
        out=out,
        suspended=suspended,
        tournament_secret=tournament_secret,
    )
    directory.note(head.signed(key).fact(TREE_HEAD))
    directory.export()


# Reading


def read_signed_bytes(path: Path) -> SignedBytes | None:
    """Return the bytes of a document and its signature; None if the document does not exist.

    Without a signature file, the signature is empty. Raises DocumentError.
    """
    if not path.exists() and not path.is_symlink():
        return None
    content = read_document_file(path)
    signature = path.with_name(signature_name(path.name))
    return SignedBytes(content, read_document_file(signature) if signature.exists() else b"")


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
        with open_evidence(path, _LARGEST) as file:
            return file.read()
    except OSError as error:
        raise DocumentError(error.strerror or str(error)) from None


# Checking


@dataclass(frozen=True, slots=True)
class Published:
    """The published values that the auditor has; None for a value that the auditor lacks."""

    public_key: bytes | None = None
    manifest_sha256: str | None = None
    """In lower-case hexadecimal."""


class Cause(Enum):
    """Why a fault does not show whether a run or replay is sound.

    The hash, key or proof that the auditor gave is another one, or the run's journal is missing.
    """

    OTHER_MANIFEST = auto()
    OTHER_KEY = auto()
    OTHER_PROOF = auto()
    NO_JOURNAL = auto()


@dataclass(slots=True)
class Signed:
    """The signed documents of a run, as far as they are readable."""

    faults: list[str]
    """Faults; each text begins with a file name."""
    manifest: Manifest | None = None
    manifest_sha256: str = ""
    manifest_signed: bool = False
    """True if the key in the manifest signed it as it is now; nothing follows from another one."""
    head: TreeHead | None = None
    public_key: bytes | None = None
    """Key that must have signed everything, from the manifest; None if there is no key."""
    causes: list[Cause] = field(default_factory=list)
    """One cause for each fault that has one."""

    @property
    def deal_commitment(self) -> str | None:
        """The commitment to the deals, from the signed manifest."""
        return self.manifest.deal_commitment if self.manifest and self.manifest_signed else None

    @property
    def secret(self) -> bytes | None:
        """The secret of all deals from the tree head, if it matches the commitment."""
        secret = _hexadecimal(self.head.tournament_secret or "") if self.head else b""
        return secret if secret and commitment(secret).hex() == self.deal_commitment else None


def check_signed(found: SignedBytes, head: SignedBytes | None, published: Published) -> Signed:
    """Check the documents of a run against the published values, and against each other.

    `found` is the manifest.
    """
    signed = Signed([], manifest_sha256=found.sha256, public_key=published.public_key)
    expected, given = published.manifest_sha256, published.public_key
    if expected is not None and found.sha256 != expected:
        signed.causes.append(Cause.OTHER_MANIFEST)
        signed.faults.append(
            f"{MANIFEST}: not the manifest that was published: expected SHA-256 {expected}, "
            f"found {found.sha256}"
        )
    manifest = signed.manifest = _accept(signed, MANIFEST, found, Manifest)
    if manifest is not None:
        signed.manifest_signed = found.signed_by(signed.public_key or b"")
        if given is not None and signed.public_key != given:
            signed.causes.append(Cause.OTHER_KEY)
            signed.faults.append(
                f"{MANIFEST}: expected a signature by key {fingerprint(given)}; it names "
                f"key {manifest.public_key[:16]}: another key signed this run"
            )
    if head is not None:
        _check_head(signed, found, head)
    return signed


def _check_head(signed: Signed, manifest: SignedBytes, found: SignedBytes) -> None:
    head = signed.head = _accept(signed, TREE_HEAD, found, TreeHead)
    if head is None:
        return
    if signed.manifest_signed and head.manifest_sha256 != manifest.sha256:
        signed.faults.append(
            f"{TREE_HEAD}: belongs to another run: expected the manifest {manifest.sha256}, "
            f"found {head.manifest_sha256}"
        )
    known = signed.deal_commitment is not None
    if known and head.tournament_secret is not None and signed.secret is None:
        secret = _hexadecimal(head.tournament_secret)
        signed.faults.append(
            f"{TREE_HEAD}: the secret of the tournament does not open the commitment: expected "
            f"{signed.deal_commitment}, found {commitment(secret).hex() if secret else 'no secret'}"
        )
    if head.state == "finished" and head.tournament_secret is None:
        signed.faults.append(
            f"{TREE_HEAD}: tournament_secret: missing, although the run is finished"
        )


def _accept(
    signed: Signed, name: str, found: SignedBytes, kind: type[AnyDocument]
) -> AnyDocument | None:
    """Check the form and the signature of a document; the manifest says whose key it must be."""
    document = None
    try:
        document = parse_document(found.content, kind)
    except DocumentError as error:
        signed.faults.append(f"{name}: cannot be read: {error}")
    if document is not None and document.content() != found.content:
        signed.faults.append(f"{name}: not written as asara writes it: its text was changed")
    if isinstance(document, Manifest):
        signed.public_key = _hexadecimal(document.public_key)
    key = signed.public_key
    if not found.signature:
        signed.faults.append(f"{signature_name(name)}: missing")
    elif key is not None and not found.signed_by(key):
        signed.faults.append(
            f"{name}: not signed by key {fingerprint(key)}: the file or {signature_name(name)} was "
            "changed after the signing, or another key signed it"
        )
    return document


def _hexadecimal(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""
