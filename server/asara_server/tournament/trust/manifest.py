"""The manifest of a run: everything that is decided before its first match (see README.md).

The manifest is signed and its hash is published, so nothing in it can be changed afterwards.
"""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from importlib.metadata import version
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from asara_game.edition import load_edition
from asara_game.rules import RULES_VERSION, format_rule_sets, parse_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.match.spec import MatchLimits, ProcessPolicy
from asara_server.tournament.config.fields import BlockKind, Orders
from asara_server.tournament.config.tournament_file import Entry, Tournament
from asara_server.tournament.run.run_record import Document
from asara_server.tournament.sandbox.resources import SandboxKind
from asara_server.tournament.schedule.layout import Layout, table_kinds
from asara_server.tournament.schedule.schedule import (
    MAX_ATTEMPTS,
    ScheduledMatch,
    list_matches,
    rotated,
)
from asara_server.tournament.standings.match_result import utc_now

MANIFEST = "manifest.json"

_MOST_MATCHES = 2_000_000
"""An upper bound on the number of matches in a run."""

ScheduleRule = Literal["groups", "rotations"]
""""groups": the schedule of a tournament file. "rotations": one table at which entries move on by
one seat after each match.
"""


class ManifestEntry(BaseModel):
    """An entry, in the order of the tournament file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    team: str
    """The entry's team; "" without one. Team-mates never meet."""
    remote: bool
    """True if the entry's bot runs on another machine."""
    process_per: ProcessPolicy | None = None
    """Lifetime of the entry's processes; None if they are started elsewhere."""
    folder: str | None = None
    """Name of the folder whose `bot.toml` has the command; None if the tournament file has it."""
    bot_toml_sha256: str | None = None
    """SHA-256 of the folder's `bot.toml`."""


class Manifest(Document):
    """Content of `manifest.json`."""

    format: Literal["asara manifest 1"] = "asara manifest 1"
    asara: str
    """Version of asara that began the run."""
    rules_version: int
    created: str
    """Creation time, ISO 8601, UTC."""
    title: str
    public_key: str
    """Ed25519 public key of the referee, in hexadecimal."""
    tournament_sha256: str | None
    """SHA-256 of `tournament.toml`; None if the run has no tournament file."""
    edition: str
    edition_sha256: str
    entries: tuple[ManifestEntry, ...]
    left_out: tuple[str, ...] = ()
    """Names of folders that match `entries_from` but have no usable `bot.toml`."""
    schedule_rule: ScheduleRule
    """Rule that derives the schedule from the fields below and the entries."""
    seats: tuple[int, ...]
    rule_sets: tuple[str, ...]
    rounds: int
    blocks_per_entry: int | None
    orders: Orders
    blocks: BlockKind
    tables: int
    """Maximum number of tables in a duplicate block."""
    matches: int = Field(ge=0, le=1_000_000_000)
    """Number of scheduled matches."""
    schedule_sha256: str
    """SHA-256 of the schedule in the form that `schedule_bytes` returns."""
    may_end_early: bool
    """True if the run may end before all blocks are played, as a duel does once it is decided."""
    looks: tuple[int, ...] = ()
    """Match counts at which the run ends if its ranks are settled; see `schedule.schedule`."""
    places: int = 0
    """Number of top places that must each have a single rank before the run may end early."""
    deals: Literal["committed", "joint"]
    deal_commitment: str
    """SHA-256 of the secret from which all deals are derived."""
    clocks: dict[str, int]
    """Time limits of a bot, in microseconds."""
    actions_per_reply: int
    rejections_forgiven: int
    max_attempts: int = Field(ge=1, le=100)
    """Number of attempts at a match: if the referee fails in all of them, the match stays void."""
    limits: dict[str, int | float]
    """The tournament file's limits, with defaults; bots' limits as the machine permits them."""
    process_per: ProcessPolicy
    """Lifetime of the processes of entries that do not set their own."""
    transport: Literal["unix", "tcp"]
    sandbox: SandboxKind
    ponder: bool = True
    """False if contained bots were frozen while no decision was requested from them."""

    @property
    def entry_names(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries)

    @property
    def remote(self) -> tuple[str, ...]:
        """Entries on other machines."""
        return tuple(entry.name for entry in self.entries if entry.remote)

    @property
    def legs(self) -> bool:
        """True if the run is played in legs, so that no bot lives through two matches of one deal.

        A series of matches has no legs.
        """
        return self.schedule_rule == "groups" and self.blocks != "independent"

    def planned_matches(self) -> list[ScheduledMatch]:
        """Return the schedule derived from the manifest; raises ValueError if there is none."""
        try:
            return self._planned_matches()
        except (ArithmeticError, LookupError):
            raise ValueError("no tournament has such settings") from None

    def _planned_matches(self) -> list[ScheduledMatch]:
        rule_sets = [parse_rule_sets(text) for text in self.rule_sets]
        number = self._count(rule_sets)
        if number > _MOST_MATCHES:  # before they are listed
            raise ValueError(f"{number} matches are more than any run has")
        if self.schedule_rule == "rotations":
            if len(rule_sets) != 1:
                raise ValueError("a schedule of rotations has one combination of rule sets")
            names = self.entry_names
            return list(
                rotated(names, rule_sets[0], self.matches, mirrored=self.blocks == "mirrored")
            )
        return list_matches(
            self.entry_names,
            self.seats,
            rule_sets,
            self._layout,
            remote=self.remote,
        )

    def processes_by_seat(self, entries: Sequence[str]) -> tuple[ProcessPolicy | None, ...]:
        """Return the lifetime of processes, by seat, for the replay of a match of these entries."""
        policies = {entry.name: entry.process_per for entry in self.entries}
        by_seat = tuple(policies.get(name) for name in entries)
        return by_seat if any(by_seat) else ()

    @property
    def _layout(self) -> Layout:
        return Layout.of(tuple(entry.team for entry in self.entries), self)

    def _count(self, rule_sets: Sequence[frozenset[RuleSet]]) -> int:
        """Return the number of matches in the schedule, without listing them."""
        if self.schedule_rule == "rotations":
            return self.matches
        kinds = table_kinds(self._layout, self.seats, rule_sets)
        return sum(kind.matches for kind in kinds)


def new_manifest(
    tournament: Tournament,
    schedule: Sequence[ScheduledMatch],
    *,
    public_key: bytes,
    tournament_file: bytes | None,
    deal_commitment: str,
    schedule_rule: ScheduleRule,
    may_end_early: bool,
    looks: tuple[int, ...] = (),
    sandbox: SandboxKind,
) -> Manifest:
    """Return the manifest of a run that begins now.

    `tournament_file` is the content of the tournament file, or None.
    """
    edition, limits = load_edition(), MatchLimits()
    policies = tournament.process_policies
    return Manifest(
        asara=version("asara"),
        rules_version=RULES_VERSION,
        created=utc_now(),
        title=tournament.title,
        public_key=public_key.hex(),
        tournament_sha256=None if tournament_file is None else sha256(tournament_file).hexdigest(),
        edition=edition.name,
        edition_sha256=edition.sha256.hex(),
        entries=tuple(
            _manifest_entry(entry, policies.get(entry.name)) for entry in tournament.entries
        ),
        left_out=tuple(one.folder for one in tournament.left_out),
        schedule_rule=schedule_rule,
        seats=tournament.seats,
        rule_sets=tuple(map(format_rule_sets, tournament.rules)),
        rounds=tournament.rounds,
        blocks_per_entry=tournament.blocks_per_entry,
        orders=tournament.orders,
        blocks=tournament.blocks,
        tables=tournament.tables,
        matches=len(schedule),
        schedule_sha256=sha256(schedule_bytes(schedule)).hexdigest(),
        may_end_early=may_end_early or tournament.until is not None,
        looks=looks,
        places=tournament.settled_places if looks else 0,
        deals=tournament.deals,
        deal_commitment=deal_commitment,
        clocks=tournament.clocks.in_microseconds()._asdict(),
        actions_per_reply=limits.actions_per_reply,
        rejections_forgiven=limits.rejections_forgiven,
        max_attempts=MAX_ATTEMPTS,
        limits=tournament.limits.model_dump(),
        process_per=tournament.process_per,
        transport=tournament.transport,
        sandbox=sandbox,
        ponder=tournament.ponder,
    )


def _manifest_entry(entry: Entry, process_per: ProcessPolicy | None) -> ManifestEntry:
    folder = entry.folder
    return ManifestEntry(
        name=entry.name,
        team=entry.team,
        remote=entry.remote,
        process_per=process_per,
        folder=folder and folder.folder,
        bot_toml_sha256=folder and folder.bot_toml_sha256,
    )


def changed_field(begun: Manifest, resumed: Manifest) -> str | None:
    """Return, in words, the first field that would change if the run were resumed; None if none
    would.

    The program's version may differ, because `run.json` records it. The folders without an entry
    may also differ.
    """
    if changed := _changed_folder(begun, resumed):
        return changed
    for name in Manifest.model_fields:
        if name in {"asara", "created", "left_out"}:
            continue
        before, now = getattr(begun, name), getattr(resumed, name)
        if before != now:
            return f"{name}: it began with {_short(before)}, and would resume with {_short(now)}"
    return None


def _changed_folder(begun: Manifest, resumed: Manifest) -> str | None:
    """Return the first folder whose entry is missing, changed or new, in words."""
    before = {entry.folder: entry for entry in begun.entries if entry.folder is not None}
    now = {entry.folder: entry for entry in resumed.entries if entry.folder is not None}
    for folder, entry in before.items():
        if folder not in now:
            return (
                f"entries: the folder {folder!r} is gone, or its bot.toml cannot be used any more"
            )
        if entry != now[folder]:
            return f"entries: the bot.toml in the folder {folder!r} is another one"
    for folder in now.keys() - before.keys():
        return f"entries: the folder {folder!r} had no entry when the run began"
    return None


def schedule_bytes(schedule: Iterable[ScheduledMatch]) -> bytes:
    """Return the schedule as text: one line per match, in the order of play."""
    return b"".join(_schedule_line(match) for match in schedule)


def _schedule_line(match: ScheduledMatch) -> bytes:
    fields = {
        "match_id": match.match_id,
        "round": match.round,
        "rule_sets": format_rule_sets(match.rule_sets),
        "entries": match.entries,
        "block": match.block,
        "kind": match.kind,
    }
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return f"{text}\n".encode()


def _short(value: object) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
