"""`asara status`: how a run goes, while it goes on or afterwards."""

import select
import signal
import socket
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.control import Control
from rich.progress_bar import ProgressBar
from rich.text import Text

from asara_server.cli.display.console import (
    count,
    duration,
    ladder_table,
    out,
    show_standings,
    show_table,
)
from asara_server.cli.errors import UserError
from asara_server.text import plain, plain_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from asara_server.tournament.run.directory import RemoteInfo
    from asara_server.tournament.run.status import FailingEntry, RunStatus, StatusReader

_LONGEST_REASON = 240
"""Characters; bots fill them with what they printed last."""


def status(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where the run is kept.")],
    standings: Annotated[
        bool, typer.Option("--standings", help="Show the standings so far, not the ladder.")
    ] = False,
    top: Annotated[
        int, typer.Option(metavar="N", min=0, help="Lines of the ladder and of faults; 0: all.")
    ] = 10,
    watch: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", min=0.5, help="Show it again and again, until the run is over."
        ),
    ] = None,
) -> None:
    """Show how a run goes: how far it is, how long it takes, who leads, who fails.

    It only reads what the run leaves in DIR, and may be called at any time. Ctrl-C ends --watch.
    """
    from asara_server.tournament.run.status import RunState, StatusReader

    follower = StatusReader(directory)
    look = _look(follower)
    if watch is not None:
        in_place = out.screen() if out.is_terminal else nullcontext()
        with _ctrl_c() as pressed_within, in_place as screen:
            while look.state is RunState.RUNNING:
                with out.capture() as captured:
                    _show(look, follower, top, standings=standings)
                if screen is None:
                    print(captured.get(), flush=True)
                else:
                    out.control(Control.home())
                    screen.update(Text.from_ansi(captured.get()))
                if pressed_within(watch):
                    break
                look = _look(follower)
    _show(look, follower, top, standings=standings)


@contextmanager
def _ctrl_c() -> "Iterator[Callable[[float], bool]]":
    """Yields what waits so many seconds, or until Ctrl-C was pressed; it says whether it was.

    No other place is interrupted, where half a screen might be written. The second time, Ctrl-C
    does what it always does.
    """
    before = signal.getsignal(signal.SIGINT)
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    signal.set_wakeup_fd(theirs.fileno())
    signal.signal(signal.SIGINT, lambda number, _: signal.signal(number, before))
    try:
        yield lambda seconds: bool(select.select([ours], [], [], seconds)[0])
    finally:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, before)
        ours.close()
        theirs.close()


def _look(follower: "StatusReader") -> "RunStatus":
    """The status, with errors for the user."""
    from asara_server.tournament.run.directory import RunDirectoryError
    from asara_server.tournament.standings.match_result import ResultsError

    directory = follower.directory
    try:
        if not (directory / "run.json").is_file():
            raise UserError(f"{directory}: holds no run; name a directory that --out named")
        return follower.read()
    except (RunDirectoryError, ResultsError) as error:
        raise UserError(plain(str(error), longest=None), status=1) from None
    except OSError as error:
        where = error.filename or directory
        raise UserError(f"{where}: {error.strerror or error}", status=1) from None


def _show(look: "RunStatus", follower: "StatusReader", top: int, *, standings: bool) -> None:
    lines = top or len(look.info.entries) or len(follower.ladder.rows)
    _show_progress(look)
    out.print()
    if standings:
        from asara_server.tournament.standings.standings import compute_standings

        info = look.info
        scheduled = info.scheduled or look.over
        show_standings(compute_standings(info.title, info.entries, scheduled, follower.results))
    elif ladder := follower.ladder.rows:
        out.print("Ladder", style="bold")
        out.print(ladder_table(ladder, lines))
        _say_more(len(ladder) - lines, "entry")
    else:
        out.print("No match is over yet.")
    if look.failing:
        out.print()
        _show_failing(look.failing, lines)
    if look.remote is not None and look.remote.entries:
        out.print()
        _show_remote(look.remote)
    _show_left_out("Out", look.out)
    _show_left_out("Suspended", look.suspended)


def _show_progress(look: "RunStatus") -> None:
    from asara_server.tournament.run.status import RunState

    words = look.state.value
    if look.state is RunState.RUNNING and look.process:
        words += f" (process {look.process})"
    elif look.state in {RunState.STOPPED, RunState.KILLED}:
        words += "; --resume goes on with it"
    out.print(plain(f"{look.info.title}: {words}", longest=None), style="bold", markup=False)
    out.print(_played(look))
    if out.is_terminal and look.info.scheduled:
        out.print(ProgressBar(look.info.scheduled, look.over, width=min(out.width, 60)))
        out.line()
    out.print(_times(look))
    if look.state is RunState.RUNNING and look.idle_s is not None:
        out.print(f"The last match ended {duration(look.idle_s, whole_s=True)} ago.")


def _played(look: "RunStatus") -> str:
    scheduled = look.info.scheduled
    text = count(look.over, "match")
    if scheduled:
        text = f"{look.over:,} of {count(scheduled, 'match')} ({look.over / scheduled:.0%})"
    if look.blocks != look.over - look.void:
        text += f" in {count(look.blocks, 'deal block')}"
    if look.void:
        text += f", {look.void:,} without a result"
    return text


def _times(look: "RunStatus") -> str:
    from asara_server.tournament.run.status import RunState

    elapsed = duration(look.elapsed_s, whole_s=True)
    text = f"Started {elapsed} ago" if look.state is RunState.RUNNING else f"Took {elapsed}"
    if look.pace.matches:
        text += f", {look.pace.per_minute:.1f} matches a minute"
    left_s = look.pace.left_s(look.left)
    if look.state is RunState.RUNNING and look.left and left_s is not None:
        text += f", about {duration(left_s, whole_s=True)} left"
    return text


def _show_failing(failing: "Sequence[FailingEntry]", lines: int) -> None:
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
            for one in failing[:lines]
        ),
    )
    _say_more(len(failing) - lines, "entry")
    out.print()
    show_table(
        "Latest forfeit of each",
        ("entry", "match", "why"),
        ((one.entry, one.latest.played_as, _cut(one.why)) for one in failing[:lines]),
    )


def _show_remote(remote: "RemoteInfo") -> None:
    words = {
        "here": "is here",
        "awaited": f"is waited for, {duration(remote.wait_s, whole_s=True)} at most",
        "missed": "is not waited for any more; its matches are forfeited until it dials in",
    }
    show_table(
        f"On other machines, by {remote.address}",
        ("entry", "bot", "since (UTC)"),
        (
            (name, words[entry.state], entry.since[:19].replace("T", " "))
            for name, entry in remote.entries.items()
        ),
    )


def _show_left_out(title: str, entries: "Mapping[str, str]") -> None:
    if entries:
        out.print()
        show_table(title, ("entry", "why"), ((name, _cut(why)) for name, why in entries.items()))


def _say_more(number: int, what: str) -> None:
    if number > 0:
        out.print(f"… and {count(number, what)} more")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"
