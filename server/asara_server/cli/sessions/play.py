"""Plays matches between people in a browser and bots on this machine."""

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import webbrowser
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from asara_codec.clocks import Clocks
from asara_game.vocabulary import RuleSet
from asara_server import system
from asara_server.cli.commands.play import LEVELS, USUAL_LEVEL, Play
from asara_server.cli.display.console import err, notify, out, shows_progress, warn
from asara_server.cli.display.faults import fault_lines
from asara_server.cli.display.results import show_match, show_standings
from asara_server.cli.options.bots import find_bots
from asara_server.cli.options.common import rule_sets
from asara_server.cli.options.log import LogOptions
from asara_server.cli.sessions.analyse import print_decisive
from asara_server.cli.sessions.bot_build import built_bots
from asara_server.cli.sessions.setup import log_to_terminal, sandbox_of_bots, signing_key
from asara_server.cli.sessions.signals import on_signals, until_signal
from asara_server.cli.sessions.web import stay, web_child
from asara_server.event_loop import run
from asara_server.match.deal_secrets import (
    bot_seed,
    draw_seed,
    local_seed,
    secret_of,
    tournament_secret,
)
from asara_server.match.spec import SECOND_US, Player
from asara_server.network.addresses import free_address, reachable_address, socket_parent
from asara_server.network.grpc_server import serve
from asara_server.network.open_files import require_open_files
from asara_server.referee.referee import Referee
from asara_server.replay.file import write_replay
from asara_server.replay.signing import PUBLIC_KEY_FILE, SigningKey, default_key_path
from asara_server.text import count, plain
from asara_server.tournament.config.tournament_file import Entry, MatchSettings
from asara_server.tournament.execution.match_runner import (
    ExecutionContext,
    MatchRunner,
    match_runner,
)
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.schedule.schedule import Attempt, rotated
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
    # Only this user can enter the folder, which is for the socket and for temporary replays.
    with tempfile.TemporaryDirectory(prefix="asara-play-", dir=socket_parent()) as folder:
        table = _table(options, Path(folder))
        with (
            web_child(
                [table.replays],
                options.listen,
                play=table.listen,
                insecure_remote=options.insecure_remote,
                option="--listen",
            ) as address,
            table.analyses,
        ):
            status = run(table.run(address))
            if not table.stopped and not stay(address):
                stopped = "stopped before the match was analysed"
                run(until_signal(table.wait_for_analysis(), lambda: stopped))
            return status


def _table(options: Play, folder: Path) -> "PlayTable":
    """Check the options, test the sandbox, and build the bots; return the table."""
    chosen = _opponents(options)
    sandbox = _sandbox(options, chosen, folder) if chosen else None
    chosen_rules = rule_sets(options.rules)
    seed = draw_seed() if options.seed is None else local_seed(options.seed)
    clocks = _clocks(options)
    opponents = built_bots(chosen, sandbox)
    match_settings = MatchSettings(
        entries=opponents,
        processes={bot.name: "run" for bot in opponents},
        clocks=clocks,
        bot_seeds={bot.name: bot_seed(seed, bot.name) for bot in opponents},
    )
    replays, key = _replays(options, folder)
    return PlayTable(
        listen=f"unix:{folder / 'referee'}" if system.UNIX_SOCKETS else free_address(),
        logs=folder,
        people=tuple(Player(name, secrets.token_urlsafe(24)) for name in _people(options.people)),
        context=ExecutionContext(
            match_settings, partial(secret_of, tournament_secret(seed)), sandbox
        ),
        rule_sets=chosen_rules,
        matches=options.matches or None,
        replays=replays,
        kept=options.out_directory is not None,
        key=key,
        browser=options.browser,
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
    scale = f"from 1 for beginners to {LEVELS}"
    question = f"Level of your opponent, {scale} (press Enter for {USUAL_LEVEL}): "
    levels = {"": USUAL_LEVEL, **{str(level): level for level in range(1, LEVELS + 1)}}
    try:
        while (answer := err.input(question).strip()) not in levels:
            question = f"A number from 1 to {LEVELS}: "
    except EOFError:
        notify("")
        return USUAL_LEVEL
    return levels[answer]


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


def _replays(options: Play, folder: Path) -> tuple[Path, SigningKey]:
    """Create the folder of the replays, for the page to show them, and return it with their key.

    A folder that contains replays is refused: match names are the same at every table.
    """
    kept = options.out_directory
    if kept is None:
        played = folder / "played"
        played.mkdir()
        return played, SigningKey.new()
    try:
        if kept.is_file():
            raise UserError(f"--out {kept}: is a file; choose a folder")
        kept.mkdir(parents=True, exist_ok=True)
        if any(kept.glob("*.asara")):
            raise UserError(f"--out {kept}: already contains replays; choose another folder")
        key = signing_key(None)
        (kept / PUBLIC_KEY_FILE).write_bytes(key.public_pem)
    except OSError as error:
        raise UserError(f"--out {kept}: {error.strerror}") from None
    return kept, key


@dataclass(kw_only=True)
class PlayTable:
    """Waits for the people, plays the matches, and prints their results.

    A person's page connects to the referee when the person is ready.
    """

    listen: str
    """Where the page connects to the referee: `unix:/path`, or a port of this machine."""
    logs: Path
    """Folder for the opponents' output."""
    people: tuple[Player, ...]
    context: ExecutionContext
    """The opponents, and how they play."""
    rule_sets: frozenset[RuleSet]
    matches: int | None
    """Number of matches; None for an unlimited number."""
    replays: Path
    """Folder of the replays."""
    kept: bool
    """False if the replays are deleted at the end."""
    key: SigningKey
    """Signs the replays."""
    browser: bool
    """True to open a browser."""
    analyses: ExitStack = field(default_factory=ExitStack)
    """Ends the analysis of the last match."""
    referee: Referee = field(default_factory=Referee)
    _results: list[MatchResult] = field(default_factory=list)
    _analysis: threading.Thread | None = None
    _signal: signal.Signals | None = None
    _stopping: asyncio.Task[None] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all players, by seat in the first match."""
        opponents = self.context.match_settings.entries
        return (*(person.entry for person in self.people), *(bot.name for bot in opponents))

    @property
    def stopped(self) -> bool:
        """True if a signal has stopped the table."""
        return self._signal is not None

    async def run(self, page: str) -> int:
        """Serve until all matches are played or a signal stops it; return the exit status.

        `page` is the page's address.
        """
        limits = self.referee.limits
        require_open_files(
            limits,
            processes=len(self.context.match_settings.entries),
            more=limits.socket_connections,
            remedy="pass fewer bots",
        )
        async with AsyncExitStack() as stack:
            signals = stack.enter_context(ExitStack())  # caught until everything has ended
            serving = await serve(self.referee, self.listen)
            stack.push_async_callback(serving.stop, 1.0)
            runner = await stack.enter_async_context(
                match_runner(self.context, self.referee, self.logs)
            )
            for person in self.people:
                self.referee.register_bot(person.token, person.entry)
                runner.pool.add_external(person.entry, person.token)
            playing = asyncio.create_task(self._play(runner))
            stack.push_async_callback(_end, playing)  # before its bots, whatever is raised here
            signals.enter_context(on_signals(partial(self._stop, playing)))
            self._announce(page)
            await asyncio.wait([playing])
            if self._stopping:
                await self._stopping
            elif not playing.cancelled():
                playing.result()  # raises its exception
        status = self._print_summary()
        return status if self._signal is None else 128 + self._signal

    async def _play(self, runner: MatchRunner) -> None:
        for match in rotated(self.names, self.rule_sets, self.matches):
            await self._wait_for_people()
            async for played, _ in runner.play(Attempt(match)):
                self._record(*played)
            if self._stopping:
                return

    def _stop(self, playing: asyncio.Task[None], number: signal.Signals) -> None:
        if self._stopping is None:
            self._signal = number
            self._stopping = asyncio.create_task(self._stop_referee(playing))

    async def _stop_referee(self, playing: asyncio.Task[None]) -> None:
        for line in (await self.referee.stop(finish_s=0.0)).values():
            warn(line)
        playing.cancel()  # it may be waiting for a person

    def _announce(self, page: str) -> None:
        """Print each person's link, and open the first one."""
        links = [self._link(page, person) for person in self.people]
        for person, link in zip(self.people, links, strict=True):
            heading = "Your link" if len(links) == 1 else f"Link for {person.entry}"
            out.print(f"{heading}:\n    {link}", soft_wrap=True)
        deleted = " The replays are deleted then; --out DIR keeps them."
        notify(f"Press Ctrl-C to stop.{'' if self.kept else deleted}")
        if self.browser and _has_browser():
            # A browser may run in the foreground until it is closed.
            threading.Thread(target=webbrowser.open, args=(links[0],), daemon=True).start()

    def _link(self, page: str, person: Player) -> str:
        """Return a person's link. The part after # is not sent to any server."""
        fragment = {
            "token": person.token,
            "seats": ",".join(self.names),
            "me": self.names.index(person.entry),
            "run": self.replays.absolute().name,
            **self._last_match(),
        }
        return f"http://{reachable_address(page)}/play#{urlencode(fragment)}"

    def _last_match(self) -> dict[str, str]:
        """Return the link parameter for the table's last match; empty if there is no last match."""
        if self.matches is None:
            return {}
        *_, last = rotated(self.names, self.rule_sets, self.matches)
        return {"last": last.match_id}

    def _record(self, result: MatchResult, records: Sequence[bytes]) -> None:
        """Print a match's result, write its replay, and start a process that analyses it.

        The analysis of an earlier match ends.
        """
        people = [person.entry for person in self.people]
        self._results.append(result)
        self.analyses.close()
        self._analysis = None
        if result.void:
            warn(f"{result.match_id} has no result, because the referee failed")
        else:
            show_match(result, people)
            path = self.replays / f"{result.played_as}.asara"
            write_replay(path, records, self.key)
            if self.kept:
                out.print(f"Replay: {plain(str(path), None)}", soft_wrap=True)
            out.print()
            self._analysis = self.analyses.enter_context(analysed(path))
        for line in fault_lines([result], people):
            warn(line)

    def _print_summary(self) -> int:
        """Print the standings of several matches; return the exit status."""
        # Loads numerical libraries, before which the matches can begin.
        from asara_server.tournament.standings.standings import compute_standings

        names = self.names
        scheduled = len({result.match_id for result in self._results})
        standings = compute_standings(" – ".join(names), names, scheduled, self._results)
        if standings.matches.played > 1:
            show_standings(standings)
        return 1 if standings.matches.void else 0

    async def wait_for_analysis(self) -> None:
        """Wait until the last match has been analysed."""
        if self._analysis is None or not self._analysis.is_alive():
            return
        notify("The match is being analysed, which takes about a minute. Press Ctrl-C to stop.")
        for _ in iter(self._analysis.is_alive, False):
            await asyncio.sleep(_POLL_S)

    async def _wait_for_people(self) -> None:
        """Wait until all people are there or, after a match, until all want another one."""
        if self._results:
            await asyncio.gather(*(self._leaves(person) for person in self.people))
        await asyncio.gather(*(self._arrives(person) for person in self.people))

    async def _arrives(self, person: Player) -> None:
        """Wait until a person is there, and print who is still missing."""
        for _ in iter(partial(self.referee.is_connected, person.token), True):
            await asyncio.sleep(_POLL_S)
        people = self.people
        missing = [one.entry for one in people if not self.referee.is_connected(one.token)]
        if missing:
            notify(f"{person.entry} has joined. Waiting for {', '.join(missing)}")

    async def _leaves(self, person: Player) -> None:
        """Wait for the page to disconnect; a program that stays connected is ready immediately."""
        for _ in range(round(_READY_S / _POLL_S)):
            if not self.referee.is_connected(person.token):
                return
            await asyncio.sleep(_POLL_S)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


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
