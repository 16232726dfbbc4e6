"""Checks the entries of a tournament before its first match: builds each and plays two matches.

The two matches are played one after the other, in the first and the last seat, by the same process
if the tournament reuses processes. Then the process must end properly.

The caller provides the opponents, so entries never meet, and no entry receives anything from
another. Bots have the clocks, limits and sandbox of the tournament. The deals come from the check's
own seed, so they reveal nothing about the deals of the run.
"""

import asyncio
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_game.vocabulary import RuleSet
from asara_server.journal.record_codec import RecordCodec
from asara_server.match import deal_secrets
from asara_server.match.deal_secrets import draw_seed
from asara_server.match.inputs import RejectionRecord, ReplyRecord
from asara_server.match.spec import SECOND_US
from asara_server.network.open_files import require_open_files
from asara_server.referee.referee import Referee
from asara_server.text import plain, plain_words
from asara_server.tournament.bots.build import EntryBuilder
from asara_server.tournament.bots.output import OutputTap, last_printed
from asara_server.tournament.bots.pool import BotWatch, Departure, PooledBot
from asara_server.tournament.bots.process import MachineError
from asara_server.tournament.config.entry_faults import entry_fault
from asara_server.tournament.config.tournament_file import Entry, MatchSettings, Tournament
from asara_server.tournament.execution.match_runner import (
    ExecutionContext,
    MatchRunner,
    match_runner,
)
from asara_server.tournament.execution.remote_bots import RemoteBots
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.filesystem_view import EntryFiles, OwnFiles
from asara_server.tournament.sandbox.private_copy import copy_size
from asara_server.tournament.sandbox.resources import NOTHING_RESERVED
from asara_server.tournament.schedule.schedule import Attempt, ScheduledMatch
from asara_server.tournament.standings.match_result import PlayedAttempt, SeatOutcome

_SECOND_MATCH: Final = "in its second match, but not in its first, which the same process played"
_CLIENTS_LINE: Final = re.compile(r"\basara: (goodbye: |connected as entry )")


class Verdict(Enum):
    WORKS = "works"
    BROKEN = "broken"
    NOT_CHECKED = "not checked"


class _Played(NamedTuple):
    """A match of the entry that is checked."""

    attempt: PlayedAttempt
    seat: int
    """The seat of the entry, and the bot in it."""
    bot: PooledBot

    @property
    def outcome(self) -> SeatOutcome:
        """How the match ended for the entry; the match must not be void."""
        return self.attempt.result.seats[self.seat]


@dataclass(frozen=True, slots=True)
class CheckedEntry:
    """The result of checking one entry."""

    entry: str
    verdict: Verdict
    why: str = ""
    """Why the entry is broken or was not checked; "" if it works."""
    build_s: float | None = None
    """Seconds that the build took; None without a build."""
    start_s: float | None = None
    """Seconds from the start of the process until it connected; None if it never connected."""
    printed: tuple[str, ...] = ()
    """The last lines printed by the build or the bot."""
    replays: Mapping[str, Sequence[bytes]] = field(default_factory=dict)
    """By match name, the records of the replay of each match that was played to the end."""
    termination: Termination | None = None
    """How the last match ended for the entry's seat; None without a match."""
    answers_us: tuple[tuple[int, ...], ...] = ()
    """The times of all accepted answers in microseconds, per match."""
    rejections: tuple[RejectionRecord, ...] = ()
    """The rejected answers of all matches."""
    memory_bytes: int | None = None
    """Peak memory in bytes; None if unknown."""
    size_bytes: int | None = None
    """Size of the entry's files after the build, in bytes; None if it was not measured."""
    left_out: tuple[str, ...] = ()
    """Names of files beside the bot that are too large, so that the bot does not see them."""

    @property
    def decisions(self) -> int:
        """Number of accepted answers."""
        return sum(map(len, self.answers_us))

    @property
    def rejected(self) -> int:
        """Number of rejected answers."""
        return len(self.rejections)

    @property
    def longest_s(self) -> float | None:
        """Seconds of the longest decision; None without an answer."""
        longest = max(chain.from_iterable(self.answers_us), default=None)
        return None if longest is None else longest / SECOND_US

    @property
    def median_s(self) -> float | None:
        """Median seconds per decision; None without an answer."""
        answers = [*chain.from_iterable(self.answers_us)]
        return median(answers) / SECOND_US if answers else None

    @property
    def first_reply_s(self) -> float | None:
        """Seconds from the start to the answer to the first decision; None without an answer."""
        first = next(chain.from_iterable(self.answers_us), None)
        return None if self.start_s is None or first is None else self.start_s + first / SECOND_US


def bank_needed_us(answers_us: Iterable[int], clocks: Clocks) -> int:
    """Return the smallest time bank with which none of these decisions would have timed out.

    `answers_us` are the bot's answer times in order, including the grace. All times are in
    microseconds.
    """
    needed = used = 0
    for number, answer_us in enumerate(answers_us, 1):
        used += max(answer_us - clocks.grace_us, 0)
        needed = max(needed, used - number * clocks.increment_us)
    return needed


class EntryCheck:
    """The check of one tournament. Call `run` to carry it out."""

    def __init__(
        self,
        tournament: Tournament,
        opponents: Sequence[Entry],
        folder: Path,
        *,
        sandbox: Sandbox | None,
        remote: bool = False,
        on_listening: Callable[[str], None] = lambda address: None,
        on_build: Callable[[], None] = lambda: None,
        only: Entry | None = None,
        show_output: Callable[[str], OutputTap] | None = None,
    ) -> None:
        """`opponents` fill the other seats; their names differ from all entries' names.

        Builds and output go to the directories `builds` and `logs` of `folder`. With `remote`, the
        check waits for remote bots at an address, and calls `on_listening` with that address.
        `on_build` is called when a build begins or ends. `only` marks the check of a
        single entry: its memory and files are measured, and its `opponents` are entries as well.
        `show_output` is called with the entry of every process, and returns a tap for the output.
        """
        self._show_output = show_output
        self._departures: defaultdict[str, list[Departure]] = defaultdict(list)
        self._only = only
        self._tournament = tournament
        self._opponents = tuple(opponents)
        self._sandbox = None if sandbox is None else sandbox.with_hidden(folder)
        self._remote = tournament.remote if remote else None
        self._on_listening = on_listening
        self._logs = folder / "logs"
        self._logs.mkdir(exist_ok=True)
        self._builder = EntryBuilder(
            folder / "builds",
            self._logs,
            tournament.limits,
            sandbox=self._sandbox,
            changed=on_build,
        )
        self.building: Mapping[str, float] = self._builder.building
        """Entries being built, each with the Unix time at which its build began."""
        self.playing: dict[str, None] = {}
        """Entries whose matches are being played, in order of their start."""
        self.hanging: Callable[[str], list[str]] = lambda entry: []
        """Returns the last message of an entry's client about a running match."""
        self._building_slots = asyncio.Semaphore(tournament.jobs)

    async def run(self, finished: Callable[[CheckedEntry], None]) -> list[CheckedEntry]:
        """Check all entries, several at a time; return the findings in the order of the entries.

        `finished` is called with each finding. All bots have ended on return, even after an error.
        Raises ServeError if remote bots cannot be served, OpenFilesError, and MachineError if this
        machine cannot start bots.
        """
        entries = self._tournament.entries if self._only is None else (self._only,)
        referee = Referee()
        require_open_files(
            referee.limits,
            processes=(self._tournament.jobs + 1) * (1 + len(self._opponents)),
            remote_bots=len(self._tournament.remote_entries) if self._remote else None,
            remedy="lower jobs",
        )
        bots = RemoteBots(referee, entries, self._remote)
        async with bots.serve(self._on_listening), self._match_runner(referee) as runner:
            self.hanging = runner.pool.kit_message
            bots.start_waiting(runner.pool)

            async def check(entry: Entry) -> CheckedEntry:
                try:
                    checked = await self._check(entry, runner, bots)
                except MachineError:
                    raise
                except Exception as error:  # noqa: BLE001 - the others are checked
                    why = entry_fault(entry.name, "cannot be checked", error)
                    checked = CheckedEntry(entry.name, Verdict.BROKEN, why)
                finished(checked)
                return checked

            tasks = [asyncio.create_task(check(entry)) for entry in entries]
            try:
                return await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    def _match_runner(self, referee: Referee) -> AbstractAsyncContextManager[MatchRunner]:
        tournament, seed = self._tournament, draw_seed()
        built = {
            entry.name: self._builder.build_directory(entry)
            for entry in tournament.entries
            if entry.build
        }
        idle = tournament.jobs * (1 + len(self._opponents))
        limits = tournament.limits.model_copy(update={"idle_processes": idle})
        settings = MatchSettings.of(tournament, seed, built, self._opponents)
        settings = replace(settings, limits=limits)
        secret = deal_secrets.tournament_secret(seed)
        context = ExecutionContext(settings, partial(deal_secrets.secret_of, secret), self._sandbox)
        watch = BotWatch(self._show_output, lambda one: self._departures[one.entry].append(one))
        return match_runner(context, referee, self._logs, watch=watch)

    async def _check(self, entry: Entry, runner: MatchRunner, bots: RemoteBots) -> CheckedEntry:
        if entry.remote:
            if self._remote is None:
                why = "its bot runs on another machine; --remote waits for it"
                return CheckedEntry(entry.name, Verdict.NOT_CHECKED, why)
            while entry.name in bots.unavailable_entries():
                await bots.wait_for_change()
            return await self._play(entry, runner, None)
        async with self._building_slots:
            build_s = None
            if entry.build:
                began = time.monotonic()
                failed = await self._builder.build([entry], 1)
                build_s = time.monotonic() - began
                if entry.name in failed:
                    why = failed[entry.name]
                    printed = tuple(last_printed(self._logs / f"build-{entry.name}.log"))
                    return CheckedEntry(entry.name, Verdict.BROKEN, why, build_s, printed=printed)
            return await self._play(entry, runner, build_s)

    async def _play(self, entry: Entry, runner: MatchRunner, build_s: float | None) -> CheckedEntry:
        self.playing[entry.name] = None
        try:
            own = None if self._only is None else await self._own_files(entry)
            played = await self._play_matches(entry, runner)
            peaks = [one.bot.process.memory_peak() for one in played if one.bot.process]
            await self._end(entry, runner, played)
            memory = max((peak for peak in peaks if peak), default=None)
            finding = self._finding(entry, played, build_s)
            finding = replace(finding, memory_bytes=memory)
            if own is None:
                return finding
            left_out = tuple(plain(path.name) for path in own.left_out)
            return replace(finding, size_bytes=copy_size(own.source), left_out=left_out)
        finally:
            del self.playing[entry.name]

    async def _own_files(self, entry: Entry) -> OwnFiles:
        built = self._builder.build_directory(entry) if entry.build else None
        reserved = self._sandbox.reserved if self._sandbox else NOTHING_RESERVED
        files = EntryFiles([entry], reserved, self._tournament.limits)
        return await asyncio.to_thread(files.of, entry, built)

    async def _play_matches(self, entry: Entry, runner: MatchRunner) -> list[_Played]:
        """Play the matches in turn until the entry forfeits one."""
        others = tuple(opponent.name for opponent in self._opponents)
        tables = ((entry.name, *others), (*others, entry.name))
        rules = checked_rules(self._tournament)
        played: list[_Played] = []
        for number, table in enumerate(tables, start=1):
            match = ScheduledMatch(f"check-{entry.name}-{number}", number, rules, table)
            *_, (attempt, bots) = [one async for one in runner.play(Attempt(match))]
            seat = table.index(entry.name)
            played.append(_Played(attempt, seat, bots[seat]))
            if attempt.result.void or played[-1].outcome.termination.forfeit:
                break
        return played

    async def _end(self, entry: Entry, runner: MatchRunner, played: Sequence[_Played]) -> None:
        await runner.pool.retire_idle(entry.name, "the match is over")
        ends = [one.bot.watcher for one in played if one.bot.watcher is not None]
        await asyncio.gather(*ends)  # a bot that ended by itself is retired by its watcher

    def _finding(
        self, entry: Entry, played: Sequence[_Played], build_s: float | None
    ) -> CheckedEntry:
        last = played[-1]
        attempts, bots = [one.attempt for one in played], [one.bot for one in played]
        answers, rejections = [], []
        for one in played:
            every = map(RecordCodec().decode, one.attempt.records)
            records = [record for record in every if getattr(record, "seat", None) == one.seat]
            answers.append(tuple(one.bot_us for one in records if type(one) is ReplyRecord))
            rejections.append([one for one in records if type(one) is RejectionRecord])
        finding = CheckedEntry(
            entry.name,
            Verdict.WORKS,
            build_s=build_s,
            start_s=bots[0].start_up_s,
            printed=tuple(self._printed(entry, played)),
            replays={one.result.played_as: one.records for one in attempts if one.records},
            answers_us=tuple(answers),
            rejections=tuple(chain.from_iterable(rejections)),
        )
        result = last.attempt.result
        if result.void:
            why = f"the referee failed: {result.void_reason}"
            printed = tuple(bots[-1].last_lines())
            return replace(finding, verdict=Verdict.NOT_CHECKED, why=why, printed=printed)
        finding = replace(finding, termination=last.outcome.termination)
        stays = len(bots) > 1 and bots[0] is bots[1]  # one process played both matches
        fault = _forfeit(last, stays=stays) or self._departure(entry)
        if not fault and len(rejections) > 1 and stays and rejections[1] and not rejections[0]:
            fault = _Fault(f"its replies were rejected {_SECOND_MATCH}")
        if not fault:
            return finding
        return replace(
            finding,
            verdict=Verdict.BROKEN,
            why=fault.why,
            printed=fault.printed or finding.printed,
        )

    def _printed(self, entry: Entry, played: Sequence[_Played]) -> Iterator[str]:
        """Yield the last lines of each match, without the client's about connecting and leaving."""
        for one in played:
            log = self._logs / one.attempt.result.played_as / f"{one.seat}-{entry.name}.log"
            yield from (line for line in last_printed(log) if not _CLIENTS_LINE.search(line))

    def _departure(self, entry: Entry) -> "_Fault | None":
        for one in self._departures[entry.name]:
            if one.sentence:
                return _Fault(one.sentence, one.printed)
        return None


@dataclass(frozen=True, slots=True)
class _Fault:
    why: str
    printed: tuple[str, ...] = ()


def checked_rules(tournament: Tournament) -> frozenset[RuleSet]:
    """Return the largest combination of rule sets in a tournament; this combination is checked."""
    return max(tournament.rules, key=len)


def _forfeit(last: _Played, *, stays: bool) -> "_Fault | None":
    """Return the fault of an entry that forfeits; `stays` means one process for all matches."""
    if not last.outcome.termination.forfeit:
        return None
    why = f"{plain_words(last.outcome.termination.name)}: {last.outcome.reason}"
    if last.attempt.result.round > 1:
        why = f"{why} ({_SECOND_MATCH if stays else 'in its second match'})"
    elif last.outcome.termination not in (Termination.NEVER_STARTED, Termination.MISSED):
        why = f"{why}; its second match was not played"
    # A process that stays may have printed the reason in the first match.
    return _Fault(why, () if stays else tuple(last.bot.last_lines()))
