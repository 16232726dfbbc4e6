"""What the journal of a run says about the run, apart from its matches.

`RunRecord` takes the facts of the journal in their order. The documents of a run (`run.json`,
`manifest.json` and `tree_head.json`) follow from it; they are written for others, and the program
never reads them.
"""

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from asara_server.eventlog.journal import Fact, JournalError
from asara_server.match.spec import ProcessPolicy
from asara_server.replay.signing import SigningKey, signature_holds
from asara_server.tournament.config.block_kinds import BlockKind
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.sandbox.spec import SandboxKind

RUN: Final = "run"
"""Kind of the facts about what changes in a run; see `RunInfo`."""
GIVEN: Final = "given"
"""Kind of the facts about blocks given to workers; see `progress.Submissions`."""
RUN_INFO: Final = "run.json"
DOCUMENTS: Final = ("manifest", "tree_head")
"""Kinds of the facts with a signed document. The document's file has the same name."""

_MOST_SCHEDULED = 1_000_000_000
"""An upper bound on the matches of any run."""

_IN_MANIFEST: Final = (
    *("asara", "title", "looks", "deals", "blocks", "deal_commitment"),
    *("edition", "edition_sha256", "sandbox"),
)
_IN_TREE_HEAD: Final = ("state", "ended", "scheduled", "out", "suspended", "tournament_secret")


class RunInfo(BaseModel):
    """Content of `run.json`."""

    asara: str
    """Version of asara."""
    title: str
    entries: tuple[str, ...] = ()
    """Names of the entries, in the order of the tournament file."""
    scheduled: int = Field(default=0, ge=0, le=_MOST_SCHEDULED)
    """Number of matches."""
    seed: str
    """Text from which the tournament's secret is derived."""
    seed_drawn: bool
    """True if the seed was drawn for this run, False if the tournament file sets it."""
    deals: Literal["committed", "joint"]
    """"committed" if deals are derived from the seed alone, "joint" if the bots add nonces."""
    blocks: BlockKind
    """How the matches of a block share deals."""
    deal_commitment: str
    """SHA-256 of the tournament's secret, published before the first match."""
    tournament_secret: str | None = None
    """The secret from which all deals are derived, in hexadecimal; None until all are played."""
    edition: str
    edition_sha256: str
    started: str
    """Start time, ISO 8601, UTC."""
    resumed: str | None = None
    """Time of the last resumption, ISO 8601, UTC."""
    ended: str | None = None
    state: Literal["prepared", "running", "finished", "cut short"] = "running"
    """"prepared": the manifest is signed, and no match has begun."""
    sandbox: SandboxKind = "none"
    """Sandbox in which the bots ran."""
    process_per: dict[str, ProcessPolicy] = {}
    """Lifetime of the processes of each entry whose bots are started here."""
    remote: tuple[str, ...] = ()
    """Entries with bots on other machines; the matches of their mirrored blocks share no deal."""
    looks: tuple[int, ...] = ()
    """Match counts at which the run may end early if its ranks are settled."""
    left_out: dict[str, str] = {}
    """Names of folders without a usable `bot.toml`, with the reasons, one line per fault."""
    to_build: tuple[str, ...] = ()
    """Entries whose build has not started yet."""
    building: dict[str, str] = {}
    """Entries being built, each with the time its build began (ISO 8601, UTC)."""
    built: str | None = None
    """Time at which the last build ended, ISO 8601, UTC; None without a build."""
    build_output: dict[str, tuple[str, ...]] = {}
    """Last lines printed by failed builds, by entry."""
    out: dict[str, str] = {}
    """Entries that could not be built or started, with the reasons."""
    suspended: dict[str, str] = {}
    """Entries that forfeited too often, with the reasons."""
    group: dict[str, int] = {}
    """The blocks that are played together now, each with its number of matches."""
    beside_others: bool = False
    """True if a leg began while bots of other runs lived on the machine."""
    stalled_s: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Seconds during which all clocks stood still because the referee was not running. None if
    unknown: while the run is played, and if workers played it.
    """
    costs: RunCosts | None = None
    """Costs of all sessions so far; None before the first match."""
    leader: str = ""
    """The entry with the best score; "" until the run is finished."""
    leader_ranks: tuple[int, int] | None = None
    """Best and worst rank that the results allow for the leader; None if unknown."""
    executor: str = ""
    """Name of the last executor that played matches."""
    manifest_sha256: str = ""
    """SHA-256 of `manifest.json`, published before the first match."""
    resumed_with: tuple[str, ...] = ()
    """Versions of the program that resumed the run, in order."""


class SignedBytes(NamedTuple):
    """The bytes of a document and its signature, both unchecked."""

    content: bytes
    signature: bytes

    @property
    def sha256(self) -> str:
        """SHA-256 of the document, in hexadecimal."""
        return sha256(self.content).hexdigest()

    def fact(self, name: str) -> Fact:
        """Return the fact with which the journal contains this document."""
        values = {
            "content": self.content.decode(errors="replace"),
            "signature": self.signature.hex(),
        }
        return Fact(Path(name).stem, values)

    def signed_by(self, public_key: bytes) -> bool:
        """Return True if the owner of the key signed the document."""
        return signature_holds(public_key, self.signature, self.content)


class Document(BaseModel):
    """A JSON document that the referee signs. The audit refuses it in any other form."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def content(self) -> bytes:
        """Return the bytes of the document's file; the signature covers these bytes."""
        return json_bytes(self)

    def signed(self, key: SigningKey) -> SignedBytes:
        """Return the document with its signature."""
        content = self.content()
        return SignedBytes(content, key.sign(content))


class RunRecord:
    """A run, as far as the facts that were added tell."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        """Raises ValueError, as `add` does."""
        self.documents: dict[str, SignedBytes] = {}
        """The signed documents by kind, unchecked. The tree head is the run's end: it is missing
        while the run is played.
        """
        self._decided: dict[str, Any] = {}
        """Fields of `run.json` that the manifest decides."""
        self._values: dict[str, Any] = {}
        """The other fields of `run.json`."""
        for fact in facts:
            self.add(fact)

    def add(self, fact: Fact) -> None:
        """Add the next fact; raises ValueError if no run has such a fact."""
        kind, values = fact
        try:
            if kind == RUN:
                self.documents.pop("tree_head", None)
                self._values |= values
            elif kind == "group":
                self._values["group"] = values["blocks"]
            elif kind == "others":
                self._values["beside_others"] = True
            elif kind in DOCUMENTS:
                signature = bytes.fromhex(values["signature"])
                document = SignedBytes(values["content"].encode(), signature)
                self._add_document(kind, document, json.loads(document.content))
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
            raise ValueError(f"a line about the run that cannot be read: {kind}") from None

    def _add_document(self, kind: str, document: SignedBytes, found: Any) -> None:
        self.documents[kind] = document
        if kind == "tree_head":
            self._values |= {name: found[name] for name in _IN_TREE_HEAD}
            return
        entries = found["entries"]
        self._values["scheduled"] = found["matches"]
        self._decided = {name: found[name] for name in _IN_MANIFEST} | {
            "entries": [one["name"] for one in entries],
            "process_per": {
                one["name"]: one["process_per"] for one in entries if one["process_per"]
            },
            "remote": [one["name"] for one in entries if one["remote"]],
            "manifest_sha256": document.sha256,
        }

    @property
    def begun(self) -> bool:
        """True if the run has begun."""
        return bool(self._values)

    def info(self, path: Path) -> RunInfo:
        """Return the content of `run.json`; raises JournalError, which names the journal's path."""
        if not self.begun:
            raise JournalError(
                f"{path}: its beginning is missing: restore it from a backup, or start the run "
                "again in another folder"
            )
        try:
            return RunInfo(**self._values | self._decided)
        except (TypeError, ValidationError):
            raise JournalError(
                f"{path}: has no sound description of the run, or another version of asara wrote it"
            ) from None

    def files(self) -> dict[str, bytes]:
        """Return the content of the files with the signed documents, by name."""
        found = {}
        for kind, document in self.documents.items():
            found[name := f"{kind}.json"] = document.content
            found[signature_name(name)] = document.signature
        return found


def signature_name(name: str) -> str:
    """Return the name of the file, next to a document, with its signature: 64 bytes, Ed25519."""
    return f"{name}.sig"


def json_bytes(model: BaseModel) -> bytes:
    """Return the content of a JSON file of a run."""
    return (model.model_dump_json(indent=2) + "\n").encode()
