"""Receives bots on other machines, and says which matches wait for them.

Such a bot comes in by a token, over TLS, and plays several matches in one process. It is waited for
from the beginning of the run, or from when it went away, so many seconds. After that its matches
count as never started, at once, until it dials in. A token that is revoked meanwhile ends the
stream of its bot; another token of the same name lets one in again.

`Line` gives out the matches. One that waits for a bot keeps none back that could begin.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from asara_server.logs import logger
from asara_server.network.addresses import reachable_address
from asara_server.network.grpc_server import serve
from asara_server.network.tls import TlsFiles
from asara_server.referee.hosted import wake
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.config.token_store import sha256_of
from asara_server.tournament.config.token_watcher import TokenNames
from asara_server.tournament.config.tournament_file import Entry, Remote
from asara_server.tournament.run.directory import RemoteEntry, RemoteInfo

LOOK_S: Final = 0.25
"""Seconds between two looks at tokens and limits."""

REVOKED: Final = "its token was revoked"


def tls_files(remote: Remote) -> TlsFiles:
    """What proves to bots that it is us whom they dial."""
    return TlsFiles(remote.certificate, remote.key)


@dataclass(eq=False)
class _RemoteBot:
    """The bot of an entry with a token."""

    entry: str
    token: str
    """Its name."""
    since_s: float
    """When it came or went, by a clock that never goes back."""
    since: datetime
    here: bool = False
    came: bool = False
    """Whether it ever did."""
    sha256: str = ""
    """Of the token that it presented last."""
    playing: int = 0
    """Matches that were given out."""

    @property
    def key(self) -> str:
        """What the referee knows it by; it opens no door, so that it may be written down."""
        return f"from elsewhere: {self.entry}"

    def moved(self, here: bool) -> None:
        """It came, or went."""
        self.here = here
        self.came |= here
        self.since_s, self.since = time.monotonic(), datetime.now(UTC)


class RemoteLobby:
    """The door of a run for the bots of entries with a token; nothing happens where there are none.

    `open` it first; `begin` once matches begin.
    """

    def __init__(
        self,
        referee: Referee,
        remote: Remote | None,
        entries: Iterable[Entry],
        report: Callable[[RemoteInfo], None],
    ) -> None:
        """`report` is given how it stands, whenever that has changed."""
        self._referee = referee
        self._remote = remote
        self._report = report
        self._reported: RemoteInfo | None = None
        self._address = ""
        self._out: Callable[[], Mapping[str, str]] = dict
        self._waiters: list[asyncio.Future[None]] = []
        self._attending: asyncio.Task[None] | None = None
        self._logger = logger("runner")
        now_s, now = time.monotonic(), datetime.now(UTC)
        self._remote_bots = {
            entry.name: _RemoteBot(entry.name, entry.token, now_s, now)
            for entry in entries
            if entry.remote
        }
        self._tokens = TokenNames(None if self._remote is None else self._remote.tokens)
        self._by_token = {remote_bot.token: remote_bot for remote_bot in self._remote_bots.values()}

    @asynccontextmanager
    async def open(self, opened: Callable[[str], None]) -> AsyncIterator[None]:
        """Let bots dial in; `opened` is told the address. Raises ServeError."""
        if self._remote is None:
            yield
            return
        for remote_bot in self._remote_bots.values():
            self._referee.register_bot(
                remote_bot.key,
                remote_bot.entry,
                authenticator=self,
                max_matches=self._remote.matches_at_once,
            )
        serving = await serve(
            self._referee, self._remote.listen, tls=tls_files(self._remote), authenticator=self
        )
        self._address = reachable_address(serving.address)
        opened(self._address)
        try:
            yield
        finally:
            if self._attending is not None:
                self._attending.cancel()
                await asyncio.wait([self._attending])
            await serving.server.stop(grace=1.0)

    def begin(self, pool: BotPool) -> None:
        """From now on the bots are waited for. `pool` has them take part."""
        if self._remote is None:
            return
        self._out = lambda: pool.out
        for remote_bot in self._remote_bots.values():
            pool.expect(remote_bot.entry, remote_bot.key, partial(self._absence, remote_bot))
            if not remote_bot.here:
                remote_bot.moved(here=False)
        self._attending = asyncio.create_task(self._attend())
        self._attending.add_done_callback(self._attended)

    # Authenticator

    def authenticate(self, token: str) -> str | None:
        self._tokens.look()
        sha256 = sha256_of(token)
        remote_bot = self._holder(sha256)
        if remote_bot is None or remote_bot.entry in self._out():
            return None
        remote_bot.sha256 = sha256
        return remote_bot.key

    def connections_changed(self) -> None:
        for remote_bot in self._remote_bots.values():
            here = self._referee.is_connected(remote_bot.key)
            if here != remote_bot.here:
                remote_bot.moved(here)
        wake(self._waiters)

    def _holder(self, sha256: str) -> _RemoteBot | None:
        """Whose token this is, by its hash."""
        name = self._tokens.name(sha256)
        return None if name is None else self._by_token.get(name)

    # The matches

    def closed(self) -> set[str]:
        """Entries that can take no further match now, but may do so later."""
        out = self._out()
        return {
            remote_bot.entry
            for remote_bot in self._remote_bots.values()
            if remote_bot.entry not in out and self._must_wait(remote_bot)
        }

    def _must_wait(self, remote_bot: _RemoteBot) -> bool:
        if remote_bot.here:
            return remote_bot.playing >= self._referee.match_capacity(remote_bot.key)
        return not self._missed(remote_bot)

    def _missed(self, remote_bot: _RemoteBot) -> bool:
        """Whether a bot has been away for so long that it is not waited for any more."""
        remote = self._remote
        waited_s = time.monotonic() - remote_bot.since_s
        return not remote_bot.here and remote is not None and waited_s >= remote.wait_s

    def _absence(self, remote_bot: _RemoteBot) -> str:
        """Why a bot is not waited for any more; empty while it is, or is here."""
        if self._remote is None or not self._missed(remote_bot):
            return ""
        within = f"within {self._remote.wait_s:g} s"
        if remote_bot.sha256 and self._holder(remote_bot.sha256) is not remote_bot:
            return f"{REVOKED}, and it did not dial in with another {within}"
        if remote_bot.came:
            return f"went away and did not dial in again {within}"
        return f"did not dial in {within}"

    def take(self, entries: Iterable[str]) -> None:
        """A match of these entries is given out."""
        for name in entries:
            if remote_bot := self._remote_bots.get(name):
                remote_bot.playing += 1

    def give_back(self, entries: Iterable[str]) -> None:
        """A match of these entries is over."""
        for name in entries:
            if remote_bot := self._remote_bots.get(name):
                remote_bot.playing -= 1
        wake(self._waiters)

    async def change(self) -> None:
        """Until `closed` may say something else."""
        if self._attending is not None and self._attending.done():
            self._attending.result()  # raises what went wrong
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def wake(self) -> None:
        """Let all look again that wait for a change."""
        wake(self._waiters)

    # Looking after all this

    @property
    def awaited(self) -> list[str]:
        """Entries whose bots matches wait for."""
        out = self._out()
        return [
            remote_bot.entry
            for remote_bot in self._remote_bots.values()
            if not (remote_bot.here or remote_bot.entry in out or self._missed(remote_bot))
        ]

    async def _attend(self) -> None:
        before = self.closed()
        while True:
            self._tokens.look()
            self._send_away()
            closed = self.closed()
            if closed != before:
                before = closed
                wake(self._waiters)
            self._tell()
            await asyncio.sleep(LOOK_S)

    def _attended(self, task: asyncio.Task[None]) -> None:
        """It ends by itself only where it fails: who waits for a change is to hear of it."""
        if not task.cancelled() and (error := task.exception()):
            self._logger.error("bots on other machines are looked after no more", exc_info=error)
        wake(self._waiters)

    def _send_away(self) -> None:
        """Send away whose token was revoked; and who is out, when its last match is over."""
        out = self._out()
        for remote_bot in self._remote_bots.values():
            if not remote_bot.here:
                continue
            if self._holder(remote_bot.sha256) is not remote_bot:
                self._referee.disconnect_bot(remote_bot.key, REVOKED)
            elif remote_bot.entry in out and not remote_bot.playing:
                self._referee.disconnect_bot(remote_bot.key, out[remote_bot.entry])
        self.connections_changed()

    def _tell(self) -> None:
        """Report how it stands, if that is news."""
        remote = self._remote
        assert remote is not None
        out = self._out()
        entries = {
            remote_bot.entry: RemoteEntry(
                state="here"
                if remote_bot.here
                else "missed"
                if self._missed(remote_bot)
                else "awaited",
                since=remote_bot.since.isoformat(timespec="seconds"),
            )
            for remote_bot in self._remote_bots.values()
            if remote_bot.entry not in out
        }
        info = RemoteInfo(address=self._address, wait_s=remote.wait_s, entries=entries)
        if info == self._reported:
            return
        self._reported = info
        try:
            self._report(info)
        except OSError as error:  # the matches need not suffer
            self._logger.warning("cannot report who is here", detail=error.strerror or str(error))
