"""Audits a run: recomputes what follows from its manifest and replays, and compares every file.

Each step confirms the next. The published values confirm the manifest, the manifest confirms the
schedule and the settings, the schedule and the replays confirm the results, and the results confirm
the standings. The signed tree head confirms all of these files. An `ExpectedMatch` compares each
replay with its place in the run while the match is played again.

What cannot be read becomes a fault.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from io import BufferedReader
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, TypeVar

from asara_game.bounded_toml import parse_toml
from asara_server.bounded_file import open_evidence
from asara_server.match.deal_secrets import commitment, tournament_secret
from asara_server.replay.file import SUFFIX
from asara_server.replay.signing import (
    PUBLIC_KEY_FILE,
    KeyFileError,
    public_key_pem,
    read_public_key,
)
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
    TOURNAMENT,
    RunError,
)
from asara_server.tournament.run.progress import Suspensions
from asara_server.tournament.run.read_run import JournalAudit, RunJournal
from asara_server.tournament.run.run_record import (
    DOCUMENTS,
    RUN_INFO,
    RunInfo,
    json_bytes,
    signature_name,
)
from asara_server.tournament.schedule.schedule import ScheduledMatch, looks_at, with_own_deals
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.trust.manifest import MANIFEST, Manifest, schedule_bytes
from asara_server.tournament.trust.result_check import (
    AttemptCheck,
    ExpectedMatch,
    check_attempts,
    mismatch,
    replay_faults,
    replay_file,
)
from asara_server.tournament.trust.signed_documents import Cause, Published, Signed, check_signed
from asara_server.tournament.trust.tree_head import TREE_HEAD, TreeHead, root_text

T = TypeVar("T")

_LARGEST: Final = 4 * 2**30
"""Maximum size of a file that is read, in bytes."""

_BEING_WRITTEN: Final = 16
"""If the run did not end, how many of its last results may still lack replays."""

_NOT_CHECKED: Final = {
    *("report.html", "run.log", "remote.json", INDEX),
    *("logs", "builds", ANALYSIS, BUNDLES, JOURNALS, PAGES),
}
"""Parts of a run that the audit cannot confirm; the reports among them can be written again."""

_TOLERANCE: Final = 2e-6
"""Maximum difference of two numbers due to different versions of numerical libraries."""

_NUMBER: Final = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")

_LONGEST: Final = 60
"""Maximum characters shown of a value or a key."""


class RunAudit:
    """The audit of the files of a run; replays are only compared by their hashes.

    - `signed`: the signed documents
    - `key`: the key that must have signed the replays; None if there is no key
    - `state`: the state of the run in words
    - `faults`: all faults except those in `faulty`; each text begins with the name of a file or a
      match
    - `notes`: what is missing because the run has not ended, and matches that were attempted again
    - `unchecked`: sentences about what was not checked
    - `unchecked_files`: files and folders (with a slash) that were not checked
    - `replays`: SHA-256 of each replay, by the replay's name without the suffix
    - `faulty`: by name, how a replay differs from the one that the results describe
    - `expected`: by name, what each replay must agree with
    - `ended`: False if the run has no signed end and does not claim to have one
    """

    def __init__(self, directory: Path, published: Published) -> None:
        self.directory = directory
        self.state = ""
        self.faults: list[str] = []
        self.notes: list[str] = []
        self.unchecked: list[str] = []
        self.unchecked_files: list[str] = []
        self.replays: dict[str, str] = {}
        self.faulty: dict[str, str] = {}
        self.expected: dict[str, ExpectedMatch] = {}
        self._log = RunJournal(directory)
        self._journal = JournalAudit()
        self._info: RunInfo | None = None
        """What the journal says about the run; None if the journal cannot be read to its end."""
        self.signed = self._read_journal(published)
        self._head = self.signed.head
        self.ended = self._info is None or "tree_head" in self._log.record.documents
        manifest = self.signed.manifest if self.signed.manifest_signed else None
        tournament = self._use(
            TOURNAMENT,
            BufferedReader.read,
            required=bool(manifest and manifest.tournament_sha256),
        )
        standings = self._use(STANDINGS, BufferedReader.read, required=self.ended)
        self.key = self._check_key(manifest)
        if self._info is not None:
            self._compare_copies(self._info)
        self._hash_replays()
        if manifest is not None:
            schedule = self._check_manifest(manifest)
            self.faults += tournament_faults(tournament, manifest)
            self._check_results(manifest, schedule, standings)
            if self._head is not None:
                self.faults += self._head_faults(self._head, manifest, schedule, standings)
        self._list_unchecked()

    # Reading

    def _read_journal(self, published: Published) -> Signed:
        """Read the journal, and check the signed documents in it."""
        try:
            self._log.read_all(self._journal)
            self._info = self._log.info
        except RunError as error:
            self.faults.append(str(error))
        self.faults += [
            f"{RESULTS}: line {line}: not written as asara writes it: its text was changed"
            for line in self._journal.rewritten
        ]
        manifest, head = map(self._log.record.documents.get, DOCUMENTS)
        if manifest is None:  # the journal has a fault
            lacks = [] if (self.directory / JOURNAL).exists() else [Cause.NO_JOURNAL]
            return Signed([], public_key=published.public_key, causes=lacks)
        signed = check_signed(manifest, head, published)
        self.faults += signed.faults
        return signed

    def _use(
        self, name: str, use: Callable[[BufferedReader], T], *, required: bool = True
    ) -> T | None:
        """Return what `use` makes of a file; None, and a fault, if it cannot be read."""
        try:
            with open_evidence(self.directory / name, _LARGEST) as file:
                return use(file)
        except FileNotFoundError:
            if required:
                self.faults.append(f"{name}: missing")
        except OSError as error:
            self.faults.append(f"{name}: {error.strerror or error}")
        return None

    def _check_key(self, manifest: Manifest | None) -> bytes | None:
        """Check the copy of the public key; return the key that must have signed the replays."""
        path, key = self.directory / PUBLIC_KEY_FILE, self.signed.public_key
        found = self._use(PUBLIC_KEY_FILE, BufferedReader.read, required=manifest is None)
        if found is None:
            if manifest is not None and not path.exists() and not path.is_symlink():
                self.notes.append(
                    f"{PUBLIC_KEY_FILE}: missing, which changes nothing: it is only a copy of the "
                    f"key in {MANIFEST}"
                )
            return key
        if key is None:
            try:
                return read_public_key(path)
            except KeyFileError:
                self.faults.append(f"{PUBLIC_KEY_FILE}: not an Ed25519 public key in PEM")
                return None
        try:
            wanted = public_key_pem(key)
        except ValueError:
            wanted = b""
        if found != wanted:
            self.faults.append(
                f"{PUBLIC_KEY_FILE}: not the key that signed {MANIFEST}, or its text was changed"
            )
        return key

    def _compare_copies(self, info: RunInfo) -> None:
        """Find published files that are not what the journal contains.

        While a run is played, some of its files may change while they are read.
        """
        expected = {
            name: sha256(data).hexdigest() for name, data in self._log.record.files().items()
        }
        if self.ended:
            expected[RUN_INFO] = sha256(json_bytes(info)).hexdigest()
            expected[RESULTS] = self._journal.results.hexdigest()
        for name, digest in expected.items():
            found = self._use(name, _digest)
            if found is not None and found != digest:
                self.faults.append(f"{name}: changed: {JOURNAL} contains something else")
        for name in (TREE_HEAD, signature_name(TREE_HEAD)):
            if name not in expected and (self.directory / name).exists():
                self.faults.append(f"{name}: extra: {JOURNAL} contains no end of the run")

    def _hash_replays(self) -> None:
        try:
            found = sorted((self.directory / "replays").iterdir())
        except OSError as error:
            self.faults.append(f"replays: {error.strerror or error}")
            return
        for path in found:
            name = f"replays/{path.name}"
            if path.suffix != SUFFIX or path.name.startswith("."):
                # a run that is being played may be writing it
                if self.ended or not path.name.endswith(".part"):
                    self.faults.append(f"{name}: extra: not a replay of the run")
            elif (digest := self._use(name, _digest)) is not None:
                self.replays[path.stem] = digest

    # Checking

    def _check_manifest(self, manifest: Manifest) -> list[ScheduledMatch]:
        """Check the source of the deals, and the schedule, which is derived and returned."""
        if self._info is not None:
            secret = tournament_secret(self._info.seed)
            if commitment(secret).hex() != manifest.deal_commitment:
                self.faults.append(f"{RUN_INFO}: seed: does not lead to the deals of {MANIFEST}")
        try:
            schedule = manifest.planned_matches()
        except ValueError as error:
            self.faults.append(f"{MANIFEST}: no schedule follows from it: {error}")
            return []
        if (digest := sha256(schedule_bytes(schedule)).hexdigest()) != manifest.schedule_sha256:
            self.faults.append(
                f"{MANIFEST}: schedule_sha256: expected {digest} by its entries and settings; "
                f"found {manifest.schedule_sha256}: another schedule, or the schedule of another "
                "version"
            )
        if (own := len(schedule)) != manifest.matches:
            self.faults.append(
                mismatch(f"{MANIFEST}: matches", own, manifest.matches, "its settings")
            )
        if manifest.looks and manifest.looks != (looks := looks_at(schedule)):
            found, wanted = (", ".join(map(str, one)) for one in (manifest.looks, looks))
            self.faults.append(mismatch(f"{MANIFEST}: looks", wanted, found, "its schedule"))
        return schedule

    def _check_results(
        self, manifest: Manifest, schedule: Sequence[ScheduledMatch], standings: bytes | None
    ) -> None:
        results, lives = self._log.results, self._journal.lives
        if manifest.legs:
            schedule = self._check_processes(manifest, schedule)
        check = check_attempts(manifest, schedule, results)
        self.faults += check.faults
        self.expected = check.expected
        scheduled = self._scheduled(manifest, schedule, check)
        self._check_progress(manifest, check, scheduled)
        withheld = self._withheld(schedule, check)
        missing = [name for name in withheld if name not in self.replays]
        if missing:
            are = "is" if len(missing) == 1 else "are"
            self.notes.append(
                f"{count(len(missing), 'replay')} {are} not published yet, because "
                f"matches with the same deal are still to come or the run was stopped meanwhile: "
                f"{_some(missing)}"
            )
        for name, fault in replay_faults(results, self.replays, withheld=set(withheld)):
            if name in self.replays:
                self.faulty[name] = fault
            else:
                self.faults.append(f"{replay_file(name)}: {fault}")
        if standings is None:
            return
        # Loads numerical libraries, which an audit of single replays does not need.
        from asara_server.tournament.standings.standings import compute_standings

        computed = compute_standings(
            manifest.title,
            manifest.entry_names,
            scheduled,
            results,
            group=lives.groups[-1] if lives.groups else {},
            remote=manifest.remote,
            looks=manifest.looks,
        )
        if fault := _standings_fault(standings, computed):
            self.faults.append(f"{STANDINGS}: {fault}")

    def _check_processes(
        self, manifest: Manifest, schedule: Sequence[ScheduledMatch]
    ) -> Sequence[ScheduledMatch]:
        """Check whether any process could know a deal early; return the schedule with its deals."""
        remote = frozenset(manifest.remote)
        if alone := self._journal.lives.alone:
            self.notes.append(
                f"{count(len(alone), 'match')} had deals of their own, because some process of a "
                f"bot could not be ended: {_some(sorted(alone))}"
            )
        if legs := self._journal.lives.beside_others:
            self.notes.append(
                f"{count(legs, 'leg')} began while bots of other runs lived on the machine, which "
                "could pass on what they were told about a deal; to rule this out, play one run at "
                "a time"
            )
        schedule = with_own_deals(schedule, alone)
        found = self._journal.lives.faults(
            schedule,
            self._log.results,
            max_attempts=manifest.max_attempts,
            remote=remote,
        )
        if self._journal.sha256:
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
        wanted = manifest.matches
        if not manifest.looks:
            stated = self._info
            if not manifest.may_end_early or stated is None or stated.scheduled != check.begun:
                return wanted
            if check.skipped:
                self.faults.append(
                    f"{RESULTS}: block {check.skipped} was skipped, although later ones were played"
                )
            return check.begun
        from asara_server.tournament.standings.standings import ranks_settled

        results, open_ = self._log.results, set(check.unplayed)
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
                mismatch(f"{TREE_HEAD}: scheduled", wanted, self._head.scheduled, RESULTS)
            )
        later = {match.match_id for match in schedule[wanted:]}
        self.faults += [
            f"{RESULTS}: line {number}: {result.match_id}: extra: the ranks were settled "
            f"after {wanted} matches"
            for number, result in enumerate(results, 1)
            if result.match_id in later
        ]
        return wanted

    def _check_progress(self, manifest: Manifest, check: AttemptCheck, scheduled: int) -> None:
        """Report the number of matches played, matches without a result, and repeated attempts."""
        over = len({result.match_id for result in self._log.results if not result.void})
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
        results = self._log.results
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

    def _head_faults(
        self,
        head: TreeHead,
        manifest: Manifest,
        schedule: Sequence[ScheduledMatch],
        standings: bytes | None,
    ) -> Iterator[str]:
        """Yield what does not follow from the run: hashes, numbers and suspensions."""
        results = self._log.results
        if standings and sha256(standings).hexdigest() != head.standings_sha256:
            yield f"{STANDINGS}: changed after the signing: its SHA-256 is not that in {TREE_HEAD}"
        if self._journal.sha256 != head.journal_sha256:
            yield f"{JOURNAL}: changed after the signing: its SHA-256 is not that in {TREE_HEAD}"
        played = {result.match_id for result in results if not result.void}
        void = {result.match_id for result in results if result.void} - played
        for key, derived in (
            ("results_sha256", self._journal.results.hexdigest()),
            ("attempts", len(results)),
            ("root", root_text(results, schedule)),
            ("played", len(played)),
            ("void", len(void)),
        ):
            if (stated := getattr(head, key)) != derived:
                yield mismatch(f"{TREE_HEAD}: {key}", derived, stated, RESULTS)
        if head.scheduled != manifest.matches and not manifest.may_end_early:
            yield mismatch(f"{TREE_HEAD}: scheduled", manifest.matches, head.scheduled, MANIFEST)
        try:
            limits = {name: manifest.limits[name] for name in ("suspend_share", "suspend_after")}
            suspensions = Suspensions(schedule, Limits.model_validate(limits))
        except (KeyError, ValueError):
            yield f"{MANIFEST}: limits: no tournament file can have these limits"
            return
        for result in results:
            suspensions.record_result(result)
        for name in manifest.entry_names:
            expected, found = suspensions.suspended.get(name), head.suspended.get(name)
            if expected != found and name not in head.out:
                place = f"{TREE_HEAD}: suspended: {name}"
                yield mismatch(place, expected or "no", found or "no", RESULTS)

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


def tournament_faults(content: bytes | None, manifest: Manifest) -> Iterator[str]:
    """Yield faults of the content of a tournament file; None if it cannot be read.

    Which entries the folders contained, and the content of each `bot.toml`, is known only from the
    manifest, because each `bot.toml` belongs to its author.
    """
    expected = manifest.tournament_sha256
    if content is None:
        return
    if expected is None:
        yield f"{TOURNAMENT}: extra: the run began without a tournament file"
        return
    if sha256(content).hexdigest() != expected:
        yield f"{TOURNAMENT}: changed after the run began: its SHA-256 is not that in {MANIFEST}"
        return
    try:
        tables = parse_toml(content, LARGEST_FILE)
    except ValueError as error:
        yield f"{TOURNAMENT}: {error}"
        return
    entries = tables.get("entries")
    listed = [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
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
        yield mismatch(f"{MANIFEST}: entries", tuple(names), tuple(own), TOURNAMENT)
    if any(entry.folder is not None for entry in further) and "entries_from" not in tables:
        yield f"{MANIFEST}: entries: from folders, although {TOURNAMENT} names no entries_from"


def _standings_fault(found: bytes, computed: Standings) -> str:
    """Return the first value of `standings.json` that does not follow from the results, or ""."""
    expected = json_bytes(computed)
    try:
        fault = _difference("", json.loads(expected), json.loads(found))
    except (ValueError, RecursionError, OverflowError):
        return "cannot be read: not JSON, or a number in it is too large"
    if not fault and _NUMBER.sub(b"0", found) != _NUMBER.sub(b"0", expected):
        return "not written as asara writes it: its text was changed"
    return fault


def _difference(place: str, expected: Any, found: Any) -> str:
    """Return where two values in JSON first differ, and how; "" if they agree.

    Numbers may differ by the tolerance. Raises OverflowError.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected | found:
            own = f"{place}.{plain(key, _LONGEST)}".lstrip(".")
            if key not in expected or key not in found:
                return f"{own}: {'missing' if key in expected else 'extra'}"
            if fault := _difference(own, expected[key], found[key]):
                return fault
        return ""
    if isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            place, expected, found = f"length of {place}", len(expected), len(found)
        else:
            pairs = enumerate(zip(expected, found, strict=True))
            inner = (_difference(f"{place}[{index}]", *pair) for index, pair in pairs)
            return next(filter(None, inner), "")
    if isinstance(expected, float) and isinstance(found, int | float):
        equal = abs(expected - found) <= _TOLERANCE
    else:
        equal = type(expected) is type(found) and expected == found
    words = (plain(json.dumps(value, ensure_ascii=False), _LONGEST) for value in (expected, found))
    return "" if equal else "{}: expected {} by the results; found {}".format(place, *words)


def _digest(file: BufferedReader) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
