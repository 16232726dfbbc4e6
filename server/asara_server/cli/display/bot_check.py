"""Shows the findings of `asara check`."""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from asara_server.cli.display.console import notify, out, warn
from asara_server.cli.display.progress import SLOW_INTERVAL_S
from asara_server.cli.display.quantities import duration
from asara_server.match.spec import SECOND_US, ClockSettings
from asara_server.text import count, plain
from asara_server.tournament.config.tournament_file import Entry, Tournament
from asara_server.tournament.execution.entry_check import CheckedEntry, Verdict, bank_needed_us

_KIB: Final = 1 << 10
_MIB: Final = 1 << 20
_KEPT: Final = "skipped, because nothing has changed since the last build"
_USUAL: Final = ClockSettings()
"""The default clocks of a tournament."""
_MOST_REJECTIONS: Final = 5


class CheckActivity(Protocol):
    """The current activity of a check."""

    @property
    def building(self) -> Mapping[str, float]: ...

    @property
    def playing(self) -> Collection[str]: ...

    @property
    def hanging(self) -> Callable[[str], Sequence[str]]:
        """Return a function from an entry to its client's last message about a running match."""


class BotCheckMeter:
    """Prints a line now and then about the progress of the check."""

    def __init__(self, entry: Entry, bank_s: float, activity: CheckActivity) -> None:
        self._entry = entry
        self._bank_s = bank_s
        self._activity = activity

    def begin(self, rules: str) -> None:
        """Print how the bot is checked."""
        notify(
            f"Checking {self._entry.name} against the built-in bot `random`: one match in "
            f"each seat, rules {rules}"
        )

    def add(self, checked: CheckedEntry) -> None:
        """Do nothing, because nothing is shown until everything is known."""

    async def show(self) -> None:
        """Show the progress until cancelled."""
        began = time.monotonic()
        warned = False
        shown: Sequence[str] = ()
        while True:
            await asyncio.sleep(SLOW_INTERVAL_S)
            doing = "building" if self._activity.building else "playing"
            notify(f"Still {doing} after {duration(time.monotonic() - began, whole_s=True)}")
            if doing == "playing" and not warned:
                warned = True
                sooner = "; --clock 60 stops it sooner" if self._bank_s > 60 else ""
                notify(
                    f"A bot in an endless loop is stopped after {duration(self._bank_s)}{sooner}"
                )
            if (lines := self._activity.hanging(self._entry.name)) != shown:
                shown = lines
                for line in lines:
                    warn(f"  | {line}", words=False)


@dataclass(frozen=True, slots=True)
class BotFinding:
    """The findings about a bot after its check."""

    checked: CheckedEntry
    slow: str
    """Why the bot would lose with the default clocks; "" if it would not."""
    bank_needed_s: float | None
    directory_mib: int
    memory_mib: int
    contained: bool

    @property
    def works(self) -> bool:
        return self.checked.verdict is Verdict.WORKS and not self.slow

    @property
    def verdict(self) -> str:
        """The verdict in one word."""
        if self.checked.verdict is not Verdict.WORKS:
            return str(self.checked.verdict.value)
        return "slow" if self.slow else "works"

    @property
    def sentence(self) -> str:
        one = self.checked
        if one.verdict is Verdict.NOT_CHECKED:
            return f"{one.entry} was not checked: {one.why}."
        if one.verdict is Verdict.BROKEN:
            return f"{one.entry} is broken: {one.why}"
        if self.slow:
            return f"{one.entry} is slow, but not broken: {self.slow}."
        if one.rejected:
            replies = count(one.rejected, "reply")
            return f"{one.entry} works, but the referee rejected {replies}."
        return f"{one.entry} works."

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
            "build_kept": one.build_kept,
            "start_s": one.start_s,
            "first_reply_s": one.first_reply_s,
            "decisions": one.decisions,
            "median_decision_s": one.median_s,
            "longest_decision_s": one.longest_s,
            "time_bank_needed_s": self.bank_needed_s,
            "rejections": list(one.rejections),
            "memory_bytes": one.memory_bytes,
            "memory_limit_mib": self.memory_mib,
            "directory_bytes": one.size_bytes,
            "directory_limit_mib": self.directory_mib,
            "contained": self.contained,
            "printed": list(one.printed),
        }


def findings(checked: CheckedEntry, tournament: Tournament, *, contained: bool) -> BotFinding:
    """Return the findings of a check, measured against a tournament's default clocks and limits."""
    needed_s = None
    clocks = _USUAL.in_microseconds()
    if needed := [bank_needed_us(answers, clocks) for answers in checked.answers_us if answers]:
        needed_s = max(needed) / SECOND_US
    slow = []
    if (start_s := checked.start_s or 0.0) > _USUAL.start_up_s:
        slow.append(
            f"it needs {_seconds(start_s)} to start, but a tournament allows only "
            f"{_USUAL.start_up_s:g} s (clocks.start_up_s)"
        )
    if needed_s is not None and needed_s > _USUAL.bank_s:
        slow.append(
            f"it needs {_seconds(needed_s)} on its clock, but a tournament allows only "
            f"{_USUAL.bank_s:g} s, plus {_USUAL.increment_s:g} s per decision (clocks.time_bank_s)"
        )
    limits = tournament.limits
    return BotFinding(
        checked,
        "; ".join(slow) if checked.verdict is Verdict.WORKS else "",
        needed_s,
        limits.directory_mib,
        limits.memory_mib,
        contained,
    )


def show_finding(finding: BotFinding) -> None:
    """Print the measurements, the faults, the bot's output and, at the end, the verdict."""
    one = finding.checked
    rows = list(_measurements(finding))
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        _show_line(f"{name:<{width}}  {value}")
    if one.printed:
        _show_line(f"{'its build' if _is_build_fault(one) else 'the bot'} printed:")
        for line in one.printed:
            _show_line(f"  | {line}")
    for text in one.rejections[:_MOST_REJECTIONS]:
        _show_line(f"rejected: {text}")
    if (more := len(one.rejections) - _MOST_REJECTIONS) > 0:
        _show_line(f"rejected: {more:,} more")
    if rows or one.printed:
        out.print()
    _show_line(finding.sentence)


def _measurements(finding: BotFinding) -> list[tuple[str, str]]:
    one = finding.checked
    rows = [
        ("build", _KEPT if one.build_kept else _seconds(one.build_s)),
        ("start-up", _seconds(one.start_s)),
        ("first reply after", _seconds(one.first_reply_s)),
        ("median decision", _seconds(one.median_s)),
        ("longest decision", _seconds(one.longest_s)),
        ("decisions", f"{one.decisions:,}" if one.decisions else ""),
        ("clock time needed", _bank(finding.bank_needed_s)),
        ("peak memory", _size(one.memory_bytes, finding.memory_mib)),
        ("folder size", _size(one.size_bytes, finding.directory_mib)),
    ]
    return [(name, value) for name, value in rows if value]


def _is_build_fault(one: CheckedEntry) -> bool:
    return one.termination is None and one.build_s is not None


def _bank(needed_s: float | None) -> str:
    if needed_s is None:
        return ""
    return (
        f"{_seconds(needed_s)} of {_USUAL.bank_s:g} s"
        if needed_s
        else f"0 s of {_USUAL.bank_s:g} s"
    )


def _size(size: int | None, limit_mib: int) -> str:
    if size is None:
        return ""
    if size < _MIB:
        return f"{-(-size // _KIB):,} KiB of {limit_mib:,} MiB"
    return f"{size / _MIB:,.0f} MiB of {limit_mib:,} MiB"


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    if value < 0.01:
        return f"{value * 1000:.1f} ms"
    return f"{value * 1000:.0f} ms" if value < 1 else duration(value)


def _show_line(text: str) -> None:
    out.print(plain(text, longest=None), soft_wrap=True)
