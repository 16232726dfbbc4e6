"""Receives bots on other machines, and says which matches wait for them.

Such a bot comes in by a token, over TLS, and plays several matches in one process. It is waited for
from the beginning of the run, or from when it went away, so many seconds. After that its matches
count as never started, at once, until it dials in. A token that is revoked meanwhile ends the
stream of its bot; another token of the same name lets one in again.

`Line` gives out the matches. One that waits for a bot keeps none back that could begin.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, Self

from asara_server.addresses import dialled_address
from asara_server.logs import logger
from asara_server.referee import Referee
from asara_server.service import TlsFiles, serve
from asara_server.tables import wake
from asara_server.tournament.config import Entry, Remote
from asara_server.tournament.directory import RemoteEntry, RemoteInfo
from asara_server.tournament.pool import Pool
from asara_server.tournament.schedule import Match
from asara_server.tournament.tokens import TokenError, read_tokens, sha256_of

LOOK_S: Final = 0.25
"""Seconds between two looks at tokens and limits."""

REVOKED: Final = "its token was revoked"


def tls_files(remote: Remote) -> TlsFiles:
    """What proves to bots that it is us whom they dial."""
    return TlsFiles(remote.certificate, remote.key)


@dataclass(eq=False)
class _Visitor:
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


class Reception:
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
        self._visitors = {
            entry.name: _Visitor(entry.name, entry.token, now_s, now)
            for entry in entries
            if entry.remote
        }
        self._tokens = _TokenNames(None if self._remote is None else self._remote.tokens)
        self._by_token = {visitor.token: visitor for visitor in self._visitors.values()}

    @asynccontextmanager
    async def open(self, opened: Callable[[str], None]) -> AsyncIterator[None]:
        """Let bots dial in; `opened` is told the address. Raises ServeError."""
        if self._remote is None:
            yield
            return
        for visitor in self._visitors.values():
            self._referee.admit(
                visitor.key, visitor.entry, door=self, matches=self._remote.matches_at_once
            )
        serving = await serve(
            self._referee, self._remote.listen, tls=tls_files(self._remote), door=self
        )
        self._address = dialled_address(serving.address)
        opened(self._address)
        try:
            yield
        finally:
            if self._attending is not None:
                self._attending.cancel()
                await asyncio.wait([self._attending])
            await serving.server.stop(grace=1.0)

    def begin(self, pool: Pool) -> None:
        """From now on the bots are waited for. `pool` has them take part."""
        if self._remote is None:
            return
        self._out = lambda: pool.out
        for visitor in self._visitors.values():
            pool.expect(visitor.entry, visitor.key, partial(self._absence, visitor))
            if not visitor.here:
                visitor.moved(here=False)
        self._attending = asyncio.create_task(self._attend())
        self._attending.add_done_callback(self._attended)

    # The door

    def identify(self, token: str) -> str | None:
        self._tokens.look()
        sha256 = sha256_of(token)
        visitor = self._holder(sha256)
        if visitor is None or visitor.entry in self._out():
            return None
        visitor.sha256 = sha256
        return visitor.key

    def changed(self) -> None:
        for visitor in self._visitors.values():
            here = self._referee.connected(visitor.key)
            if here != visitor.here:
                visitor.moved(here)
        wake(self._waiters)

    def _holder(self, sha256: str) -> _Visitor | None:
        """Whose token this is, by its hash."""
        name = self._tokens.name(sha256)
        return None if name is None else self._by_token.get(name)

    # The matches

    def closed(self) -> set[str]:
        """Entries that can take no further match now, but may do so later."""
        out = self._out()
        return {
            visitor.entry
            for visitor in self._visitors.values()
            if visitor.entry not in out and self._must_wait(visitor)
        }

    def _must_wait(self, visitor: _Visitor) -> bool:
        if visitor.here:
            return visitor.playing >= self._referee.capacity(visitor.key)
        return not self._missed(visitor)

    def _missed(self, visitor: _Visitor) -> bool:
        """Whether a bot has been away for so long that it is not waited for any more."""
        remote = self._remote
        waited_s = time.monotonic() - visitor.since_s
        return not visitor.here and remote is not None and waited_s >= remote.wait_s

    def _absence(self, visitor: _Visitor) -> str:
        """Why a bot is not waited for any more; empty while it is, or is here."""
        if self._remote is None or not self._missed(visitor):
            return ""
        within = f"within {self._remote.wait_s:g} s"
        if visitor.sha256 and self._holder(visitor.sha256) is not visitor:
            return f"{REVOKED}, and it did not dial in with another {within}"
        if visitor.came:
            return f"went away and did not dial in again {within}"
        return f"did not dial in {within}"

    def take(self, entries: Iterable[str]) -> None:
        """A match of these entries is given out."""
        for name in entries:
            if visitor := self._visitors.get(name):
                visitor.playing += 1

    def give_back(self, entries: Iterable[str]) -> None:
        """A match of these entries is over."""
        for name in entries:
            if visitor := self._visitors.get(name):
                visitor.playing -= 1
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
            visitor.entry
            for visitor in self._visitors.values()
            if not (visitor.here or visitor.entry in out or self._missed(visitor))
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
        for visitor in self._visitors.values():
            if not visitor.here:
                continue
            if self._holder(visitor.sha256) is not visitor:
                self._referee.send_away(visitor.key, REVOKED)
            elif visitor.entry in out and not visitor.playing:
                self._referee.send_away(visitor.key, out[visitor.entry])
        self.changed()

    def _tell(self) -> None:
        """Report how it stands, if that is news."""
        remote = self._remote
        assert remote is not None
        out = self._out()
        entries = {
            visitor.entry: RemoteEntry(
                state="here" if visitor.here else "missed" if self._missed(visitor) else "awaited",
                since=visitor.since.isoformat(timespec="seconds"),
            )
            for visitor in self._visitors.values()
            if visitor.entry not in out
        }
        info = RemoteInfo(address=self._address, wait_s=remote.wait_s, entries=entries)
        if info == self._reported:
            return
        self._reported = info
        try:
            self._report(info)
        except OSError as error:  # the matches need not suffer
            self._logger.warning("cannot report who is here", detail=error.strerror or str(error))


class _TokenNames:
    """The good tokens of a file, which may change at any time."""

    def __init__(self, path: Path | None) -> None:
        """Without a path there are none."""
        self._path = path
        self._seen: tuple[int, ...] | None = None
        self._names: dict[str, str] = {}
        self._logger = logger("runner")

    def name(self, sha256: str) -> str | None:
        """The name of the good token with this hash."""
        return self._names.get(sha256)

    def look(self) -> None:
        """Read the file again if it has changed.

        Where it is gone or cannot be read, what it said last holds: a slip of a hand in it is to
        cost no bot its matches.
        """
        if self._path is None:
            return
        try:
            found = self._path.stat()
            seen: tuple[int, ...] = found.st_ino, found.st_size, found.st_ctime_ns
        except OSError:
            seen = ()
        if seen != self._seen:
            self._seen = seen
            self._read(self._path)

    def _read(self, path: Path) -> None:
        try:
            if not self._seen:
                raise TokenError(f"{path}: is not there any more")
            tokens = read_tokens(path).tokens
        except TokenError as error:
            self._logger.warning("tokens stay as they were", why=str(error))
            return
        self._names = {token.sha256: token.name for token in tokens if token.revoked is None}


class Line:
    """The matches that wait to be played. All who ask for one wait until one can begin."""

    def __init__(self, waiting: Iterable[tuple[Match, int]], reception: Reception) -> None:
        """Matches in their order, each with what belongs to it."""
        self._waiting = deque(waiting)
        self._reception = reception

    def __len__(self) -> int:
        return len(self._waiting)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[Match, int]:
        while self._waiting:
            closed = self._reception.closed()
            for place, (match, attempt) in enumerate(self._waiting):
                if closed.isdisjoint(match.entries):
                    del self._waiting[place]
                    self._reception.take(match.entries)
                    return match, attempt
            await self._reception.change()
        raise StopAsyncIteration

    def over(self, match: Match) -> None:
        """A match that was given out is over."""
        self._reception.give_back(match.entries)

    def close(self) -> None:
        """Give out no further match."""
        self._waiting.clear()
        self._reception.wake()
