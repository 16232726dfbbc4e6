"""Shows the status of a run on the terminal."""

from collections.abc import Mapping, Sequence

from rich.progress_bar import ProgressBar

from asara_server.cli.display.console import out, show_table
from asara_server.cli.display.progress import building_text
from asara_server.cli.display.quantities import duration
from asara_server.cli.display.results import left_out_text, show_cross_table, show_standings
from asara_server.text import count, plain, plain_words
from asara_server.tournament.run.directory import RemoteInfo
from asara_server.tournament.run.status import FailingEntry, RunState, RunStatus
from asara_server.tournament.standings.model import Standings

_REASON_CHARACTERS = 240
"""Maximum length of a reason that is shown in full, because it may quote a bot's output."""


_NOTED_STALL_S = 1.0
"""Shortest stall of the referee that is shown, in seconds."""


def show_status(
    status: RunStatus, standings: Standings | None, *, cross: bool = False, rows: int | None = None
) -> None:
    """Print the status and standings of a run; before the first match, there are no standings.

    `cross` adds the cross table. Tables of forfeits have at most `rows` rows.
    """
    _show_progress(status)
    out.print()
    if standings is None:
        out.print("No match is over yet.")
    else:
        show_standings(standings, forfeits=False, running=status.state is RunState.RUNNING)
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


def _show_progress(status: RunStatus) -> None:
    state = status.state.value
    if status.state is RunState.RUNNING and status.process:
        state += f" (process {status.process})"
    elif status.state is RunState.PREPARED:
        state += "; to start playing, use --resume"
    elif status.state in {RunState.STOPPED, RunState.KILLED}:
        state += "; to continue, use --resume"
    out.print(plain(f"{status.info.title}: {state}", longest=None), style="bold")
    out.print(_match_counts(status))
    if out.is_terminal and status.info.scheduled:
        out.print(ProgressBar(status.info.scheduled, status.over, width=min(out.width, 60)))
        out.line()
    looks = [look for look in status.info.looks if look > status.over]
    if looks and status.left:
        next_look = count(looks[0], "match")
        out.print(f"Ends early if the ranks are settled; next check after {next_look}.")
    if status.state is not RunState.PREPARED:
        out.print(_times(status))
    if status.building or status.to_build:
        text = building_text(status.building, status.to_build)
        out.print(f"{text[0].upper()}{text[1:]}.")
    elif status.state is RunState.RUNNING and status.idle_s is not None:
        out.print(f"The last match ended {duration(status.idle_s, whole_s=True)} ago.")
    if status.info.costs is not None and (line := status.info.costs.sentence):
        out.print(line)


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
            text = f"Duration: {session} after it was resumed, {elapsed} in all"
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
    _show_omitted(len(failing) - limit)
    out.print()
    show_table(
        "Latest forfeits",
        ("entry", "match", "why"),
        (
            (one.entry, one.latest.played_as, plain(one.why, _REASON_CHARACTERS))
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
        f"Bots on other machines, which connect at {remote.address}",
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
            for line in lines:
                out.print(f"  {plain(line)}")


def _show_omitted(number: int) -> None:
    if number > 0:
        out.print(f"… and {count(number, 'more entry')}")
