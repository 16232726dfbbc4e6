"""Checks the entries of a tournament before its first match: builds each and plays one match.

Every match is played against opponents of the caller, so no entry meets another, and none receives
anything of another. Bots have the clocks, the limits and the sandbox of the tournament. The deals
come from a seed of the check's own: they tell nothing of those of the run.
"""

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from asara_codec.results import Termination
from asara_game.edition import Edition
from asara_game.vocabulary import RuleSet
from asara_server.eventlog.replay import Replay
from asara_server.match import deal_secrets
from asara_server.match.inputs import RejectionRecord, ReplyRecord
from asara_server.match.spec import SECOND_US
from asara_server.network.open_files import files_needed, require_open_files
from asara_server.referee.referee import Referee
from asara_server.text import plain_words
from asara_server.tournament.bots.build import EntryBuilder
from asara_server.tournament.bots.memory_sampler import MemorySampler
from asara_server.tournament.bots.output_log import last_printed
from asara_server.tournament.bots.process import MachineError
from asara_server.tournament.bots.remedies import remedy
from asara_server.tournament.config.entry_faults import entry_fault
from asara_server.tournament.config.seeds import draw_seed
from asara_server.tournament.config.tournament_file import Entry, Tournament
from asara_server.tournament.execution.local_referee import LocalReferee, local_referee
from asara_server.tournament.execution.match_runner import PlayedMatch
from asara_server.tournament.execution.match_settings import MatchSettings
from asara_server.tournament.execution.remote_authenticator import RemoteAuthenticator
from asara_server.tournament.execution.remote_bots import RemoteBots
from asara_server.tournament.execution.remote_lobby import RemoteLobby
from asara_server.tournament.run.directory import RemoteInfo
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.filesystem_view import entry_size
from asara_server.tournament.schedule.schedule import ScheduledMatch, bot_seed
from asara_server.tournament.standings.match_result import without_output

_CLIENTS_LINE: Final = re.compile(r"\basara: (goodbye: |connected as entry )")
_SEAT: Final = 0
"""Seat of the entry that is checked."""


class Verdict(Enum):
    WORKS = "works"
    BROKEN = "broken"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class CheckedEntry:
    """The finding about one entry."""

    entry: str
    verdict: Verdict
    why: str = ""
    """Why it is broken or was not checked; "" if it works."""
    build_s: float | None = None
    """Seconds that its build took; None without one."""
    start_s: float | None = None
    """Seconds from the start of its process until it had connected; None if it did not."""
    decisions: int = 0
    """Number of its answers that were accepted."""
    rejected: int = 0
    """Number of its answers that were rejected."""
    longest_s: float | None = None
    """Seconds of its longest decision; None without an answer."""
    printed: tuple[str, ...] = ()
    """The last lines that its build or its bot printed."""
    replay: Replay | None = None
    advice: str = ""
    """A sentence for its author about why it is broken; "" if nothing is known to help."""
    termination: Termination | None = None
    """Termination of its seat; None without a match."""
    answers_us: tuple[int, ...] = ()
    """Microseconds of each of its answers that were accepted."""
    rejections: tuple[str, ...] = ()
    """Its answers that were rejected, in words."""
    memory_bytes: int | None = None
    """Most memory that it used; None if that is unknown."""
    size_bytes: int | None = None
    """Size of its files after the build; None if that was not measured."""

    @property
    def median_s(self) -> float | None:
        """Seconds of its median decision; None without an answer."""
        return median(self.answers_us) / SECOND_US if self.answers_us else None

    @property
    def first_reply_s(self) -> float | None:
        """Seconds that it took to start and to answer its first decision; None without one."""
        if self.start_s is None or not self.answers_us:
            return None
        return self.start_s + self.answers_us[0] / SECOND_US


class EntryCheck:
    """The check of one tournament; `run` makes it."""

    def __init__(
        self,
        tournament: Tournament,
        opponents: Sequence[Entry],
        folder: Path,
        *,
        edition: Edition,
        sandbox: Sandbox | None,
        remote: bool = False,
        on_listening: Callable[[str], None] = lambda address: None,
        only: Entry | None = None,
    ) -> None:
        """`opponents` fill the other seats; their names are those of no entry.

        Builds and output go to the directories `builds` and `logs` of `folder`. With `remote`, bots
        on other machines are awaited at the address with which `on_listening` is called. If `only`
        one of the entries is to be checked, its memory and its files are measured, and the
        `opponents` are entries as well.
        """
        self._only = only
        self._tournament = tournament
        self._opponents = tuple(opponents)
        self._edition = edition
        self._sandbox = None if sandbox is None else sandbox.with_hidden(folder)
        self._remote = tournament.remote if remote else None
        self._on_listening = on_listening
        self._logs = folder / "logs"
        self._logs.mkdir(exist_ok=True)
        self._builder = EntryBuilder(
            folder / "builds", self._logs, tournament.limits, sandbox=self._sandbox
        )
        self.building: dict[str, float] = {}
        """Entries that are being built, and when that began, in seconds of the monotonic clock."""
        self.playing: dict[str, None] = {}
        """Entries whose match is played, in the order in which that began."""
        self._building_slots = asyncio.Semaphore(tournament.concurrency)

    async def run(self, finished: Callable[[CheckedEntry], None]) -> list[CheckedEntry]:
        """Check all entries, several at once; return the findings in the order of the entries.

        `finished` is called with each finding. All bots have ended on return, even if it fails.
        Raises ServeError if bots on other machines cannot be served, OpenFilesError, and
        MachineError if this machine does not start bots.
        """
        entries = self._tournament.entries if self._only is None else (self._only,)
        referee = Referee()
        self._require_open_files(referee)
        bots = RemoteBots(referee, entries, self._remote.wait_s if self._remote else 0.0)
        async with AsyncExitStack() as stack:
            lobby = None
            if self._remote is not None:
                authenticator = RemoteAuthenticator(self._remote.tokens, bots)
                lobby = RemoteLobby(referee, self._remote, bots, authenticator, _discard)
                await stack.enter_async_context(lobby.open(self._on_listening))
            local = await stack.enter_async_context(self._local_referee(referee))
            if lobby is not None:
                lobby.start_waiting(local.pool)

            async def check(entry: Entry) -> CheckedEntry:
                try:
                    checked = await self._check(entry, local, bots)
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

    def _local_referee(self, referee: Referee) -> AbstractAsyncContextManager[LocalReferee]:
        tournament, seed = self._tournament, draw_seed()
        every = {one.name: one for one in (*tournament.entries, *self._opponents)}
        settings = MatchSettings(
            entries=tuple(every.values()),
            clocks=tournament.clocks.settings(),
            limits=tournament.limits.model_copy(update={"idle_processes": len(self._opponents)}),
            transport=tournament.transport,
            joint_deals=tournament.deals == "joint",
            processes={
                **{one.name: "run" for one in self._opponents},
                **tournament.process_policies,
            },
            bot_seeds={entry.name: bot_seed(seed, entry.name) for entry in every.values()},
            ponder=tournament.ponder,
            build_directories={
                entry.name: self._builder.build_directory(entry)
                for entry in tournament.entries
                if entry.build
            },
        )
        secret = deal_secrets.tournament_secret(seed)
        return local_referee(
            settings,
            referee,
            edition=self._edition,
            secret_of=partial(deal_secrets.secret_of, secret),
            sandbox=self._sandbox,
            logs=self._logs,
            out={},
            suspended={},
        )

    def _require_open_files(self, referee: Referee) -> None:
        remote = len(self._tournament.remote_entries) if self._remote else None
        processes = (self._tournament.concurrency + 1) * (1 + len(self._opponents))
        needed = files_needed(referee.limits, processes=processes, remote_bots=remote)
        require_open_files(needed, "lower concurrency")

    async def _check(self, entry: Entry, local: LocalReferee, bots: RemoteBots) -> CheckedEntry:
        if entry.remote:
            if self._remote is None:
                why = "its bot runs on another machine; --remote waits for it"
                return CheckedEntry(entry.name, Verdict.NOT_CHECKED, why)
            while entry.name in bots.unavailable_entries():
                await bots.wait_for_change()
            return await self._play(entry, local, None)
        async with self._building_slots:
            build_s = None
            if entry.build:
                began = self.building[entry.name] = time.monotonic()
                try:
                    failed = await self._builder.build([entry], 1)
                finally:
                    del self.building[entry.name]
                build_s = time.monotonic() - began
                if entry.name in failed:
                    why = failed[entry.name]
                    printed = tuple(last_printed(self._logs / f"build-{entry.name}.log"))
                    return CheckedEntry(entry.name, Verdict.BROKEN, why, build_s, printed=printed)
            return await self._play(entry, local, build_s)

    async def _play(self, entry: Entry, local: LocalReferee, build_s: float | None) -> CheckedEntry:
        names = (entry.name, *(opponent.name for opponent in self._opponents))
        match = ScheduledMatch(f"check-{entry.name}", 1, checked_rules(self._tournament), names)
        self.playing[entry.name] = None
        try:
            if self._only is None:
                attempts = [played async for played in local.matches.play(match)]
                return _finding(entry, attempts[-1], build_s)
            return await self._play_measured(entry, match, local, build_s)
        finally:
            del self.playing[entry.name]

    async def _play_measured(
        self, entry: Entry, match: ScheduledMatch, local: LocalReferee, build_s: float | None
    ) -> CheckedEntry:
        built = self._builder.build_directory(entry) if entry.build else None
        limits = self._tournament.limits
        size = await asyncio.to_thread(entry_size, self._sandbox, entry, built, limits)
        sampler = MemorySampler(partial(local.pool.process_ids, entry.name))
        sampling = asyncio.create_task(sampler.run())
        try:
            attempts = [played async for played in local.matches.play(match)]
        finally:
            sampling.cancel()
        process = attempts[-1].bots[_SEAT].process
        memory = process.memory_peak() if process else None
        finding = _finding(entry, attempts[-1], build_s)
        return replace(finding, memory_bytes=memory or sampler.peak, size_bytes=size)


def checked_rules(tournament: Tournament) -> frozenset[RuleSet]:
    """Return the largest of a tournament's combinations of rule sets, which is the one checked."""
    return max(tournament.rule_sets, key=len)


def _finding(entry: Entry, played: PlayedMatch, build_s: float | None) -> CheckedEntry:
    result, bot = played.result, played.bots[_SEAT]
    failed = result.void or result.seats[_SEAT].termination.forfeit
    printed = tuple(bot.error_lines() if failed else _own_lines(bot.last_lines()))
    if result.void:
        why = f"the referee failed: {result.void_reason}"
        return CheckedEntry(entry.name, Verdict.NOT_CHECKED, why, build_s, printed=printed)
    seat = result.seats[_SEAT]
    why = advice = ""
    if seat.termination.forfeit:
        why = f"{plain_words(seat.termination.name)}: {without_output(seat.detail)}"
        advice = remedy(seat.termination, seat.detail, entry.command)
    records = played.replay.records if played.replay is not None else ()
    rejections = [one for one in records if type(one) is RejectionRecord and one.seat == _SEAT]
    answers = [one.bot_us for one in records if type(one) is ReplyRecord and one.seat == _SEAT]
    return CheckedEntry(
        entry.name,
        Verdict.BROKEN if why else Verdict.WORKS,
        why,
        build_s,
        bot.start_up_s,
        len(answers),
        len(rejections),
        max(answers) / SECOND_US if answers else None,
        printed,
        played.replay,
        advice,
        seat.termination,
        tuple(answers),
        tuple(
            f"decision {one.decision_id}, {plain_words(one.reason.name)}: {one.detail}"
            for one in rejections
        ),
    )


def _own_lines(printed: Sequence[str]) -> list[str]:
    """Return the lines printed without those of a client that connects and takes its leave."""
    return [line for line in printed if not _CLIENTS_LINE.search(line)]


def _discard(info: RemoteInfo) -> None:
    """Take the presence of remote bots, which no other program reads during a check."""
