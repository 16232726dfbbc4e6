"""Proofs that one replay belongs to a run, without the run's other replays (RFC 6962, section
2.1.1).

A proof contains the signed manifest, the signed tree head, the leaf of the attempt, and the audit
path from the leaf to the root. Proof and replay together suffice: nothing else of the run is
needed.
"""

from hashlib import sha256
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from asara_server.tournament.run.directory import RunError
from asara_server.tournament.run.read_run import RunJournal, read_run
from asara_server.tournament.run.run_record import DOCUMENTS, Document, SignedBytes
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.trust.manifest import MANIFEST, Manifest
from asara_server.tournament.trust.result_check import ExpectedMatch, attempt_faults
from asara_server.tournament.trust.signed_documents import (
    DocumentError,
    Published,
    Signed,
    check_signed,
    parse_document,
    read_document_file,
)
from asara_server.tournament.trust.tree_head import (
    TREE_HEAD,
    TreeHead,
    in_order,
    leaf_hash,
    leaf_of,
    levels_of,
    path_in,
    root_from_path,
)

PROOF_SUFFIX = ".proof"
"""Suffix that turns a replay's file name into the usual name of its proof."""

PROOFS = "proofs"
"""Folder of a bundle with the proofs of its replays, each named after its match."""

SIGNED = (MANIFEST, TREE_HEAD)
"""The signed documents contained in a proof."""


class NoEndError(RunError):
    """Raised for a run that has not ended, so that nothing proves what belongs to it."""


class InclusionProof(Document):
    """Content of a proof file."""

    format: Literal["asara inclusion proof 1"] = "asara inclusion proof 1"
    manifest: str
    """Text of `manifest.json`."""
    manifest_signature: str
    """Signature in hexadecimal, like all signatures and hashes."""
    tree_head: str
    """Text of `tree_head.json`."""
    tree_head_signature: str
    leaf: str
    """The attempt's line of `results.jsonl`, without the line break."""
    index: int = Field(ge=0)
    """Index of the leaf in the tree, counted from 0."""
    path: tuple[str, ...]
    """Sibling hashes on the way from the leaf up to the root."""


class ProofMaker:
    """Makes proofs that replays belong to a run."""

    def __init__(self, run: RunJournal) -> None:
        """Take the signed documents and the results, unchecked; raises NoEndError and RunError."""
        self._directory = run.directory
        manifest, head = map(run.record.documents.get, DOCUMENTS)
        if manifest is None or head is None:
            raise NoEndError(f"{run.directory}: the run has not ended")
        self._manifest, self._head = manifest, head
        try:
            schedule = parse_document(manifest.content, Manifest).planned_matches()
        except ValueError as error:
            raise RunError(f"{run.directory}: {MANIFEST}: {error}") from None
        self._results = in_order(run.results, schedule)
        self._levels = levels_of([leaf_hash(leaf_of(result)) for result in self._results])
        self._index_of = {result.replay_sha256: index for index, result in enumerate(self._results)}

    def prove(self, replay: bytes) -> InclusionProof:
        """Return the proof for a replay's content; raises RunError."""
        index = self._index_of.get(sha256(replay).hexdigest())
        if index is None:
            raise RunError(
                f"this replay does not belong to the run in {self._directory}, or its file was "
                "changed"
            )
        return InclusionProof(
            manifest=self._manifest.content.decode(),
            manifest_signature=self._manifest.signature.hex(),
            tree_head=self._head.content.decode(),
            tree_head_signature=self._head.signature.hex(),
            leaf=leaf_of(self._results[index]).decode(),
            index=index,
            path=tuple(part.hex() for part in path_in(self._levels, index)),
        )


def make_proof(directory: Path, replay: bytes) -> InclusionProof:
    """Return the proof that a replay belongs to the run in a directory; raises RunError.

    The proof is not checked.
    """
    return ProofMaker(read_run(directory)).prove(replay)


def proof_in_bundle(replay: Path) -> Path:
    """Return the path of the proof for a replay in an unpacked bundle."""
    return replay.absolute().parent.parent / PROOFS / f"{replay.stem}{PROOF_SUFFIX}"


def read_proof(path: Path) -> InclusionProof:
    """Return the proof read from a file; raises RunError."""
    try:
        return parse_document(read_document_file(path), InclusionProof)
    except DocumentError as error:
        raise RunError(f"{path}: not a proof of inclusion: {error}") from None


def check_inclusion(
    proof: InclusionProof, published: Published
) -> tuple[Signed, ExpectedMatch | None]:
    """Check everything in a proof except the replay itself.

    Returns the signed documents, with all faults of the proof, and what the replay must agree with,
    which is None if the proof is too faulty to tell.
    """
    manifest = _signed_bytes(proof.manifest, proof.manifest_signature)
    head = _signed_bytes(proof.tree_head, proof.tree_head_signature)
    signed = check_signed(manifest, head, published)
    faults = signed.faults
    result, expected = _leaf_result(proof), None
    if result is None:
        faults.append("leaf: not the result of an attempt, as asara writes it")
    elif result.void:
        faults.append(f"leaf: {result.match_id}: attempt {result.attempt} is void")
    elif signed.manifest is not None:
        expected = _expected(signed.manifest, result, faults)
    if signed.head is not None and not _leads_to_root(proof, signed.head):
        faults.append(
            f"path: does not lead from the leaf to the root {signed.head.root} of {TREE_HEAD}: "
            "the attempt does not belong to this run, or its result was changed"
        )
    return signed, expected


def _expected(manifest: Manifest, result: MatchResult, faults: list[str]) -> ExpectedMatch | None:
    try:
        schedule = manifest.planned_matches()
    except ValueError as error:
        faults.append(f"{MANIFEST}: no schedule follows from it: {error}")
        return None
    match = next((match for match in schedule if match.match_id == result.match_id), None)
    faults += attempt_faults("leaf", result, match, manifest.max_attempts)
    if match is None:
        return None
    return ExpectedMatch(manifest, match, result, "leaf")


def _leaf_result(proof: InclusionProof) -> MatchResult | None:
    try:
        result = MatchResult.from_json(proof.leaf)
    except ValidationError:
        return None
    return result if leaf_of(result) == proof.leaf.encode() else None


def _leads_to_root(proof: InclusionProof, head: TreeHead) -> bool:
    try:
        path = [bytes.fromhex(part) for part in proof.path]
    except ValueError:
        return False
    found = root_from_path(leaf_hash(proof.leaf.encode()), proof.index, head.attempts, path)
    return found is not None and found.hex() == head.root


def _signed_bytes(content: str, signature: str) -> SignedBytes:
    try:
        return SignedBytes(content.encode(), bytes.fromhex(signature))
    except ValueError:
        return SignedBytes(content.encode(), b"")
