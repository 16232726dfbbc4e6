"""`asara replay`: look at finished matches."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from asara_server.cli.display.console import out, show_table
from asara_server.cli.errors import UserError

if TYPE_CHECKING:
    from asara_server.replay.file import ReplayFile
    from asara_server.replay.time_ledger import Cost

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

File = Annotated[Path, typer.Argument(metavar="FILE", help="A replay, such as r1-….asara.")]

_LARGEST = 5
"""Decisions that `clock` lists."""


def _read(path: Path) -> "ReplayFile":
    from asara_server.eventlog.replay import ReplayError
    from asara_server.replay.file import read_signed

    try:
        return read_signed(path)
    except ReplayError as error:
        raise UserError(str(error), status=1) from None


@app.command()
def show(
    file: File,
    seat: Annotated[
        int | None,
        typer.Option(metavar="N", help="Only what this seat could know. [default: everything]"),
    ] = None,
) -> None:
    """Tell a match turn by turn, as the referee or as one seat saw it."""
    from asara_server.eventlog.replay import ReplayError
    from asara_server.replay.narrate import narrate

    replay = _read(file).replay
    try:
        for line in narrate(replay, seat):
            out.print(line, markup=False, soft_wrap=True)
    except ReplayError as error:
        raise UserError(f"{file}: {error}", status=1) from None


@app.command()
def export(
    file: File,
    json: Annotated[bool, typer.Option("--json", help="In the JSON form of proto3.")] = False,
) -> None:
    """Write everything that a replay holds, as the message asara.v1.Replay."""
    if not json:
        raise UserError("name the form to export in: --json")
    from google.protobuf.json_format import MessageToJson

    from asara.v1.replay_pb2 import Replay, ReplayRecord

    records = [ReplayRecord.FromString(raw.data) for raw in _read(file).raw]
    print(MessageToJson(Replay(records=records), ensure_ascii=False))


@app.command()
def diff(
    a: Annotated[Path, typer.Argument(metavar="A", help="A replay.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Another one.")],
) -> None:
    """Show where two matches part: set-up, first other record, results. Times do not count.

    The exit status is 0 where they nowhere do, else 1.
    """
    from asara_server.replay.diff import diff_replays

    parted = False
    for line in diff_replays(_read(a).replay, _read(b).replay):
        parted = True
        out.print(line, markup=False, soft_wrap=True)
    if not parted:
        out.print("the same set-up, the same moves, the same result")
    raise typer.Exit(1 if parted else 0)


@app.command()
def clock(file: File) -> None:
    """Show where the time of a match went: by seat, the longest decisions, and forfeits."""
    from asara_server.eventlog.replay import ReplayError
    from asara_server.replay.time_ledger import ledger

    replay = _read(file).replay
    try:
        book = ledger(replay)
    except ReplayError as error:
        raise UserError(f"{file}: {error}", status=1) from None
    entries = replay.header.entries
    rows = []
    for seat, entry in enumerate(entries):
        costs = book.of(seat)
        bot = [cost.bot_us for cost in costs]
        referee = [cost.referee_us for cost in costs]
        mean = sum(bot) / max(len(bot), 1)
        cells = (sum(bot), mean, max(bot, default=0), sum(referee), max(referee, default=0))
        rows.append((str(seat), entry, str(len(costs)), *map(_ms, cells)))
    show_table(
        f"{replay.header.match_id}, milliseconds",
        (">seat", "entry", ">replies", ">bot", ">mean", ">longest", ">referee", ">longest"),
        rows,
    )
    out.print()
    show_table(
        "The longest decisions",
        (">record", ">seat", ">decision", ">bot", ">referee", "answer"),
        map(_cost_row, book.largest(_LARGEST)),
    )
    for forfeit in book.forfeits:
        out.print(
            f"\nseat {forfeit.seat} ({entries[forfeit.seat]}) forfeited after "
            f"{_ms(forfeit.time_us)} ms (record {forfeit.record}), "
            f"{forfeit.termination.name.lower().replace('_', ' ')}: {forfeit.detail}",
            markup=False,
            soft_wrap=True,
        )


def _cost_row(cost: "Cost") -> tuple[str, ...]:
    times = _ms(cost.bot_us), _ms(cost.referee_us)
    return str(cost.record), str(cost.seat), str(cost.decision_id), *times, cost.actions


def _ms(microseconds: float) -> str:
    return f"{microseconds / 1000:,.2f}"
