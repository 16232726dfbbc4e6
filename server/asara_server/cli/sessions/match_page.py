"""Writes a match as an HTML page, for `asara replay page`."""

from dataclasses import dataclass
from pathlib import Path

from asara_server.cli.display.console import notify
from asara_server.cli.errors import UserError
from asara_server.cli.options.output_file import check_output, write_output
from asara_server.eventlog.replay import Replay, ReplayError
from asara_server.replay.file import parse_file, read_file
from asara_server.replay.match_page import NoPageError, PageLanguage, match_page, read_page_files
from asara_server.replay.replay_view import OPEN, Logs, replay_view, seat_viewer
from asara_server.tournament.bots.decision_index import decision_texts


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Options of `asara replay page`."""

    seat: int | None
    language: PageLanguage | None
    bot_output: bool


def write_page(file: Path, out_file: Path, options: PageOptions) -> None:
    """Write the page; raises UserError."""
    check_output("--out", out_file, inputs=[file])
    try:
        content = _page(file, options)
    except NoPageError as error:
        raise UserError(str(error), status=1) from None
    except ReplayError as error:
        raise UserError(f"{file}: {error}") from None
    write_output(out_file, content)
    seen = "everything" if options.seat is None else f"what seat {options.seat} could see"
    notify(f"Wrote the page to {out_file}, with {seen}")


def _page(file: Path, options: PageOptions) -> bytes:
    data = read_file(file)
    signed = parse_file(data)
    signed.check_signature()
    viewer = OPEN if options.seat is None else seat_viewer(options.seat)
    seen = replay_view(
        signed.replay, viewer, _logs(file, signed.replay) if options.bot_output else None
    )
    own = data if options.seat is None else None
    return match_page(seen, read_page_files(), own, options.language)


def _logs(file: Path, replay: Replay) -> Logs:
    """Return what the bots wrote, from the run in whose `replays` folder the file lies."""
    run = file.absolute().parent.parent
    if file.absolute().parent.name != "replays" or not (run / "logs").is_dir():
        raise UserError(f"--bot-output: {file} is not in a run's `replays` folder")
    return decision_texts(run, replay.header.match_id, replay.header.entries)
