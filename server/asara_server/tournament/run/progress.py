"""Tracks the progress of a run: the matches still to be played, the results so far, and the entries
that take no further part.

It is independent of the executor that plays the matches (see `execution`). All objects here belong
to one event loop.

An entry is out if its bots fail to start several times in a row.

It is suspended if it forfeits too large a share of its matches. These are judged in schedule order,
up to the first match that is not over. Concurrent matches may end in any order, but this order
affects neither whether an entry is suspended nor after which match. Matches of the entry that have
already begun are played to their end; how many depends on the number of concurrent matches. A match
missed by a remote bot does not count: the bot plays again as soon as it connects.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from asara_codec.results import Termination
from asara_server.journal.journal import Fact, Journal, JournalError
from asara_server.logs import logger
from asara_server.replay.file import signed_records
from asara_server.replay.signing import SigningKey
from asara_server.tournament.config.tournament_file import Limits, Tournament
from asara_server.tournament.run.directory import (
    RunDirectory,
    block_journal,
    block_journals,
    ended_attempts,
)
from asara_server.tournament.run.run_record import GIVEN
from asara_server.tournament.schedule.schedule import (
    DEFAULT_MATCH_S,
    MAX_ATTEMPTS,
    Attempt,
    ScheduledMatch,
    group_size,
    looks_at,
    next_leg,
    with_own_deals,
)
from asara_server.tournament.standings.match_result import MatchResult, PlayedAttempt


class PendingBlock(NamedTuple):
    """The next attempts at those matches of a block that have no result yet."""

    name: str
    attempts: tuple[Attempt, ...]

    @property
    def attempt_names(self) -> tuple[str, ...]:
        return tuple(attempt.name for attempt in self.attempts)


_RUN_ENDED: Final = "the run ended before its worker returned it"


class Submissions:
    """The blocks given to workers, in all sessions; each is first written to the journal.

    If a worker does not return a block, the block continues from the worker's journal; without a
    journal, it is played again from the start. The run's journal survives even if the runner is
    killed. An attempt that was given out and has no result was lost, and its result will report the
    loss.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lost: dict[str, tuple[str, ...]] = {}
        """For each submitted attempt, the reasons why earlier workers did not return it."""
        self._reasons: dict[str, str] = {}
        for kind, values in journal.facts:
            if kind == GIVEN:
                self._count(**values)

    def submit(self, attempts: Sequence[str]) -> None:
        """Record that a worker is about to begin these attempts; raises JournalError."""
        before = [name for name in attempts if name in self._lost]
        lost = self._reasons.get(before[0], _RUN_ENDED) if before else ""
        self._journal.note(Fact(GIVEN, {"attempts": attempts, "lost": lost}))
        self._count(attempts, lost)

    def lose(self, attempts: Sequence[str], why: str) -> None:
        """Record that a worker did not return these attempts."""
        self._reasons |= dict.fromkeys(attempts, why)

    def lost(self, attempt: str) -> tuple[str, ...]:
        """Return the reasons why earlier workers did not return an attempt, oldest first."""
        return self._lost.get(attempt, ())

    def _count(self, attempts: Iterable[str], lost: str) -> None:
        for name in attempts:
            self._lost[name] = (*self._lost[name], lost) if name in self._lost else ()


class RunProgress:
    """Progress of one run. An executor plays the pending matches and records the results."""

    def __init__(
        self,
        tournament: Tournament,
        schedule: Sequence[ScheduledMatch],
        directory: RunDirectory,
        key: SigningKey,
        *,
        finished: Callable[[MatchResult], None],
        enough: Callable[[], bool] | None,
        legs: bool,
        contained: bool,
        others: Callable[[], bool],
    ) -> None:
        """If the run is resumed, its results are read from the journal.

        Entries that could not be built or started stay out.

        `finished` is called with the final result of each match. Once `enough` returns True, no
        further block begins: blocks that have begun are played to the end, and become the whole
        schedule.

        With `legs`, no bot lives through two matches of one deal (see `schedule`). If all bots
        are also `contained`, replays may be published immediately. `others` returns True if bots of
        other runs live on the machine.
        """
        resumed = directory.record.begun
        self.looks = looks_at(schedule) if tournament.until else ()
        """Match counts from the start of the schedule. When this many matches are over, and before
        any other begins, their ranks may be settled. These matches then become the whole schedule.
        """
        self.legs = legs and any(match.shared_deal for match in schedule)
        self._remote = tournament.remote_entries if legs else ()
        self._open_at_once = self.legs and contained and not self._remote
        self._others = others
        info = directory.info if resumed else None
        self.group: Mapping[str, int] = info.group if info else {}
        """Blocks of the current group, each with its number of matches."""
        self.survived = False
        """True if bots' processes survived the last leg."""
        self.schedule = schedule
        self.directory = directory
        self.results: list[MatchResult] = directory.restore_results() if resumed else []
        self.submissions = Submissions(directory.journal)
        self.stopping = asyncio.Event()
        """Set when no further match may begin."""
        self.unfinished: list[str] = []
        """One line for each match or block without a result: its progress, or the reason."""
        self.out: dict[str, str] = dict(info.out) if info else {}
        """Entries that could not be built or started, with the reasons."""
        self._key = key
        self._finished, self._enough = finished, enough
        self._tournament = tournament
        self._looks = list(self.looks)
        """The remaining looks; the last look is the end of the schedule."""
        self._open: set[str] = set()
        """Unfinished matches before the next look."""
        self._decided = False
        self._begun = {*self.group, *(result.deal_block for result in self.results)}
        """Blocks with a match that has begun."""
        self._pending_in = Counter(
            match.block for match, _ in self._pending(schedule) if match.shared_deal
        )
        """Number of matches without a result, for each block with a shared deal."""
        self._withheld: dict[str, list[str]] = defaultdict(list)
        """Replays, by block, that reveal the deal of a running or future match."""
        self._suspensions = Suspensions(schedule, tournament.limits)
        self._failed_starts = FailedStarts(tournament.limits.failed_starts)
        self._logger = logger("runner")
        for result in self.results:
            self._publish_or_withhold(result)
            self._suspensions.record_result(result, self.out)
        self._give_own_deals(directory.processes.alone)
        self._look()

    @property
    def matches_over(self) -> int:
        """Number of matches that are finished or no longer needed."""
        return len(self.schedule) - len(self._pending(self.schedule))

    @property
    def looks_left(self) -> int:
        """Number of remaining looks."""
        return len(self._looks)

    @property
    def suspended(self) -> dict[str, str]:
        """Entries that forfeited too often, with the reasons."""
        return self._suspensions.suspended

    @property
    def excluded(self) -> dict[str, str]:
        """Entries that forfeit their remaining matches, with the reasons."""
        return self.out | self.suspended

    def exclude(self, entries: Mapping[str, str]) -> None:
        """Record these entries as out, with the reasons why they could not be built or started.

        Entries that are already out keep their earlier reason.
        """
        new = {name: why for name, why in entries.items() if name not in self.out}
        if new:
            self.out |= new
            self._note_excluded()

    def _note_excluded(self) -> None:
        self.directory.change(out=dict(self.out), suspended=dict(self.suspended))

    def pending_attempts(self) -> list[Attempt]:
        """Return the next attempts at the matches without a result before the next look.

        Matches that can be resumed from the journal come first.
        """
        return self._pending(self.schedule[: self._looks[0] if self._looks else None])

    def _pending(self, schedule: Sequence[ScheduledMatch]) -> list[Attempt]:
        over = {result.match_id for result in self.results if not result.void}
        attempts = Counter(result.match_id for result in self.results)
        pending = [
            Attempt(match, attempts[match.match_id] + 1)
            for match in schedule
            if match.match_id not in over and attempts[match.match_id] < MAX_ATTEMPTS
        ]
        begun = self.directory.journal.unfinished
        return sorted(pending, key=lambda one: one.name not in begun)

    def pending_blocks(self) -> list[PendingBlock]:
        """Return the pending matches by block, in the same order."""
        blocks: dict[str, list[Attempt]] = {}
        for pending in self.pending_attempts():
            blocks.setdefault(pending.match.deal_block, []).append(pending)
        return [PendingBlock(name, tuple(matches)) for name, matches in blocks.items()]

    def begin_block(self, name: str) -> bool:
        """If a match of this block may begin, count the block as begun and return True."""
        if self.stopping.is_set() or (self._decided and name not in self._begun):
            return False
        self._begun.add(name)
        return True

    def next_leg(self, concurrency: int) -> list[Attempt]:
        """Return the matches of the next leg, beginning a new group if the last group is over.

        The list is empty at the end of the run, or if the run is stopping.
        """
        if self.stopping.is_set():
            return []
        leg = self._leg_of_group()
        if not leg:
            self._begin_group(concurrency)
            leg = self._leg_of_group()
        if leg:
            self._note_others()
        return leg

    def _note_others(self) -> None:
        """If bots of other runs live on the machine when a leg begins, write this to the record."""
        if not self._others():
            return
        processes = self.directory.processes
        if not self.directory.info.beside_others:
            self._logger.warning("bots of other runs live on this machine, and could pass on deals")
        processes.note("others")

    def _begin_group(self, concurrency: int) -> None:
        """Begin the next group; at the end of the run, the last group stays."""
        matches = Counter(match.deal_block for match in self.schedule)
        pending = {match.deal_block for match, _ in self.pending_attempts()}
        left = [name for name in matches if name in pending]
        if left:
            size = group_size(len(left), concurrency, self._match_s())
            self.group = {name: matches[name] for name in left[:size]}
            self._begun.update(self.group)
            self.directory.processes.note("group", blocks=self.group)
            self.directory.change()

    def end_shared_deals(self, survivors: Sequence[int]) -> None:
        """If these processes may know the group's deals, give the remaining matches new deals of
        their own.

        Matches that have begun keep their deals.
        """
        self.survived = bool(survivors)
        if not survivors:
            return
        begun = self.directory.journal.unfinished
        alone = [
            one.match.match_id
            for one in self.pending_attempts()
            if one.match.deal_block in self.group
            and one.match.shared_deal
            and one.name not in begun
        ]
        self._logger.error("processes of bots live on", processes=survivors, own_deals=alone)
        self.directory.processes.note("alone", matches=alone)
        self._give_own_deals(alone)

    def _give_own_deals(self, matches: Collection[str]) -> None:
        self.schedule = with_own_deals(self.schedule, matches)

    def _leg_of_group(self) -> list[Attempt]:
        """Return the matches that the group plays in the next leg; none if the group is over."""
        attempts = {
            match.match_id: number
            for match, number in self.pending_attempts()
            if match.deal_block in self.group
        }
        group: dict[str, list[ScheduledMatch]] = {name: [] for name in self.group}
        for match in self.schedule:
            if match.deal_block in group:
                group[match.deal_block].append(match)
        return next_leg([block for block in group.values() if block], attempts, self._remote)

    def _match_s(self) -> float:
        """Return the average seconds per match so far."""
        times = [result.seconds for result in self.results if not result.void]
        return sum(times) / len(times) if times else DEFAULT_MATCH_S

    def recover_blocks(self) -> None:
        """Recover the journals of an earlier runner's workers; see `recover_block`."""
        for path in block_journals(self.directory.path):
            self.recover_block(path.stem)
        self.directory.remove_journals()

    def recover_block(self, block: str) -> bool:
        """Recover the journal of a block whose worker was lost or stopped.

        Finished matches are recorded, and the others continue from their last decision. Return
        False if no sound journal exists, in which case any match of the block may have begun.
        Raises JournalError if the run's own journal fails.
        """
        path = block_journal(self.directory.path, block)
        if not path.exists():
            return False
        try:
            with Journal(path) as journal:
                attempts = list(ended_attempts(journal))
        except JournalError as error:
            self._logger.warning("journal of a block is left", block=block, why=str(error))
            path.unlink(missing_ok=True)
            return False
        pending = self._pending_names()
        self.directory.processes.take(*journal.facts)
        for played in attempts:
            if played.result.played_as in pending:
                self.record_result(played)
                pending = self._pending_names()
        for name, opened in journal.unfinished.items():
            if name in pending:
                self.directory.journal.adopt(name, opened)
        self._begun.add(block)
        path.unlink(missing_ok=True)
        return True

    def _pending_names(self) -> set[str]:
        return {one.name for one in self.pending_attempts()}

    def record_result(self, played: PlayedAttempt) -> None:
        """Store the result of an attempt, and its replay, which is signed.

        The result may put entries out or suspend them; entries that are out are never suspended.
        """
        result, records = played
        replay = signed_records(records, self._key) if records else ()
        if lost := self.submissions.lost(result.played_as):
            result = replace(result, lost=lost)
        result = self.directory.record_result(result, replay)
        self.results.append(result)
        self._publish_or_withhold(result)
        ignored = {*self.excluded, *self._remote}
        out = self._failed_starts.record_result(result, ignored)
        for name, why in out.items():
            self._logger.warning("entry is out", entry=name, why=why)
        self.out |= out
        suspended = self._suspensions.record_result(result, self.out)
        for name, why in suspended.items():
            self._logger.warning("entry suspended", entry=name, why=why)
        if out or suspended:
            self._note_excluded()
        if not result.void or result.attempt >= MAX_ATTEMPTS:
            self._finish_match(result)

    def _finish_match(self, result: MatchResult) -> None:
        """Count a match as over.

        After the last match of a block with a shared deal, the block's replays are published.
        """
        if self._pending_in[result.block]:
            self._pending_in[result.block] -= 1
            if not self._pending_in[result.block]:
                self.directory.publish_replays(self._withheld.pop(result.block, ()))
        self._finished(result)
        if self._looks:
            self._open.discard(result.match_id)
            self._look()
        elif not self._decided and self._enough is not None and self._enough():
            self._decided = True
            self.schedule = [match for match in self.schedule if match.deal_block in self._begun]

    def _look(self) -> None:
        """If all matches before this look are over, move to the next look or end the run here."""
        while self._looks and not self._open:
            self._open = {match.match_id for match, _ in self.pending_attempts()}
            if self._open:
                return
            seen = self.schedule[: self._looks.pop(0)]
            names = {match.match_id for match in seen}
            # A run that is resumed has results of later matches as well.
            results = [result for result in self.results if result.match_id in names]
            if self._looks and self._settled(results):
                self.schedule = seen
                self._looks.clear()

    def _settled(self, results: Sequence[MatchResult]) -> bool:
        # Loads numerical libraries, which other runs need at their end only.
        from asara_server.tournament.standings.standings import ranks_settled

        names, places = (
            [one.name for one in self._tournament.entries],
            self._tournament.settled_places,
        )
        return ranks_settled(names, results, places, self.looks)

    def _publish_or_withhold(self, result: MatchResult) -> None:
        if self._pending_in[result.block] and not self._open_at_once:
            self._withheld[result.block].append(result.played_as)
        else:
            self.directory.publish_replays([result.played_as])


class Suspensions:
    """Decides which entries of a run are suspended; results may arrive in any order."""

    def __init__(self, matches: Iterable[ScheduledMatch], limits: Limits) -> None:
        self._limits = limits
        self._schedule: dict[str, list[str]] = {}
        """Matches of each entry, in schedule order."""
        for match in matches:
            for entry in match.entries:
                self._schedule.setdefault(entry, []).append(match.match_id)
        self._ends: dict[str, dict[str, Termination]] = {entry: {} for entry in self._schedule}
        """For each entry, the terminations of its finished matches."""
        self._judged = dict.fromkeys(self._schedule, 0)
        """For each entry, the number of matches judged: all before its first unfinished match."""
        self._counted = dict.fromkeys(self._schedule, 0)
        """Number of judged matches that the entry did not miss."""
        self._forfeits = dict.fromkeys(self._schedule, 0)
        """Number of judged matches that the entry forfeited without missing them."""
        self.suspended: dict[str, str] = {}
        """Suspended entries, with the reasons."""

    def record_result(self, result: MatchResult, excluded: Collection[str] = ()) -> dict[str, str]:
        """Count a result; return the entries that it suspends, with the reasons.

        Entries that are `excluded` forfeit anyway, and are not judged.
        """
        not_judged = {*self.suspended, *excluded}
        suspended = {}
        if not result.void:
            for seat in result.seats:
                if seat.entry in self._schedule and seat.entry not in not_judged:
                    self._ends[seat.entry][result.match_id] = seat.termination
                    if why := self._judge(seat.entry):
                        suspended[seat.entry] = why
        self.suspended |= suspended
        return suspended

    def _judge(self, entry: str) -> str:
        """Return why an entry is suspended, or "" if it is not.

        Only the matches before its first unfinished match are judged.
        """
        schedule, ends = self._schedule[entry], self._ends[entry]
        limits = self._limits
        while (judged := self._judged[entry]) < len(schedule) and schedule[judged] in ends:
            self._judged[entry] += 1
            if (end := ends[schedule[judged]]) is Termination.MISSED:
                continue
            self._counted[entry] = matches = self._counted[entry] + 1
            self._forfeits[entry] = forfeits = self._forfeits[entry] + end.forfeit
            if matches >= limits.suspend_after and forfeits > limits.suspend_share * matches:
                missed = judged + 1 - matches
                besides = f", besides {missed} that it missed" if missed else ""
                return (
                    f"suspended after it forfeited {forfeits} of its first {matches} matches"
                    f"{besides}"
                )
        return ""


class FailedStarts:
    """Counts each entry's failed starts since its last successful start."""

    def __init__(self, limit: int) -> None:
        """`limit` is the number of consecutive failed starts after which an entry is out."""
        self._limit = limit
        self._failures: Counter[str] = Counter()

    def record_result(self, result: MatchResult, ignored: Collection[str] = ()) -> dict[str, str]:
        """Count a result; return the entries that are now out, with the reasons.

        Nothing is counted for `ignored` entries.
        """
        out = {}
        for seat in result.seats:
            if seat.entry in ignored:
                continue
            if seat.termination is not Termination.NEVER_STARTED:
                self._failures[seat.entry] = 0
                continue
            self._failures[seat.entry] += 1
            if (failures := self._failures[seat.entry]) >= self._limit:
                out[seat.entry] = (
                    f"not started again after {failures} failures in a row: {seat.reason}"
                )
        return out
