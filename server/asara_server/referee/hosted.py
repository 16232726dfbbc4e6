"""A bot and a match as the referee holds them."""

import asyncio
import time

from asara_server.match.inputs import Absence
from asara_server.match.match import NEVER, Match
from asara_server.match.spec import MatchRecord, MatchSpec
from asara_server.referee.limits import RateMeter
from asara_server.referee.session import Authenticator, Greeting, Session


class HostedBot:
    """A bot that may dial in, by its token, or by what its door knows it by."""

    __slots__ = (
        "door",
        "entry",
        "gone",
        "greeting",
        "known",
        "matches",
        "meter",
        "session",
        "tables",
        "token",
        "waiters",
    )

    def __init__(
        self, token: str, entry: str, meter: RateMeter, matches: int, door: Authenticator | None
    ) -> None:
        self.token = token
        self.entry = entry
        self.meter = meter
        #: How many it may play at once, whatever it says.
        self.matches = matches
        #: Where it has to come in; None for the referee's own addresses.
        self.door = door
        self.session: Session | None = None
        #: The last one, whether or not its stream lasts.
        self.greeting: Greeting | None = None
        #: Whether it ever dialled in.
        self.known = False
        #: Why it will not come any more.
        self.gone: str | None = None
        self.tables: dict[str, tuple[HostedMatch, int]] = {}
        self.waiters: list[asyncio.Future[None]] = []

    @property
    def free(self) -> bool:
        """Whether it is there and can take one more match."""
        return (
            self.session is not None
            and self.gone is None
            and self.greeting is not None
            and len(self.tables) < self.greeting.max_matches
        )


class HostedMatch:
    """A match with its bots, its timer and those who watch it."""

    __slots__ = (
        "absent",
        "bots",
        "commits_us",
        "committed",
        "done",
        "late",
        "match",
        "nonces",
        "noted",
        "number",
        "reopened",
        "seen_faults",
        "spec",
        "started_unix_ms",
        "started_us",
        "timer",
        "timer_us",
        "watchers",
    )

    def __init__(
        self, spec: MatchSpec, bots: tuple[HostedBot, ...], done: asyncio.Future[MatchRecord]
    ) -> None:
        self.spec = spec
        self.bots = bots
        self.done = done
        #: None until it starts.
        self.match: Match | None = None
        #: Whether the time for dialling in is over, or for a nonce once it is committed.
        self.late = False
        #: Whether the bots are asked for their nonces.
        self.committed = False
        self.nonces: dict[int, bytes] = {}
        #: Seats whose bots take no part from the start.
        self.absent: dict[int, Absence] = {}
        self.timer: asyncio.TimerHandle | None = None
        self.timer_us = NEVER
        self.started_us = 0
        self.started_unix_ms = 0
        #: How long the commits took that are counted for this match.
        self.commits_us: list[int] = []
        self.seen_faults = 0
        #: Its number in the journal, and how many of its records that has been given.
        self.number = 0
        self.noted = 0
        #: A match of an earlier referee, until the bots are there to go on with it.
        self.reopened: Match | None = None
        #: Done as soon as there may be something new to tell.
        self.watchers: list[asyncio.Future[None]] = []

    def time_us(self, now: int) -> int:
        """Microseconds since the match began, which is how a match reckons."""
        return now - self.started_us


def now_us() -> int:
    """Microseconds of a clock that never goes back."""
    return time.monotonic_ns() // 1_000


def wake(waiters: list[asyncio.Future[None]]) -> None:
    """Let all go on that wait, and forget them."""
    for waiter in waiters:
        if not waiter.done():
            waiter.set_result(None)
    waiters.clear()
