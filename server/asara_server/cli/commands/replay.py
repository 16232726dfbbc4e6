"""`asara replay`: inspect replays of finished matches."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message

from asara.v1.replay_pb2 import Replay, ReplayRecord
from asara_server.cli.display.console import out, show_table
from asara_server.cli.display.help_page import PlainCommand
from asara_server.cli.options.common import ReadableOption, SandboxChoice, SandboxOption
from asara_server.journal.describe import diff_replays
from asara_server.journal.replay import ReplayError
from asara_server.replay.file import read_signed
from asara_server.replay.match_page import PageLanguage
from asara_server.replay.narrate import narrate
from asara_server.replay.questions import question
from asara_server.replay.time_ledger import Cost, Forfeit, Ledger, ledger
from asara_server.text import plain_words, reason_text, seats_text
from asara_server.tournament.config.fields import MOST_SECONDS
from asara_server.user_error import UserError

app = typer.Typer(
    help="Inspect the replays of finished matches.\n\n"
    "A run keeps a replay of every match in its `replays` folder.",
    no_args_is_help=True,
    epilog="Guide: asara help --guide replay",
)

_LONGEST_DECISIONS = 5
"""Maximum number of decisions that `clock` lists."""

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="A replay: a file in a run's `replays` folder.")
]
SeatOption = Annotated[
    int | None,
    typer.Option(
        "--seat",
        metavar="SEAT",
        help="Show only what this seat knew.",
        show_default="everything",
    ),
]
NumberArgument = Annotated[
    int,
    typer.Argument(
        metavar="DECISION", min=1, help="Number of the decision, counted from 1 for each seat."
    ),
]
DecisionSeatOption = Annotated[
    int | None,
    typer.Option(
        "--seat",
        metavar="SEAT",
        min=0,
        help="Seat that had to decide. [required]",
        show_default=False,
    ),
]
AArgument = Annotated[Path, typer.Argument(metavar="A", help="A replay.")]
BArgument = Annotated[Path, typer.Argument(metavar="B", help="The replay to compare it with.")]


@app.command(cls=PlainCommand)
def show(file: FileArgument, seat: SeatOption = None) -> None:
    """Print a match turn by turn, as the referee or one seat saw it.

    Each turn ends with its decision numbers, which you can pass to `replay decision` and
    `replay ask`.
    """
    replay = read_signed(file).replay
    try:
        for line in narrate(replay, seat, width=out.width):
            out.print(line, soft_wrap=True)
    except ReplayError as error:
        raise UserError(f"{file}: {error}") from None


@app.command(cls=PlainCommand)
def decision(file: FileArgument, number: NumberArgument, seat: DecisionSeatOption = None) -> None:
    """Print a decision (what a bot was asked) as JSON.

    The output is an `asara.v1.Decision` message, as it was sent to the bot. It contains neither the
    bot's reply nor anything that is hidden from the seat.
    """
    replay = read_signed(file).replay
    if seat is None:
        seats = seats_text(replay.header.entries)
        raise UserError(f"--seat is missing; choose from {seats}")
    try:
        found = question(replay, seat, number)
    except ReplayError as error:
        raise UserError(f"{file}: {error}") from None
    print(_json(found.decision))


@app.command(cls=PlainCommand)
@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Ask a bot to decide again, and compare with the recorded reply.

    Prints the bot's reply next to the recorded one. The bot receives every message that the seat
    received, including all earlier decisions. Its replies to earlier decisions do not change the
    match. If FILE is still in the folder of its run, the bot gets the same ASARA_SEED as in the
    match.
    """

    session: ClassVar = "ask:ask_again"

    file: FileArgument
    number: NumberArgument
    bot: Annotated[
        str, typer.Argument(metavar="BOT", help="The bot to ask, named as for `asara match`.")
    ]
    seat: Annotated[
        int | None,
        typer.Option(
            "--seat",
            metavar="SEAT",
            min=0,
            help="Seat that had to decide.",
            show_default="the seat with the bot's name",
        ),
    ] = None
    limit: Annotated[
        float | None,
        typer.Option(
            "--limit",
            metavar="SECONDS",
            min=0.001,
            max=MOST_SECONDS,
            help="Seconds for each reply, shown to the bot as the time left on its clock.",
            show_default="the time the seat had left",
        ),
    ] = None
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP
    readable: ReadableOption = None


@app.command(cls=PlainCommand)
def export(file: FileArgument) -> None:
    """Print everything in a replay as JSON.

    The output is an `asara.v1.Replay` message.
    """
    records = map(ReplayRecord.FromString, read_signed(file).records)
    print(_json(Replay(records=records)))


@app.command(cls=PlainCommand)
@dataclass(frozen=True, slots=True, kw_only=True)
class Prove:
    """Write a proof that a replay belongs to its run.

    With the proof, `asara audit --inclusion` needs no other files from the run.
    """

    session: ClassVar = "audit:write_proof"

    file: FileArgument
    out_file: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="PROOF", help="File to write, such as FILE.proof."),
    ]


@app.command(cls=PlainCommand)
@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Write a match as an HTML page that works offline.

    The page contains the whole match and its signed replay or, with --seat, only what that seat
    could see.
    """

    session: ClassVar = "exports:write_page"

    file: FileArgument
    out_file: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE.html", help="File to write, such as match.html."),
    ]
    seat: Annotated[
        int | None,
        typer.Option(
            "--seat",
            metavar="SEAT",
            help="Include only what this seat could see.",
            show_default="everything",
        ),
    ] = None
    language: Annotated[
        PageLanguage | None,
        typer.Option("--language", help="Language of the page.", show_default="the browser's"),
    ] = None
    bot_output: Annotated[
        bool,
        typer.Option(
            "--bot-output",
            help="Include what the bots printed; FILE must be in the folder of its run.",
        ),
    ] = False


@app.command(cls=PlainCommand)
def diff(a: AArgument, b: BArgument) -> None:
    """Show how two matches differ.

    Prints every difference in set-up and results, and the first record (such as a reply) that
    differs. Times are ignored. The exit status is 0 if there is no difference, and 1 otherwise.
    """
    differences = list(diff_replays(read_signed(a).replay, read_signed(b).replay))
    for one in differences:
        out.print(f"{one.what}\n  A: {one.a}\n  B: {one.b}", soft_wrap=True)
    if not differences:
        out.print("No differences: the set-up, the actions and the results are the same.")
    raise typer.Exit(1 if differences else 0)


@app.command(cls=PlainCommand)
def clock(file: FileArgument) -> None:
    """Show how the time in a match was spent.

    Lists the time used by each seat, the longest decisions, and forfeits. For a timeout, it
    also shows when the late reply arrived, if it did.
    """
    replay = read_signed(file).replay
    entries = replay.header.entries
    try:
        times = ledger(replay)
    except ReplayError as error:
        raise UserError(f"{file}: {error}") from None
    show_table(
        f"Match {replay.header.match_id}: time used by bots and by the referee, in milliseconds",
        (
            *(">seat", "entry", ">replies", ">bot total", ">bot mean", ">bot max"),
            *(">referee total", ">referee max"),
        ),
        ((str(seat), entry, *_seat_cells(times, seat)) for seat, entry in enumerate(entries)),
    )
    out.print()
    show_table(
        "Longest decisions",
        (">record", ">seat", ">decision", ">bot", ">referee", "reply"),
        map(_decision_row, times.largest(_LONGEST_DECISIONS)),
    )
    for forfeit in times.forfeits.values():
        seat, reason, detail = forfeit.fault
        out.print(
            f"\nSeat {seat} ({entries[seat]}) forfeited after {_ms(forfeit.time_us)} ms (record "
            f"{forfeit.number}): {plain_words(reason.name)}: {reason_text(detail)}",
            markup=False,
            soft_wrap=True,
        )
        _print_time_out(forfeit, replay.header.clocks.grace_us)
    if any(forfeit.expired_us is not None for forfeit in times.forfeits.values()):
        started = datetime.fromtimestamp(replay.header.started_unix_ms / 1000, UTC)
        out.print(
            f"\nTimes are measured from the start of the match, {started:%Y-%m-%d %H:%M:%S} UTC, "
            "on the referee's clock, which stops while the referee does not run.",
            markup=False,
            soft_wrap=True,
        )


def _json(message: Message) -> str:
    """Return a message in the JSON of `asara bridge`: with all fields, named as in the protocol."""
    return MessageToJson(
        message,
        preserving_proto_field_name=True,
        always_print_fields_with_no_presence=True,
    )


def _print_time_out(time_out: Forfeit, grace_us: int) -> None:
    """Print what happened, moment by moment, to a decision that was not answered in time."""
    asked, expired_us = time_out.asked, time_out.expired_us
    if asked is None or expired_us is None:
        return
    lines = [
        (asked.time_us, f"decision {asked.decision_id} was requested"),
        (expired_us, f"its time ran out, including {_ms(grace_us)} ms of grace"),
    ]
    if time_out.late_reply is not None:
        number, late = time_out.late_reply
        if late.unread_bytes is not None:
            held = f"{late.unread_bytes:,}" if late.unread_bytes else "no"
            lines.append((time_out.time_us, f"its socket held {held} unread bytes"))
        if late.socket_us is not None:
            lines.append((late.socket_us, "the last bytes from it arrived at the socket"))
        after, answer = _ms(late.time_us - expired_us), time_out.answer(late)
        text = f"its reply was received {after} ms late (record {number}): {answer}"
        lines.append((late.time_us, text))
    width = max(len(_ms(time_us)) for time_us, _ in lines)
    for time_us, text in lines:
        out.print(f"  {_ms(time_us):>{width}} ms  {text}", soft_wrap=True)
    if time_out.late_reply is None:
        out.print(f"  {'':{width}}     no reply was received before the match ended")


def _seat_cells(times: Ledger, seat: int) -> tuple[str, ...]:
    replies = times.of(seat)
    bot = [reply.bot_us for reply in replies]
    referee = [reply.referee_us for reply in replies]
    mean = sum(bot) / max(len(bot), 1)
    durations = (sum(bot), mean, max(bot, default=0), sum(referee), max(referee, default=0))
    return (str(len(replies)), *map(_ms, durations))


def _decision_row(cost: Cost) -> tuple[str, ...]:
    number, decision_id, reply = cost
    numbers = map(str, (number, reply.seat, decision_id))
    actions = ", ".join(map(str, reply.actions))
    return *numbers, _ms(reply.bot_us), _ms(reply.referee_us), actions


def _ms(microseconds: float) -> str:
    return f"{microseconds / 1000:,.2f}"
