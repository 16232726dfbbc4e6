"""Plays matches between people in a browser and bots on this machine."""

import asyncio
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import webbrowser
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from rich.prompt import IntPrompt

from asara_codec.clocks import Clocks
from asara_server import system
from asara_server.cli.commands.play import LEVELS, USUAL_LEVEL, Play
from asara_server.cli.display.console import err, notify, out, shows_progress
from asara_server.cli.options.bots import find_bots
from asara_server.cli.options.common import rule_sets
from asara_server.cli.options.log import LogOptions
from asara_server.cli.sessions.analyse import print_decisive
from asara_server.cli.sessions.bot_build import built_bots
from asara_server.cli.sessions.interruption import until_signal
from asara_server.cli.sessions.serve import (
    ReplaySink,
    ServeSettings,
    TableServer,
    replay_sink,
)
from asara_server.cli.sessions.setup import log_to_terminal, sandbox_of_bots
from asara_server.cli.sessions.web import stay, web_child
from asara_server.event_loop import run
from asara_server.match.spec import SECOND_US, Player
from asara_server.network.addresses import free_address, reachable_address, socket_parent
from asara_server.replay.signing import SigningKey, default_key_path
from asara_server.text import count
from asara_server.tournament.config.seeds import draw_seed, local_seed
from asara_server.tournament.config.tournament_file import Entry
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.schedule.schedule import rotated
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.user_error import UserError

_NO_CLOCK_US: Final = 10**8 * SECOND_US
"""Microseconds of a bank that nobody can use up; the page shows no clock for it."""
_READY_S: Final = 3.0
"""Seconds within which a page disconnects after a match; it reconnects for the next match."""
_POLL_S: Final = 0.1


def play_in_browser(options: Play, log: LogOptions) -> int:
    """Play with these options; return the exit status."""
    log_to_terminal(log)
    with _folder() as folder:
        settings = _settings(options, folder)
        assert settings.replays is not None
        with (
            web_child(
                [settings.replays.folder],
                options.listen,
                play=settings.listen,
                insecure_remote=options.insecure_remote,
                option="--listen",
            ) as address,
            ExitStack() as analyses,
        ):
            table = PlayTable(settings, address, analyses, browser=options.browser)
            status = run(table.run())
            if not table.stopped and not stay(address):
                run(until_signal(table.wait_for_analysis(), _stopped_analysing))
            return status


def _stopped_analysing() -> str:
    return "stopped before the match was analysed"


@contextmanager
def _folder() -> Iterator[Path]:
    """Create a folder that only this user can enter, for the socket and for temporary replays."""
    with tempfile.TemporaryDirectory(prefix="asara-play-", dir=socket_parent()) as folder:
        yield Path(folder)


def _settings(options: Play, folder: Path) -> ServeSettings:
    """Check the options, test the sandbox, and build the bots."""
    opponents = _opponents(options)
    sandbox = _sandbox(options, opponents, folder) if opponents else None
    chosen_rules = rule_sets(options.rules)
    return ServeSettings(
        listen=f"unix:{folder / 'referee'}" if system.UNIX_SOCKETS else free_address(),
        tls=None,
        insecure_remote=False,
        guests=tuple(Player(name, secrets.token_urlsafe(24)) for name in _people(options.people)),
        opponents=built_bots(opponents, sandbox),
        rule_sets=chosen_rules,
        matches=options.matches or None,
        clocks=_clocks(options),
        seed=draw_seed() if options.seed is None else local_seed(options.seed),
        sandbox=sandbox,
        replays=_replays(options, folder),
    )


def _people(number: int) -> list[str]:
    return ["you"] if number == 1 else [f"player-{n}" for n in range(1, number + 1)]


def _opponents(options: Play) -> tuple[Entry, ...]:
    """Return the given bots, or a bot of a level; several people need no bot."""
    named, people, level = options.bots or [], options.people, options.level
    if named and level:
        raise UserError(
            f"--level {level}: leave it out, because you chose your opponents; as a bot, the level "
            f"is called 'search --level {level}'"
        )
    number = len(named) if named else int(level is not None or people == 1)
    if people + number > 4:
        persons = "1 person" if people == 1 else f"{people} people"
        bots = count(number, "bot")
        raise UserError(f"{persons} and {bots} need more than 4 seats; pass fewer bots")
    opponents = find_bots(named)
    if number and not named:
        level = _asked_level() if level is None else level
        [bot] = find_bots([f"search --level {level}"])
        opponents = [bot.model_copy(update={"name": f"level-{level}"})]
    taken = Counter(bot.name.casefold() for bot in opponents)
    for name in _people(people):
        if taken[name]:
            raise UserError(f"bot {name!r}: a person at this table has this name; rename the bot")
    return tuple(opponents)


def _asked_level() -> int:
    """Return the level that the person chooses; without a terminal, the usual level."""
    if not (sys.stdin and sys.stdin.isatty() and shows_progress()):
        return USUAL_LEVEL
    question = "Level of your opponent (1 is for beginners)"
    levels = [str(level) for level in range(1, LEVELS + 1)]
    try:
        return IntPrompt.ask(question, console=err, choices=levels, default=USUAL_LEVEL)
    except EOFError:
        notify("")
        return USUAL_LEVEL


def _sandbox(options: Play, opponents: Sequence[Entry], folder: Path) -> Sandbox | None:
    secret = [default_key_path(), folder]
    secret += [options.out_directory] if options.out_directory else []
    directories = [opponent.directory for opponent in opponents]
    return sandbox_of_bots(options.sandbox, directories, secret=secret)


def _clocks(options: Play) -> Clocks:
    """Return the time controls; a page that was closed may be reopened at any time.

    Without a bank, nobody loses on time. A bot whose process ends still forfeits.
    """
    if options.clock is None:
        return Clocks(bank_us=_NO_CLOCK_US, increment_us=0, reconnect_us=_NO_CLOCK_US)
    return options.clock.in_microseconds()._replace(reconnect_us=_NO_CLOCK_US)


def _replays(options: Play, folder: Path) -> ReplaySink:
    """Return where replays are written, for the page to show them; the folder may be temporary."""
    if options.out_directory is not None:
        return replay_sink(options.out_directory)
    played = folder / "played"
    played.mkdir()
    return ReplaySink(played, SigningKey.new(), temporary=True)


class PlayTable(TableServer):
    """A table for people. A person's page connects to the referee when the person is ready."""

    finish_s = 0.0

    def __init__(
        self, settings: ServeSettings, page: str, analyses: ExitStack, *, browser: bool
    ) -> None:
        """`page` is the page's address, and `analyses` ends the analyses of matches.

        With `browser`, a browser is opened.
        """
        super().__init__(settings)
        self._page = page
        self._analyses = analyses
        self._browser = browser
        self._played = 0
        self._analysis: threading.Thread | None = None

    def announce(self, address: str) -> None:
        """Print each person's link, and open the first one."""
        links = [self._link(guest) for guest in self.settings.guests]
        for guest, link in zip(self.settings.guests, links, strict=True):
            heading = "Your link" if len(links) == 1 else f"Link for {guest.entry}"
            out.print(f"{heading}:\n    {link}", soft_wrap=True)
        assert self.settings.replays is not None
        deleted = " The replays are deleted then; --out DIR keeps them."
        notify(f"Press Ctrl-C to stop.{deleted if self.settings.replays.temporary else ''}")
        if self._browser and _has_browser():
            # A browser may run in the foreground until it is closed.
            threading.Thread(target=webbrowser.open, args=(links[0],), daemon=True).start()

    def _link(self, guest: Player) -> str:
        """Return a person's link. The part after # is not sent to any server."""
        assert self.settings.replays is not None
        fragment = {
            "token": guest.token,
            "seats": ",".join(self.settings.names),
            "me": self.settings.names.index(guest.entry),
            "run": self.settings.replays.folder.absolute().name,
            **self._last_match(),
        }
        return f"http://{reachable_address(self._page)}/play#{urlencode(fragment)}"

    def _last_match(self) -> dict[str, str]:
        """Return the link parameter for the table's last match; empty if there is no last match."""
        settings = self.settings
        if settings.matches is None:
            return {}
        *_, last = rotated(settings.names, settings.rule_sets, settings.matches)
        return {"last": last.match_id}

    def record(self, result: MatchResult, records: Sequence[bytes]) -> Path | None:
        """Start a process that analyses the match, for the page; an earlier one ends."""
        path = super().record(result, records)
        self._analyses.close()
        self._analysis = None if path is None else self._analyses.enter_context(analysed(path))
        return path

    async def wait_for_analysis(self) -> None:
        """Wait until the last match has been analysed."""
        if self._analysis is None or not self._analysis.is_alive():
            return
        notify("The match is being analysed, which takes about a minute. Press Ctrl-C to stop.")
        for _ in iter(self._analysis.is_alive, False):
            await asyncio.sleep(_POLL_S)

    async def wait_for_guests(self) -> None:
        """Wait until all people are there or, after a match, until all want another one."""
        if self._played:
            await asyncio.gather(*(self._leaves(guest) for guest in self.settings.guests))
        self._played += 1
        await asyncio.gather(*(self._arrives(guest) for guest in self.settings.guests))

    async def _arrives(self, guest: Player) -> None:
        """Wait until a person is there, and print who is still missing."""
        if not await self.referee.wait_until_connected(guest.token):
            return  # the table was stopped, or the guest was shut out
        guests = self.settings.guests
        missing = [one.entry for one in guests if not self.referee.is_connected(one.token)]
        if missing:
            notify(f"{guest.entry} has joined. Waiting for {', '.join(missing)}")

    async def _leaves(self, guest: Player) -> None:
        """Wait for the page to disconnect; a program that stays connected is ready immediately."""
        for _ in range(round(_READY_S / _POLL_S)):
            if not self.referee.is_connected(guest.token):
                return
            await asyncio.sleep(_POLL_S)


@contextmanager
def analysed(replay: Path) -> Iterator[threading.Thread]:
    """Analyse a replay in the background until the context or this process ends.

    The thread waits for the end of the analysis, and then prints what decided the match.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "asara_server.cli", "analyse", str(replay), "--child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        creationflags=system.CREATION_FLAGS,
    ) as process:

        def wait() -> None:
            if process.wait() == 0:
                print_decisive(replay)

        thread = threading.Thread(target=wait, name="analysis", daemon=True)
        thread.start()
        try:
            yield thread
        finally:
            process.kill()
            thread.join()


def _has_browser() -> bool:
    """Return False if there is no browser, or only one for the terminal."""
    if sys.platform in {"darwin", "win32"}:
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
