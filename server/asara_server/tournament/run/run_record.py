"""What the journal of a run says about the run, apart from its matches.

`RunRecord` takes the facts of the journal in their order. The documents of a run (`run.json`,
`manifest.json` and `tree_head.json`) follow from it; they are written for others, and the program
never reads them.

The record of bot processes says when each process began and ended, and what it played. With this
record, anyone can check that no bot process survived from one match of a deal to the next (see
`Lives`). A machine means a kernel since its last boot. The time of a line is the time since that
boot, which is unaffected by changes to the clock. A worker's lines can come twice, if the worker
returned a block and the runner was killed before it removed the block's journal.

The README of `journal` lists the kinds of facts.
"""

import json
import platform
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from asara_server.journal.journal import Fact, JournalError
from asara_server.match.spec import ProcessPolicy
from asara_server.replay.signing import SigningKey, signature_holds
from asara_server.text import plain
from asara_server.tournament.config.fields import BlockKind
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.sandbox.resources import SandboxKind
from asara_server.tournament.schedule.schedule import ScheduledMatch, attempt_name
from asara_server.tournament.standings.match_result import MatchResult

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


# Processes


class ProcessRow(BaseModel):
    """A line of the record of bot processes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    row: Literal["group", "began", "plays", "ended", "cleared", "others", "alone"]
    at_ns: int = Field(default=0, ge=0, lt=1 << 63)
    machine: str = ""
    process: str = ""
    entry: str = ""
    match: str = ""
    blocks: dict[str, int] = {}
    matches: tuple[str, ...] = ()


def fact_now(kind: str, **values: object) -> Fact:
    """Return a line about this machine and moment."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)  # Linux only; other clocks stop in suspension
    at_ns = time.monotonic_ns() if clock is None else time.clock_gettime_ns(clock)
    return Fact(kind, {"at_ns": at_ns, "machine": machine(), **values})


def process_rows(facts: Iterable[Fact], path: Path) -> Iterator[ProcessRow]:
    """Yield the lines about processes among the facts of a journal; raises JournalError."""
    for kind, values in facts:
        if kind not in (GIVEN, RUN, *DOCUMENTS):
            try:
                yield ProcessRow(**values, row=kind)
            except (TypeError, ValidationError):
                raise JournalError(f"{path}: has a line that cannot be read: {kind}") from None


class RunProcesses:
    """The record of the bot processes of a run that is being played."""

    def __init__(self, rows: Iterable[ProcessRow], write: Callable[[Fact], None]) -> None:
        """`rows` are the lines of earlier sessions; `write` adds a line to the journal."""
        self.alone: set[str] = set()
        """Matches that got deals of their own although their block shares a deal."""
        self.living: dict[str, None] = {}
        """The processes on this machine for which no end is recorded."""
        self._write = write
        for row in rows:
            self._add(row)

    def _add(self, row: ProcessRow) -> None:
        match row.row:
            case "alone":
                self.alone.update(row.matches)
            case "began" if row.machine == machine():
                self.living[row.process] = None
            case "ended":
                self.living.pop(row.process, None)
            case "cleared" if row.machine == machine():
                self.living.clear()

    def note(self, kind: str, **values: object) -> None:
        """Add a line about this machine and moment."""
        self.take(fact_now(kind, **values))

    def take(self, *facts: Fact) -> None:
        """Add lines to the journal; an error of the journal is raised by its next commit."""
        for row in process_rows(facts, Path("a worker")):
            self._add(row)
        for fact in facts:
            with suppress(JournalError):
                self._write(fact)


@cache
def machine() -> str:
    """Return a name for this machine since its last boot; all containers on it share the name."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:  # not Linux
        return platform.node()


@dataclass(slots=True)
class _Life:
    """The lifetime of a process, on its machine's clock."""

    entry: str
    began_ns: float
    ended_ns: float = inf
    attempts: dict[str, int] = field(default_factory=dict)
    """When the process began to take part in each attempt."""


class Lives:
    """The lives of a run's bots, from the lines of the record, which are not kept."""

    def __init__(self) -> None:
        self.alone: dict[str, None] = {}
        """Matches that got deals of their own although their block shares a deal."""
        self.beside_others = 0
        """Number of legs that began while bots of other runs lived on the machine."""
        self.groups: list[Mapping[str, int]] = []
        """The blocks of each group, each with its number of matches."""
        self._lives: dict[str, _Life] = {}
        self._machines: dict[str, list[_Life]] = defaultdict(list)
        self._in_group: dict[tuple[str, int], None] = {}
        """Attempts that were played, each with the number of groups that had begun."""

    def add(self, row: ProcessRow) -> None:
        """Add the next line."""
        life = self._lives.get(row.process)
        match row.row:
            case "group":
                self.groups.append(row.blocks)
            case "alone":
                self.alone |= dict.fromkeys(row.matches)
            case "others":
                self.beside_others += 1
            case "began" if life is None:
                life = self._lives[row.process] = _Life(row.entry, row.at_ns)
                self._machines[row.machine].append(life)
            case "plays":
                match = sys.intern(row.match)  # several processes play it
                self._in_group[match, len(self.groups)] = None
                if life is not None:
                    life.attempts.setdefault(match, row.at_ns)
            case "ended" if life is not None:
                life.ended_ns = min(life.ended_ns, row.at_ns)
            case "cleared":
                for one in self._machines[row.machine]:
                    if one.began_ns < row.at_ns:
                        one.ended_ns = min(one.ended_ns, row.at_ns)

    def faults(
        self,
        schedule: Sequence[ScheduledMatch],
        results: Iterable[MatchResult],
        *,
        max_attempts: int,
        remote: frozenset[str],
    ) -> Iterator[str]:
        """Yield all faults: processes that met a deal again, attempts without their processes, and
        matches played outside their group.

        The record cannot prove its own truth, because the organiser wrote it.

        `remote` are the entries on other machines, whose processes are not recorded.
        """
        deals = {
            attempt_name(match.match_id, number): match.shared_deal
            for match in schedule
            if match.shared_deal
            for number in range(1, max_attempts + 1)
        }
        if deals:
            yield from self._group_faults(schedule)
        played: dict[str, set[str]] = defaultdict(set)
        for lives in self._machines.values():
            lives.sort(key=lambda one: one.began_ns)
            for life in lives:
                for attempt in life.attempts:
                    played[attempt].add(life.entry)
            yield from _meetings(lives, deals)
        for result in results:
            if result.played_as in deals:
                seated = {seat.entry for seat in result.seats if not seat.termination.forfeit}
                if missing := seated - remote - played[result.played_as]:
                    yield (
                        f"{result.played_as}: no process of {min(missing)} is recorded, "
                        "although it played"
                    )

    def _group_faults(self, schedule: Sequence[ScheduledMatch]) -> Iterator[str]:
        """Yield groups that do not follow the schedule, and the first match outside each group."""
        sizes = Counter(match.deal_block for match in schedule)
        block_of = {match.match_id: match.deal_block for match in schedule}
        before: set[str] = set()
        for blocks in self.groups:
            for block in blocks:
                if block in before:
                    yield f"block {plain(block)} is in two groups"
                elif blocks[block] != sizes[block]:
                    yield (
                        f"block {plain(block)} has {blocks[block]} of its "
                        f"{sizes[block]} matches in its group"
                    )
            before.update(blocks)
        groups = ({}, *self.groups)
        named: set[int] = set()
        for attempt, number in self._in_group:
            match_id = attempt if attempt in block_of else attempt.rpartition(".")[0]
            if number not in named and block_of.get(match_id, "") not in groups[number]:
                named.add(number)
                yield (
                    f"{plain(attempt)} was played outside its group, whose legs "
                    "were over or had not begun"
                )


def _meetings(lives: Sequence[_Life], deals: Mapping[str, str]) -> Iterator[str]:
    """Yield each attempt whose deal some process on the machine already knew when it began."""
    for together in _stretches(lives):
        began: dict[str, int] = {}
        for life in together:
            for attempt, at_ns in life.attempts.items():
                began[attempt] = min(at_ns, began.get(attempt, at_ns))
        first: dict[str, str] = {}
        for attempt in sorted(began, key=began.__getitem__):
            deal = deals.get(attempt)
            if deal is None or first.setdefault(deal, attempt) == attempt:
                continue
            alive = [one for one in together if one.began_ns < began[attempt] < one.ended_ns]
            oldest = min(alive or together, key=lambda one: one.began_ns)
            yield (
                f"{attempt} has the deal of {first[deal]}, and some bot process lived "
                f"all along between them; when it began, a process of {oldest.entry} had lived for "
                f"{(began[attempt] - oldest.began_ns) / 1e9:.3f} s"
            )


def _stretches(lives: Sequence[_Life]) -> Iterator[list[_Life]]:
    """Yield the lifetimes between two moments at which no process lived."""
    together: list[_Life] = []
    end_ns = -inf
    for life in lives:
        if life.began_ns >= end_ns and together:
            yield together
            together = []
        together.append(life)
        end_ns = max(end_ns, life.ended_ns)
    if together:
        yield together
