"""Audits a run: recomputes what follows from its manifest and replays, and compares every file.

Each step confirms the next. The published values confirm the manifest, the manifest confirms the
schedule and the settings, the schedule and the replays confirm the results, and the results confirm
the standings. The signed tree head confirms all of these files. An `ExpectedMatch` compares each
replay with its place in the run while the match is played again.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from asara_game.bounded_toml import parse_toml
from asara_server.eventlog.describe import value_words
from asara_server.match.deal_secrets import commitment, tournament_secret
from asara_server.replay.signing import PUBLIC_KEY_FILE, public_key_pem
from asara_server.text import count, plain
from asara_server.tournament.config.entry_folders import name_of_bot
from asara_server.tournament.config.tournament_file import LARGEST_FILE, Limits
from asara_server.tournament.run.directory import (
    ANALYSIS,
    BUNDLES,
    INDEX,
    JOURNAL,
    JOURNALS,
    PAGES,
    RESULTS,
    RUN_FILES,
    RUN_FOLDERS,
    STANDINGS,
)
from asara_server.tournament.run.run_record import RUN_INFO, json_bytes
from asara_server.tournament.run.suspension import Suspensions
from asara_server.tournament.schedule.legs import with_own_deals
from asara_server.tournament.schedule.schedule import ScheduledMatch, looks_at
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.standings.standings import compute_standings, ranks_settled
from asara_server.tournament.trust.attempt_check import (
    AttemptCheck,
    ExpectedMatch,
    check_attempts,
    replay_faults,
)
from asara_server.tournament.trust.manifest import MANIFEST, Manifest, schedule_bytes
from asara_server.tournament.trust.run_files import TOURNAMENT, RunFiles, read_files
from asara_server.tournament.trust.signed_documents import Cause, Published, Signed, check_signed
from asara_server.tournament.trust.tree_head import TREE_HEAD, TreeHead, root_text

_BEING_WRITTEN: Final = 16
"""If the run did not end, how many of its last results may still lack replays."""

_NOT_CHECKED: Final = {
    *("report.html", "run.log", "remote.json", INDEX),
    *("logs", "builds", ANALYSIS, BUNDLES, JOURNALS, PAGES),
}
"""Parts of a run that the audit cannot confirm; the reports among them can be written again."""

_TOLERANCE: Final = 2e-6
"""Maximum difference of two numbers due to different versions of numerical libraries."""

_LONGEST: Final = 60
"""Maximum characters shown of a value or a key."""


class RunAudit:
    """The audit of the files of a run; replays are only compared by their hashes.

    - `signed`: the signed documents
    - `state`: the state of the run in words
    - `faults`: all faults; each text begins with the name of a file or a match
    - `notes`: what is missing because the run has not ended, and matches that were attempted again
    - `unchecked`: sentences about what was not checked
    - `unchecked_files`: files and folders (with a slash) that were not checked
    - `replays`: names of all replays, without the suffix
    - `expected`: by name, what each replay must agree with
    - `ended`: False if the run has no signed end and does not claim to have one
    """

    def __init__(self, directory: Path, published: Published) -> None:
        self.directory = directory
        self._files = files = read_files(directory)
        if files.manifest is not None:
            self.signed = check_signed(files.manifest, files.tree_head, published)
        else:  # the journal has a fault
            lacks = [] if (directory / JOURNAL).exists() else [Cause.NO_JOURNAL]
            self.signed = Signed([], public_key=published.public_key, causes=lacks)
        self.state = ""
        self.faults = [*self.signed.faults, *files.faults]
        self.notes: list[str] = []
        self.unchecked: list[str] = []
        self.unchecked_files: list[str] = []
        self.replays = tuple(files.replays)
        self.expected: dict[str, ExpectedMatch] = {}
        self.ended = not files.running
        self._head = self.signed.head
        manifest = self.signed.manifest
        if manifest is not None and self.signed.manifest_signed:
            schedule = _derived_schedule(manifest, self.faults)
            self.faults += tournament_faults(files, self.signed, manifest)
            self._check_results(manifest, schedule)
            if self._head is not None:
                self.faults += _head_faults(files, self._head, manifest, schedule)
        self._list_unchecked()

    def _check_results(self, manifest: Manifest, schedule: Sequence[ScheduledMatch]) -> None:
        files = self._files
        if manifest.legs:
            schedule = self._check_processes(manifest, schedule)
        check = check_attempts(manifest, schedule, files.results)
        self.faults += check.faults
        self.expected = check.expected
        scheduled = self._scheduled(manifest, schedule, check)
        self._check_progress(manifest, check, scheduled)
        withheld = self._withheld(schedule, check)
        missing = [name for name in withheld if name not in files.replays]
        if missing:
            are = "is" if len(missing) == 1 else "are"
            self.notes.append(
                f"{count(len(missing), 'replay')} {are} not published yet, because "
                f"matches with the same deal are still to come or the run was stopped meanwhile: "
                f"{_some(missing)}"
            )
        self.faults += replay_faults(files.results, files.replays, withheld=set(withheld))
        if files.standings is None:
            return
        computed = compute_standings(
            manifest.title,
            manifest.entry_names,
            scheduled,
            files.results,
            group=files.lives.groups[-1] if files.lives.groups else {},
            remote=manifest.remote,
            looks=manifest.looks,
        )
        self.faults += _standings_fault(files.standings, computed)

    def _check_processes(
        self, manifest: Manifest, schedule: Sequence[ScheduledMatch]
    ) -> Sequence[ScheduledMatch]:
        """Check whether any process could know a deal early; return the schedule with its deals."""
        remote = frozenset(manifest.remote)
        if alone := self._files.lives.alone:
            self.notes.append(
                f"{count(len(alone), 'match')} had deals of their own, because some process of a "
                f"bot could not be ended: {_some(sorted(alone))}"
            )
        if legs := self._files.lives.beside_others:
            self.notes.append(
                f"{count(legs, 'leg')} began while bots of other runs lived on the machine, which "
                "could pass on what they were told about a deal"
            )
        schedule = with_own_deals(schedule, alone)
        found = self._files.lives.faults(
            schedule,
            self._files.results,
            max_attempts=manifest.max_attempts,
            remote=remote,
        )
        if self._files.journal_sha256:
            self.faults += [f"{JOURNAL}: {fault}" for fault in found]
        tables = Counter(
            match.shared_deal
            for match in schedule
            if match.shared_deal and not remote.isdisjoint(match.entries)
        )
        if blocks := sum(number > 1 for number in tables.values()):
            self.unchecked.append(
                "what entries on other machines told each other about deals: in "
                f"{count(blocks, 'block')} they sat at several tables: {', '.join(sorted(remote))}"
            )
        return schedule

    def _scheduled(
        self, manifest: Manifest, schedule: Sequence[ScheduledMatch], check: AttemptCheck
    ) -> int:
        """Return the number of matches that the run was required to play."""
        if manifest.looks:
            return self._by_looks(manifest, schedule, check)
        stated = self._files.info
        if not manifest.may_end_early or stated is None or stated.scheduled != check.begun:
            return manifest.matches
        if check.skipped:
            self.faults.append(
                f"{RESULTS}: block {check.skipped} was skipped, although later ones were played"
            )
        return check.begun

    def _by_looks(
        self, manifest: Manifest, schedule: Sequence[ScheduledMatch], check: AttemptCheck
    ) -> int:
        """Return the match count at which the ranks were settled, or else the total."""
        results, open_ = self._files.results, set(check.unplayed)
        wanted = manifest.matches
        for look in manifest.looks[:-1]:
            begun = {match.match_id for match in schedule[:look]}
            if begun & open_:
                break
            seen = [result for result in results if result.match_id in begun]
            if ranks_settled(manifest.entry_names, seen, manifest.places, manifest.looks):
                wanted = look
                break
        if self._head is not None and self._head.scheduled != wanted:
            self.faults.append(
                _mismatch(f"{TREE_HEAD}: scheduled", wanted, self._head.scheduled, RESULTS)
            )
        begun = {match.match_id for match in schedule[:wanted]}
        self.faults += [
            f"{RESULTS}: line {number}: {result.match_id}: extra: the ranks were settled "
            f"after {wanted} matches"
            for number, result in enumerate(results, 1)
            if wanted < manifest.matches and result.match_id not in begun
        ]
        return wanted

    def _check_progress(self, manifest: Manifest, check: AttemptCheck, scheduled: int) -> None:
        """Report the number of matches played, matches without a result, and repeated attempts."""
        over = len({result.match_id for result in self._files.results if not result.void})
        state = self._head.state if self._head else "ended" if self.ended else "not ended"
        self.state = f"{state}: {over} of {scheduled} matches have a result"
        unplayed = check.unplayed
        if scheduled < manifest.matches:
            unplayed = check.unplayed_in_begun_blocks
            why = (
                "because its ranks were settled"
                if manifest.looks
                else "as it was allowed to do; not checked: that its test was decided by then"
            )
            self.notes.append(f"ended after {scheduled} of {manifest.matches} matches, {why}")
        if self._head is not None and self._head.state == "finished":
            self.faults += [
                f"{match_id}: no result, although the run is finished"
                for match_id in (*unplayed, *check.given_up)
            ]
        elif unplayed:
            have = "has" if len(unplayed) == 1 else "have"
            self.notes.append(
                f"{count(len(unplayed), 'match')} {have} no result: {_some(unplayed)}"
            )
        if check.given_up:
            names = _some(check.given_up)
            stay = "stays" if len(check.given_up) == 1 else "stay"
            self.notes.append(f"{count(len(check.given_up), 'match')} {stay} void: {names}")
        if not self.ended:
            self.notes.append(
                "the run has no signed end: it is being played, it was killed, or the end was "
                "removed; nothing signs its results and their number, some of which may be missing"
            )
        self.notes += check.repeated

    def _withheld(self, schedule: Sequence[ScheduledMatch], check: AttemptCheck) -> list[str]:
        """Return the names of replays that may be missing because they would reveal a deal."""
        if self._head is not None and self._head.state == "finished":
            return []
        results = self._files.results
        hidden = {
            match.match_id
            for match in schedule
            if match.shared_deal and match.deal_block in check.open_blocks
        }
        if not self.ended:
            recent = {result.deal_block for result in results[-_BEING_WRITTEN:]}
            hidden |= {result.match_id for result in results if result.deal_block in recent}
        return [
            result.played_as for result in results if result.match_id in hidden and not result.void
        ]

    def _list_unchecked(self) -> None:
        if self.signed.manifest_signed and self.signed.secret is None:
            self.unchecked.append(
                "that the deals derive from the secret of the tournament, which is not revealed"
            )
        names = sorted(path.name for path in self.directory.iterdir())
        ours = {*RUN_FILES, *RUN_FOLDERS}
        for name in names:
            if name in _NOT_CHECKED:
                self.unchecked_files.append(
                    f"{name}/" if (self.directory / name).is_dir() else name
                )
            elif name not in ours:
                self.notes.append(f"{name}: extra: not part of the run, and not checked")


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def _derived_schedule(manifest: Manifest, faults: list[str]) -> list[ScheduledMatch]:
    """Return the schedule derived from the manifest, adding any faults."""
    try:
        schedule = manifest.planned_matches()
    except (ValueError, ArithmeticError, LookupError) as error:
        faults.append(f"{MANIFEST}: no schedule follows from it: {error}")
        return []
    if (digest := sha256(schedule_bytes(schedule)).hexdigest()) != manifest.schedule_sha256:
        faults.append(
            f"{MANIFEST}: schedule_sha256: expected {digest} by its entries and settings; found "
            f"{manifest.schedule_sha256}: another schedule, or the schedule of another version"
        )
    if len(schedule) != manifest.matches:
        faults.append(
            _mismatch(f"{MANIFEST}: matches", len(schedule), manifest.matches, "its settings")
        )
    if manifest.looks and manifest.looks != (looks := looks_at(schedule)):
        found, wanted = (", ".join(map(str, one)) for one in (manifest.looks, looks))
        faults.append(_mismatch(f"{MANIFEST}: looks", wanted, found, "its schedule"))
    return schedule


def tournament_faults(files: RunFiles, signed: Signed, manifest: Manifest) -> Iterator[str]:
    """Yield faults of the tournament file, the seed and the public key."""
    expected = manifest.tournament_sha256
    if expected is None and files.tournament is not None:
        yield f"{TOURNAMENT}: extra: the run began without a tournament file"
    elif expected is not None and files.tournament is None:
        yield f"{TOURNAMENT}: missing"
    elif files.tournament is not None and sha256(files.tournament).hexdigest() != expected:
        yield f"{TOURNAMENT}: changed after the run began: its SHA-256 is not that in {MANIFEST}"
    elif files.tournament is not None:
        yield from _entry_faults(files.tournament, manifest)
    if files.info is not None:
        secret = tournament_secret(files.info.seed)
        if commitment(secret).hex() != manifest.deal_commitment:
            yield f"{RUN_INFO}: seed: does not lead to the deals of {MANIFEST}"
    if files.public_pem is not None and signed.public_key is not None:
        try:
            wanted = public_key_pem(signed.public_key)
        except ValueError:
            wanted = b""
        if files.public_pem != wanted:
            yield f"{PUBLIC_KEY_FILE}: not the key that signed {MANIFEST}, or its text was changed"


def _entry_faults(tournament: bytes, manifest: Manifest) -> Iterator[str]:
    """Yield differences between the manifest's entries and the tournament file's.

    Which entries the folders contained, and the content of each `bot.toml`, is known only from the
    manifest, because each `bot.toml` belongs to its author.
    """
    try:
        tables = parse_toml(tournament, LARGEST_FILE)
    except ValueError as error:
        yield f"{TOURNAMENT}: {error}"
        return
    listed = [table for table in tables.get("entries", []) if isinstance(table, dict)]
    names, own = [], []
    for table, entry in zip_longest(listed, manifest.entries[: len(listed)]):
        in_folder = entry is not None and entry.folder is not None
        by_bot_file = not table.keys() & {"bot", "command", "token"}
        usual = entry.name if in_folder and by_bot_file else None
        names.append(table.get("name", name_of_bot(table) if "bot" in table else usual))
        if entry is not None and in_folder == by_bot_file:
            own.append(entry.name)
    further = manifest.entries[len(listed) :]
    own += [entry.name for entry in further if entry.folder is None]
    if names != own:
        yield _mismatch(f"{MANIFEST}: entries", tuple(names), tuple(own), TOURNAMENT)
    if any(entry.folder is not None for entry in further) and "entries_from" not in tables:
        yield f"{MANIFEST}: entries: from folders, although {TOURNAMENT} names no entries_from"


def _head_faults(
    files: RunFiles, head: TreeHead, manifest: Manifest, schedule: Sequence[ScheduledMatch]
) -> Iterator[str]:
    """Yield hashes and numbers in the signed tree head that do not follow from the run."""
    if files.standings and sha256(files.standings).hexdigest() != head.standings_sha256:
        yield f"{STANDINGS}: changed after the signing: its SHA-256 is not that in {TREE_HEAD}"
    if files.journal_sha256 != head.journal_sha256:
        yield f"{JOURNAL}: changed after the signing: its SHA-256 is not that in {TREE_HEAD}"
    results = files.results
    played = {result.match_id for result in results if not result.void}
    void = {result.match_id for result in results if result.void} - played
    for key, derived in (
        ("results_sha256", files.results_sha256),
        ("attempts", len(results)),
        ("root", root_text(results, schedule)),
        ("played", len(played)),
        ("void", len(void)),
    ):
        if (stated := getattr(head, key)) != derived:
            yield _mismatch(f"{TREE_HEAD}: {key}", derived, stated, RESULTS)
    yield from _suspension_faults(files, head, manifest, schedule)
    if head.scheduled != manifest.matches and not manifest.may_end_early:
        yield _mismatch(f"{TREE_HEAD}: scheduled", manifest.matches, head.scheduled, MANIFEST)


def _suspension_faults(
    files: RunFiles, head: TreeHead, manifest: Manifest, schedule: Sequence[ScheduledMatch]
) -> Iterator[str]:
    """Yield entries whose suspension, or lack of suspension, contradicts the results."""
    try:
        limits = {name: manifest.limits[name] for name in ("suspend_share", "suspend_after")}
        suspensions = Suspensions(schedule, Limits.model_validate(limits))
    except (KeyError, ValueError):
        yield f"{MANIFEST}: limits: no tournament file can have these limits"
        return
    for result in files.results:
        suspensions.record_result(result)
    for name in manifest.entry_names:
        expected, found = suspensions.suspended.get(name), head.suspended.get(name)
        if expected != found and name not in head.out:
            place = f"{TREE_HEAD}: suspended: {name}"
            yield _mismatch(place, expected or "no", found or "no", RESULTS)


def _mismatch(place: str, expected: object, found: object, source: str) -> str:
    """Return a sentence about a value that differs from the value derived from another file."""
    return f"{place}: expected {_words(expected)} by {source}; found {_words(found)}"


def _words(value: Any) -> str:
    return value_words(tuple(map(str, value)) if isinstance(value, tuple) else value)


def _standings_fault(found: bytes, computed: Standings) -> Iterator[str]:
    """Yield the first value of `standings.json` that does not follow from the results.

    `computed` are the standings computed from the results.
    """
    expected = json_bytes(computed)
    try:
        values = dict(_values("", json.loads(found)))
    except (ValueError, RecursionError):
        yield f"{STANDINGS}: cannot be read: not JSON"
        return
    wanted = dict(_values("", json.loads(expected)))
    for place in [*wanted, *values]:
        if place not in wanted or place not in values:
            yield f"{STANDINGS}: {place}: {'missing' if place in wanted else 'extra'}"
            return
        if not _are_equal(wanted[place], values[place]):
            yield (
                f"{STANDINGS}: {place}: expected {_short(wanted[place])} by the results; "
                f"found {_short(values[place])}"
            )
            return
    if _form(found) != _form(expected):
        yield f"{STANDINGS}: not written as asara writes it: its text was changed"


def _values(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values in JSON and the lengths of its lists, each with its place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(f"{place}.{plain(key, _LONGEST)}".lstrip("."), inner)
    elif isinstance(value, list):
        yield f"length of {place}", len(value)
        for index, inner in enumerate(value):
            yield from _values(f"{place}[{index}]", inner)
    else:
        yield place, value


def _are_equal(expected: object, found: object) -> bool:
    """Compare two values; numbers may differ by the tolerance."""
    if isinstance(expected, float) and isinstance(found, int | float):
        return math.isclose(expected, found, rel_tol=0, abs_tol=_TOLERANCE)
    return type(expected) is type(found) and expected == found


def _form(text: bytes) -> bytes:
    """Return a JSON text with every digit replaced, so that texts can be compared by form."""
    return b"".join(line.split(b":")[0] + b"\n" for line in text.split(b"\n"))


def _short(value: object) -> str:
    return plain(json.dumps(value, ensure_ascii=False), _LONGEST)
