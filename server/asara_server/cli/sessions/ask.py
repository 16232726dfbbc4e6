"""Asks a bot to decide again in a finished match, for `asara replay ask`."""

import asyncio
import tempfile
from contextlib import AsyncExitStack, closing
from pathlib import Path

from asara.v1.play_pb2 import DecisionKind
from asara_server.cli.commands.replay import Ask
from asara_server.cli.display.console import err, notify, out, show_table
from asara_server.cli.display.faults import warn_of_views
from asara_server.cli.options.bots import find_bots
from asara_server.cli.options.common import LONG_START_UP_S
from asara_server.cli.options.log import LogOptions
from asara_server.cli.options.output_file import run_of
from asara_server.cli.sessions.bot_build import built_bots
from asara_server.cli.sessions.setup import log_to_terminal, sandbox_of_bots
from asara_server.event_loop import run
from asara_server.journal.replay import Replay, ReplayError
from asara_server.match.deal_secrets import bot_seed
from asara_server.match.inputs import RejectionRecord, ReplyRecord
from asara_server.network.addresses import LOCAL_TRANSPORT, ServeError
from asara_server.replay.file import read_signed
from asara_server.replay.questions import question
from asara_server.replay.signing import default_key_path
from asara_server.text import plain, plain_words, reason_text, seats_text
from asara_server.tournament.bots.bot_addresses import BotAddresses
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.config.tournament_file import Entry, Limits, MatchSettings
from asara_server.tournament.execution.asking_referee import (
    AskedAnswer,
    AskedBotError,
    AskingReferee,
)
from asara_server.tournament.run.directory import RunError
from asara_server.tournament.run.read_run import read_run
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.user_error import UserError

_NOTICE_S = 3.0
"""Seconds of waiting after which a notice explains what for."""
_MOST_OUTPUT = 200
"""Maximum lines of the bot's output that are shown; the last lines are kept."""

_NO_SEED = (
    "The bot's random choices may differ, because the ASARA_SEED of the match is unknown. A replay "
    "that is still in its run has the seed."
)
_MOST_LISTED = 10
"""Maximum number of earlier decisions that are listed."""


def ask_again(options: Ask, log: LogOptions) -> int:
    """Ask the bot, and print its answer next to the recorded one; return the exit status."""
    log_to_terminal(log)
    replay = read_signed(options.file).replay
    [bot] = find_bots([options.bot], options.readable)
    seat = _seat(replay, bot) if options.seat is None else options.seat
    try:
        asked = question(replay, seat, options.number)
    except ReplayError as error:
        raise UserError(f"{options.file}: {error}") from None
    hidden = [options.file, default_key_path()]
    seed = None
    if (run_directory := run_of(options.file.resolve())) is not None:
        hidden.append(run_directory)
        seed = _recorded_seed(run_directory, replay, seat)
    sandbox = sandbox_of_bots(options.sandbox, [bot.directory], secret=hidden)
    [entry] = built_bots([bot], sandbox)
    if sandbox is not None:
        warn_of_views([entry], Limits(), sandbox.reserved)
    with tempfile.TemporaryDirectory(prefix="asara-logs-") as folder:
        logs = Path(folder)
        try:
            answer = run(_ask(replay, seat, entry, options, sandbox, logs, seed))
        except AskedBotError as error:
            _show_output(bot, logs)
            raise UserError(f"{bot.name} {error}", status=1) from None
        except (ReplayError, ServeError) as error:
            raise UserError(f"{options.file}: {error}", status=1) from None
        if isinstance(answer.record, RejectionRecord):
            _show_output(bot, logs)
    kind = DecisionKind.Name(asked.decision.kind).removeprefix("DECISION_KIND_")
    header = replay.header
    show_table(
        f"Match {header.match_id}, seat {seat} ({header.entries[seat]}), decision "
        f"{options.number} (kind: {plain_words(kind)})",
        ("bot", "reply", ">seconds"),
        [_recorded_row(replay, seat, answer), _answer_row(bot, answer)],
    )
    status = _show_verdict(bot, answer, options.number)
    if seed is None and _otherwise(answer):
        out.print(_NO_SEED)
    return status


def _seat(replay: Replay, bot: Entry) -> int:
    """Return the seat of the entry with the bot's name."""
    entries = replay.header.entries
    named = [seat for seat, entry in enumerate(entries) if entry == bot.name]
    if len(named) == 1:
        return named[0]
    seats = seats_text(entries)
    raise UserError(f"--seat: choose the seat to ask for {bot.name!r}: {seats}")


def _recorded_seed(run_directory: Path, replay: Replay, seat: int) -> int | None:
    """Return the ASARA_SEED that the seat's bot had in its run; None if the bot chose a seed."""
    if replay.header.nonces:  # a joint deal: see Runner
        return None
    try:
        return bot_seed(read_run(run_directory).info.seed, replay.header.entries[seat])
    except RunError:
        return None


async def _ask(
    replay: Replay,
    seat: int,
    entry: Entry,
    options: Ask,
    sandbox: Sandbox | None,
    logs: Path,
    seed: int | None,
) -> AskedAnswer:
    referee = AskingReferee(
        replay, seat, options.number, start_up_s=LONG_START_UP_S, limit_s=options.limit
    )
    async with AsyncExitStack() as stack:
        addresses = stack.enter_context(closing(BotAddresses(referee, LOCAL_TRANSPORT)))
        pool = BotPool(
            referee,
            addresses,
            MatchSettings(
                entries=(entry,),
                processes={entry.name: "match"},
                bot_seeds={} if seed is None else {entry.name: seed},
            ),
            logs=logs,
            sandbox=sandbox.with_hidden(logs) if sandbox else None,
        )
        stack.push_async_callback(pool.close)
        process = await pool.acquire(entry.name, "asked", seat)
        await asyncio.wait([referee.answer], timeout=_NOTICE_S)
        if not referee.answer.done():
            waiting_for = f"make decision {referee.open_decision}"
            notify(
                f"Waiting for {entry.name} to {waiting_for if referee.open_decision else 'start'}"
            )
        try:
            return await referee.answer
        except AskedBotError as error:
            remedy = f"; {process.remedy}" if process.remedy else ""
            raise AskedBotError(f"{error}{remedy}") from None


def _show_output(bot: Entry, logs: Path) -> None:
    """Print the bot's output, without the notes in its log."""
    lines = []
    for log in logs.rglob("*.log"):
        text = log.read_text(encoding="utf-8", errors="replace")
        lines += [line for line in text.splitlines() if not line.startswith("# ")]
    if lines:
        notify(f"{bot.name} printed:")
        for line in lines[-_MOST_OUTPUT:]:
            err.print(f"  {plain(line, longest=None)}", soft_wrap=True)


def _recorded_row(replay: Replay, seat: int, answer: AskedAnswer) -> tuple[str, ...]:
    recorded = answer.recorded
    if recorded is not None:
        return "recorded", _action_words(recorded), f"{recorded.bot_us / 1e6:.3f}"
    detail = reason_text(replay.ends[seat].detail) or "the match ended"
    return "recorded", f"none ({detail})", ""


def _answer_row(bot: Entry, answer: AskedAnswer) -> tuple[str, ...]:
    record = answer.record
    if isinstance(record, RejectionRecord):
        words = f"rejected ({plain_words(record.reason.name)}): {record.detail}"
    else:
        words = _action_words(record)
    return bot.name, words, f"{answer.seconds:.3f}"


def _action_words(record: ReplyRecord) -> str:
    return ", ".join(map(str, record.actions))


def _otherwise(answer: AskedAnswer) -> bool:
    """Return True if an answer differs from the recorded one."""
    recorded, record = answer.recorded, answer.record
    if answer.different or isinstance(record, RejectionRecord):
        return bool(answer.different)
    return recorded is not None and record.actions != recorded.actions


def _show_verdict(bot: Entry, answer: AskedAnswer, number: int) -> int:
    """Print, in words, how the two answers compare; return the exit status."""
    record, recorded, different = answer.record, answer.recorded, answer.different
    rejected = isinstance(record, RejectionRecord)
    same = False
    if rejected:
        verdict = f"The referee would reject the reply from {bot.name}."
    elif recorded is None:
        verdict = "There is no recorded reply."
    else:
        same = record.actions == recorded.actions
        verdict = f"The replies {'are the same' if same else 'differ'}."
    if different:
        listed = ", ".join(map(str, different[:_MOST_LISTED]))
        more = ", …" if len(different) > _MOST_LISTED else ""
        share = f"{len(different)} of {number - 1}"
        verdict += f" Earlier decisions with different replies: {listed}{more} ({share})."
    elif number > 1 and same:
        verdict += " So are the replies to all earlier decisions."
    elif number > 1:
        verdict += " The replies to all earlier decisions are the same."
    out.print(verdict)
    return 1 if rejected else 0
