"""Audits a run: recomputes what follows from its manifest and replays, and compares every file.

Each step confirms the next. The published values confirm the manifest, the manifest confirms the
schedule and the settings, the schedule and the replays confirm the results, and the results confirm
the standings. The signed tree head confirms all of these files. An `ExpectedMatch` compares each
replay with its place in the run while the match is played again.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from asara_server.text import count
from asara_server.tournament.run.block_journals import FOLDER as JOURNALS
from asara_server.tournament.run.directory import (
    ANALYSIS,
    BUNDLES,
    INDEX,
    JOURNAL,
    PAGES,
    RESULTS,
    RUN_FILES,
    RUN_FOLDERS,
)
from asara_server.tournament.schedule.legs import with_own_deals
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.standings import compute_standings, ranks_settled
from asara_server.tournament.trust.attempt_check import (
    AttemptCheck,
    ExpectedMatch,
    check_attempts,
    replay_faults,
)
from asara_server.tournament.trust.audit_trust import Published, Signed, check_signed
from asara_server.tournament.trust.document_check import (
    derived_schedule,
    head_faults,
    mismatch,
    standings_fault,
    tournament_faults,
)
from asara_server.tournament.trust.manifest import Manifest
from asara_server.tournament.trust.run_files import read_files
from asara_server.tournament.trust.tree_head import TREE_HEAD

_BEING_WRITTEN: Final = 16
"""If the run did not end, how many of its last results may still lack replays."""

_NOT_CHECKED: Final = {
    *("report.html", "run.log", "remote.json", INDEX),
    *("logs", "builds", ANALYSIS, BUNDLES, JOURNALS, PAGES),
}
"""Parts of a run that the audit cannot confirm; the reports among them can be written again."""


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
        found = files.manifest  # without one, the journal has a fault
        self.signed = (
            Signed([]) if found is None else check_signed(found, files.tree_head, published)
        )
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
            schedule = derived_schedule(manifest, self.faults)
            self.faults += tournament_faults(files, self.signed, manifest)
            self._check_results(manifest, schedule)
            if self._head is not None:
                self.faults += head_faults(files, self._head, manifest, schedule)
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
        self.faults += standings_fault(files.standings, computed)

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
                mismatch(f"{TREE_HEAD}: scheduled", wanted, self._head.scheduled, RESULTS)
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
        if self.signed.secret is None:
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
