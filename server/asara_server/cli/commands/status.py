"""`asara status`: show the progress of a run, while it is active or afterwards."""

import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.control import Control
from rich.progress_bar import ProgressBar
from rich.text import Text

from asara_server.bounded_file import read_bounded
from asara_server.cli.display.console import out, show_quoted, show_table
from asara_server.cli.display.progress import building_text
from asara_server.cli.display.quantities import duration
from asara_server.cli.display.results import left_out_text, show_cross_table, show_standings
from asara_server.cli.options.common import RunDirectoryArgument
from asara_server.cli.options.output_file import check_output, write_output
from asara_server.text import count, plain, plain_words
from asara_server.tournament.config.tournament_file import LARGEST_FILE
from asara_server.tournament.run.directory import TOURNAMENT, RemoteInfo
from asara_server.tournament.run.read_run import run_standings
from asara_server.tournament.run.run_record import json_bytes
from asara_server.tournament.run.status import FailingEntry, RunState, RunStatus, StatusReader
from asara_server.tournament.standings.match_result import without_forfeits as exclude_forfeits
from asara_server.tournament.standings.model import Standings

CrossOption = Annotated[
    bool, typer.Option("--cross", help="Also show the score of every entry against every other.")
]
WithoutForfeitsOption = Annotated[
    bool,
    typer.Option(
        "--without-forfeits",
        help="Exclude blocks (sets of matches with the same deal) in which an entry forfeited.",
    ),
]
JsonOption = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Also write the standings to FILE, in the format of a run's standings.json.",
    ),
]
WatchOption = Annotated[
    float | None,
    typer.Option(
        "--watch",
        metavar="SECONDS",
        min=0.5,
        help="Repeat every SECONDS seconds while the run is active.",
    ),
]

_REASON_CHARACTERS = 240
"""Maximum length of a reason that is shown in full, because it may quote a bot's output."""
_NOTED_STALL_S = 1.0
"""Shortest stall of the referee that is shown, in seconds."""
_ROWS_WATCHED = 10
"""Maximum rows of a table of forfeits that is shown repeatedly."""


def status(
    directory: RunDirectoryArgument,
    cross: CrossOption = False,
    without_forfeits: WithoutForfeitsOption = False,
    watch: WatchOption = None,
    json_file: JsonOption = None,
) -> None:
    """Show the progress and the standings of a run.

    Shows how many matches are finished, how long the rest will take, the processor time used, the
    standings, and which entries forfeited and why. The run can be active, stopped or
    finished. With --watch, press Ctrl-C to stop.
    """
    if json_file is not None:
        check_output("--json", json_file)
    reader = StatusReader(directory)
    current = reader.read()
    if watch is not None:
        in_place = out.screen() if out.is_terminal else nullcontext()
        with suppress(KeyboardInterrupt), in_place as screen:
            while current.state is RunState.RUNNING:
                standings = _standings(reader, current, without_forfeits=without_forfeits)
                with out.capture() as captured:
                    _show_status(directory, current, standings, cross=cross, rows=_ROWS_WATCHED)
                if screen is None:
                    print(captured.get(), flush=True)
                else:
                    out.control(Control.home())
                    screen.update(Text.from_ansi(captured.get()))
                time.sleep(watch)
                current = reader.read()
    standings = _standings(reader, current, without_forfeits=without_forfeits)
    _show_status(directory, current, standings, cross=cross)
    if json_file is not None:
        write_output(json_file, json_bytes(standings or _compute(reader, current)))


def _standings(
    reader: StatusReader, status: RunStatus, *, without_forfeits: bool
) -> Standings | None:
    """Return the standings so far; None if no match is over yet."""
    if not reader.log.results:
        return None
    if not without_forfeits:
        return _compute(reader, status)
    info = status.info.model_copy(update={"title": f"{status.info.title}, without forfeits"})
    return run_standings(info, exclude_forfeits(reader.log.results))


def _compute(reader: StatusReader, status: RunStatus) -> Standings:
    return run_standings(status.info, reader.log.results)


def _show_status(
    directory: Path,
    status: RunStatus,
    standings: Standings | None,
    *,
    cross: bool = False,
    rows: int | None = None,
) -> None:
    """Print the status and standings of a run; before the first match, there are no standings.

    `cross` adds the cross table. Tables of forfeits have at most `rows` rows.
    """
    _show_progress(directory, status)
    out.print()
    if standings is None:
        out.print("No match is over yet.")
    else:
        running = status.state is RunState.RUNNING
        left = status.left + status.void
        show_standings(standings, forfeits=False, running=running, left=left)
        if cross:
            out.print()
            show_cross_table(standings)
    if status.failing:
        out.print()
        _show_forfeits(status.failing, rows or len(status.failing))
    if status.remote is not None and status.remote.entries and status.left:
        out.print()
        _show_remote(status.remote)
    if status.info.left_out:
        out.print()
        out.print(left_out_text(status.info.left_out))
    _show_excluded("Out of the run", status.info.out)
    _show_build_output(status.info.build_output)
    _show_excluded("Suspended", status.info.suspended)


def _show_progress(directory: Path, status: RunStatus) -> None:
    state = status.state.value
    if status.state is RunState.RUNNING and status.process:
        state += f" (process {status.process})"
    out.print(plain(f"{status.info.title}: {state}", longest=None), style="bold")
    resumable = status.state not in {RunState.RUNNING, RunState.FINISHED}
    if resumable and (directory / TOURNAMENT).is_file():
        doing = "start playing" if status.state is RunState.PREPARED else "continue"
        file = _tournament_file(directory)
        words = ["asara", "tournament", "run", file, "--out", str(directory), "--resume"]
        out.print(f"To {doing}: {shlex.join(words)}", soft_wrap=True)
    out.print(_match_counts(status))
    if out.is_terminal and status.info.scheduled:
        out.print(ProgressBar(status.info.scheduled, status.over, width=min(out.width, 60)))
        out.line()
    looks = [look for look in status.info.looks if look > status.over]
    if looks and status.left:
        next_look = count(looks[0], "match")
        out.print(f"Ends early if the ranks are settled; next check after {next_look}.")
    if status.state in {RunState.STOPPED, RunState.KILLED}:
        out.print("Matches that had not ended when the run stopped have no replay.")
    if status.state is not RunState.PREPARED:
        out.print(_times(status))
    if status.building or status.to_build:
        text = building_text(status.building, status.to_build)
        out.print(f"{text[0].upper()}{text[1:]}.")
    elif status.state is RunState.RUNNING and status.idle_s is not None:
        out.print(f"The last match ended {duration(status.idle_s, whole_s=True)} ago.")
    if status.info.costs is not None and (line := status.info.costs.sentence):
        out.print(line)


def _tournament_file(directory: Path) -> str:
    """Return the file with which a run can be resumed, if it is here or close above the run."""
    copy = directory / TOURNAMENT
    with suppress(OSError):
        kept = read_bounded(copy, LARGEST_FILE)
        for file in chain.from_iterable(
            sorted(folder.glob("*.toml")) for folder in (Path(), *directory.parents[:2])
        ):
            with suppress(OSError):
                if read_bounded(file, LARGEST_FILE) == kept and not file.samefile(copy):
                    return str(file)
    return "FILE.toml"


def _match_counts(status: RunStatus) -> str:
    scheduled = status.info.scheduled
    text = count(status.over, "match")
    if scheduled:
        text = f"{status.over:,} of {count(scheduled, 'match')} ({status.over / scheduled:.0%})"
    if status.blocks != status.over - status.void:
        text += f" in {count(status.blocks, 'block')}"
    if status.void:
        text += f", {status.void:,} without a result"
    return text


def _times(status: RunStatus) -> str:
    elapsed = duration(status.elapsed_s, whole_s=True)
    running = status.state is RunState.RUNNING
    text = f"Started {elapsed} ago" if running else f"Duration: {elapsed}"
    if status.info.resumed:  # the pace counts the last session only
        session = duration(status.pace.seconds, whole_s=True)
        text = f"Resumed {session} ago, started {elapsed} ago"
        if not running:
            text = f"Ended {session} after it was resumed, {elapsed} after it was started"
    if status.pace.matches:
        text += f", {status.pace.per_minute:.1f} matches per minute"
    left_s = status.pace.left_s(status.left)
    stalled_s = status.info.stalled_s or 0.0
    if stalled_s >= _NOTED_STALL_S and not running:
        text += f"; the referee stood still for {duration(stalled_s)}"
    if running and status.left and left_s is not None:
        text += f", about {duration(left_s, whole_s=True)} left"
    return text


def _show_forfeits(failing: Sequence[FailingEntry], limit: int) -> None:
    show_table(
        "Forfeits",
        ("entry", ">forfeits", ">matches", "kinds"),
        (
            (
                one.entry,
                f"{one.forfeits:,}",
                f"{one.matches:,}",
                ", ".join(f"{plain_words(kind.name)} {n:,}" for kind, n in one.kinds.most_common()),
            )
            for one in failing[:limit]
        ),
    )
    if (omitted := len(failing) - limit) > 0:
        out.print(f"… and {count(omitted, 'more entry')}")
    out.print()
    show_table(
        "Latest forfeits",
        ("entry", "match", "why"),
        (
            (
                one.entry,
                one.latest.result.played_as,
                plain(one.latest.seat.explanation, _REASON_CHARACTERS),
            )
            for one in failing[:limit]
        ),
    )


def _show_remote(remote: RemoteInfo) -> None:
    states = {
        "here": "connected",
        "awaited": f"not connected; waiting up to {duration(remote.wait_s, whole_s=True)}",
        "missed": "not connected; forfeits its matches until it connects",
    }
    show_table(
        f"Bots that connect at {remote.address}",
        ("entry", "bot", "since (UTC)"),
        (
            (name, states[entry.state], entry.since[:19].replace("T", " "))
            for name, entry in remote.entries.items()
        ),
    )


def _show_excluded(title: str, reasons: Mapping[str, str]) -> None:
    if reasons:
        out.print()
        show_table(
            title,
            ("entry", "why"),
            ((name, plain(why, _REASON_CHARACTERS)) for name, why in reasons.items()),
        )


def _show_build_output(printed: Mapping[str, Sequence[str]]) -> None:
    """Print the last lines of failed builds."""
    for entry, lines in printed.items():
        if lines:
            out.print()
            out.print(f"Last lines printed by the build of {plain(entry)}", style="bold")
            show_quoted(lines)
