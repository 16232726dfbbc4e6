"""Checks one bot for its author, and prints what an organiser would see."""

import asyncio
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from asara_codec.results import Termination
from asara_server.cli.commands.check import Check
from asara_server.cli.display.bot_output import show_output
from asara_server.cli.display.console import notify, out, show_line, show_quoted, warn
from asara_server.cli.display.progress import SLOW_INTERVAL_S
from asara_server.cli.display.quantities import duration
from asara_server.cli.options.bots import find_bots
from asara_server.cli.options.common import rule_sets
from asara_server.cli.options.log import LogOptions
from asara_server.cli.options.output_file import check_output, write_json
from asara_server.cli.sessions.bot_build import clients_beside
from asara_server.cli.sessions.entry_check import (
    OPPONENT,
    check_folder,
    keep_replays,
    play_check,
    seconds_text,
    verdict_text,
)
from asara_server.cli.sessions.setup import log_to_file, sandbox_of_bots
from asara_server.event_loop import run
from asara_server.match.inputs import RejectionRecord
from asara_server.match.spec import SECOND_US
from asara_server.replay.signing import default_key_path
from asara_server.text import plain_words
from asara_server.tournament.config.tournament_file import (
    ClockSettings,
    Entry,
    Limits,
    Tournament,
    check_tournament,
)
from asara_server.tournament.execution.entry_check import (
    CheckedEntry,
    EntryCheck,
    Verdict,
    bank_needed_us,
)

_KIB: Final = 1 << 10
_MIB: Final = 1 << 20
_USUAL: Final = ClockSettings()
"""The default clocks of a tournament."""
_GRACE_S: Final = 4.0
"""Free seconds of each decision: a slow bot can finish, and yet an endless loop soon ends."""
_MOST_REJECTIONS: Final = 5


async def show_progress(bot: str, bank_s: float, check: EntryCheck) -> None:
    """Print a line now and then about the progress of the check, until cancelled."""
    began = time.monotonic()
    warned = False
    shown: Sequence[str] = ()
    while True:
        await asyncio.sleep(SLOW_INTERVAL_S)
        doing = "building" if check.building else "playing"
        notify(f"Still {doing} after {duration(time.monotonic() - began, whole_s=True)}")
        if doing == "playing" and not warned:
            warned = True
            notify(f"A bot in an endless loop is stopped after about {duration(bank_s)}")
        if (lines := check.hanging(bot)) != shown:
            shown = lines
            show_quoted(lines, warning=True)


@dataclass(frozen=True, slots=True)
class BotFinding:
    """The findings about a bot after its check."""

    checked: CheckedEntry
    slow: str
    """Why the bot would lose with the default clocks; "" if it would not."""
    bank_needed_s: float | None
    """None if unknown, for example because a decision did not end."""
    bank_s: float
    """Time bank of the check."""
    limits: Limits
    contained: bool

    @property
    def verdict(self) -> str:
        """The verdict in one word."""
        return "slow" if self.slow else self.checked.verdict.value

    @property
    def sentence(self) -> str:
        if self.slow:
            return f"{self.checked.entry} is slow, but not broken: {self.slow}."
        text = f"{self.checked.entry} {verdict_text(self.checked)}"
        return text if self.checked.verdict is Verdict.BROKEN else f"{text}."

    def as_json(self) -> dict[str, Any]:
        """Return the findings as JSON, with units in the names and None for unknown values."""
        one = self.checked
        fault = one.termination if one.termination and one.termination.forfeit else None
        return {
            "bot": one.entry,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "fault": fault and fault.name.lower(),
            "build_s": one.build_s,
            "start_s": one.start_s,
            "first_reply_s": one.first_reply_s,
            "decisions": one.decisions,
            "median_decision_s": one.median_s,
            "longest_decision_s": one.longest_s,
            "time_bank_needed_s": self.bank_needed_s,
            "rejections": list(map(_rejection_text, one.rejections)),
            "memory_bytes": one.memory_bytes,
            "memory_limit_mib": self.limits.memory_mib,
            "directory_bytes": one.size_bytes,
            "directory_limit_mib": self.limits.directory_mib,
            "directory_left_out": list(one.left_out),
            "contained": self.contained,
            "printed": list(one.printed),
        }


def findings(checked: CheckedEntry, tournament: Tournament, *, contained: bool) -> BotFinding:
    """Return the findings of a check, measured against a tournament's default clocks and limits."""
    needed_s = None
    clocks = _USUAL.in_microseconds()
    needed = [bank_needed_us(answers, clocks) for answers in checked.answers_us if answers]
    if needed and checked.termination is not Termination.TIME_OUT:
        needed_s = max(needed) / SECOND_US
    slow = []
    if (start_s := checked.start_s or 0.0) > _USUAL.start_up_s:
        slow.append(
            f"it needs {seconds_text(start_s)} to start, but a tournament allows only "
            f"{_USUAL.start_up_s:g} s (clocks.start_up_s)"
        )
    if needed_s is not None and needed_s > _USUAL.time_bank_s:
        slow.append(
            f"it needs {seconds_text(needed_s)} on its clock, but a tournament allows only "
            f"{_USUAL.time_bank_s:g} s, plus {_USUAL.increment_s:g} s per decision "
            "(clocks.time_bank_s)"
        )
    why = "; ".join(slow) if checked.verdict is Verdict.WORKS else ""
    bank_s = tournament.clocks.time_bank_s
    return BotFinding(checked, why, needed_s, bank_s, tournament.limits, contained)


def show_finding(finding: BotFinding) -> None:
    """Print the measurements, the faults, the bot's output and, at the end, the verdict."""
    one = finding.checked
    rows = list(_measurements(finding))
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        show_line(f"{name:<{width}}  {value}")
    if one.printed:
        show_line(
            "its build's last lines:" if _is_build_fault(one) else "its last lines in each match:"
        )
        show_quoted(one.printed)
    rejections = _untold_rejections(finding)
    for rejection in rejections[:_MOST_REJECTIONS]:
        show_line(f"rejected: {_rejection_text(rejection)}")
    if (more := len(rejections) - _MOST_REJECTIONS) > 0:
        show_line(f"rejected: {more:,} more")
    if rows or one.printed:
        out.print()
    show_line(finding.sentence)


def _untold_rejections(finding: BotFinding) -> list[RejectionRecord]:
    """Return the rejections that neither the bot's client nor the verdict describes."""
    told = (*finding.checked.printed, finding.sentence)
    return [
        one for one in finding.checked.rejections if not any(one.detail in line for line in told)
    ]


def _rejection_text(one: RejectionRecord) -> str:
    return f"decision {one.decision_id}, {plain_words(one.reason.name)}: {one.detail}"


def _measurements(finding: BotFinding) -> list[tuple[str, str]]:
    one = finding.checked
    rows = [
        ("build", seconds_text(one.build_s)),
        ("start-up", seconds_text(one.start_s)),
        ("first reply after", seconds_text(one.first_reply_s)),
        ("median decision", seconds_text(one.median_s)),
        ("longest decision", seconds_text(one.longest_s)),
        ("decisions", f"{one.decisions:,}" if one.decisions else ""),
        ("clock time needed", _bank(finding)),
        ("peak memory", _size(one.memory_bytes, finding.limits.memory_mib)),
        ("folder size", _size(one.size_bytes, finding.limits.directory_mib)),
        ("too large to be seen", ", ".join(one.left_out)),
    ]
    return [(name, value) for name, value in rows if value]


def _is_build_fault(one: CheckedEntry) -> bool:
    return one.termination is None and one.build_s is not None


def _bank(finding: BotFinding) -> str:
    needed_s = finding.bank_needed_s
    if finding.checked.termination is Termination.TIME_OUT:
        return f"more than the check's {finding.bank_s:g} s (a decision did not end)"
    if needed_s is None:
        return ""
    return f"{seconds_text(needed_s) if needed_s else '0 s'} of {_USUAL.time_bank_s:g} s"


def _size(size: int | None, limit_mib: int) -> str:
    if size is None:
        return ""
    if size < _MIB:
        return f"{-(-size // _KIB):,} KiB of {limit_mib:,} MiB"
    return f"{size / _MIB:,.0f} MiB of {limit_mib:,} MiB"


def check_bot(options: Check, log: LogOptions) -> int:
    """Check the bot; return the exit status: 0 if the bot works, otherwise 1."""
    rule_sets(options.rules)
    bot, opponent = find_bots([options.bot, OPPONENT], options.readable)
    if options.json_file is not None:
        check_output("--json", options.json_file, run=options.out_directory)
    tournament = _tournament(bot, opponent, options)
    entry, other = tournament.entries
    sandbox = sandbox_of_bots(options.sandbox, [bot.directory], secret=[default_key_path()])
    with (
        check_folder(options.out_directory) as folder,
        log_to_file(log.after_output(), folder / "check.log"),
    ):

        def show_build() -> None:
            if check.building:
                notify(f"Building {entry.name} in a copy: {shlex.join(entry.build)}", words=False)

        check = EntryCheck(
            tournament,
            [other],
            folder,
            sandbox=sandbox,
            on_build=show_build,
            only=entry,
            show_output=show_output if log.verbose else None,
        )
        notify(
            f"Checking {entry.name} against the built-in bot `random`: one match in each seat, "
            f"rules {options.rules}"
        )
        progress = show_progress(entry.name, options.clock.bank_s, check)
        [checked] = run(play_check(check, progress))
        if options.out_directory is not None:
            keep_replays([checked], folder)
        finding = findings(checked, tournament, contained=sandbox is not None)
    show_finding(finding)
    if sandbox is None:
        warn(
            "The bot ran with your permissions. A tournament runs it in a sandbox: see `--sandbox`."
        )
    if options.out_directory is not None:
        notify(f"Output of build and bot, and replays: {options.out_directory}")
    if options.json_file is not None:
        write_json(options.json_file, finding.as_json())
    return 0 if finding.verdict == "works" else 1


def _tournament(bot: Entry, opponent: Entry, options: Check) -> Tournament:
    """Return a tournament of the bot and its opponent, with longer clocks than usual."""
    readable = (*bot.readable, *clients_beside(bot.directory))
    return check_tournament(
        {
            "title": bot.name,
            "entries": [bot.model_copy(update={"readable": readable}), opponent],
            "seats": 2,
            "rules": options.rules,
            "blocks": "independent",
            "process_per": "run",
            "clocks": {**options.clock.table(options.start_up), "grace_s": _GRACE_S},
        },
        name="check",
        base=Path("/"),  # all paths are absolute
    )
