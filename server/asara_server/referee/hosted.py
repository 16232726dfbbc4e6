"""A bot and a match as the referee keeps them."""

import asyncio
from collections.abc import Callable

from asara_codec.results import Termination
from asara_server.match.inputs import Absence
from asara_server.match.match import NEVER, Match
from asara_server.match.spec import MatchRecord, MatchSpec
from asara_server.referee.authenticator import Authenticator
from asara_server.referee.hello import CheckedHello
from asara_server.referee.limits import RateLimiter
from asara_server.referee.match_clock import ClockTimer
from asara_server.referee.session import Session


class HostedBot:
    """A bot that may connect.

    key             its token or, with an authenticator, the key that the authenticator returns
    max_matches     number of concurrent matches allowed, regardless of its Hello
    authenticator   None if it connects at the referee's own addresses
    session         its open stream, if any
    hello           its most recent Hello, kept when the stream ends
    lost            the reason why it will not connect again, or None
    unstarted       True if its machine could not start it, which is not the bot's fault
    absence         how it forfeits a match if it is lost before it has ever connected
    matches         by the match's name, the match and the bot's seat
    forfeited       the names of running matches that it has forfeited
    late_matches    finished matches whose replays wait for its late reply, with its seat
    before_send     called before every message to it, if not None
    connect_waiters futures that are completed when it connects or is lost
    rate_limiter    limits its requests that answer no open decision
    connection_limiter  limits how often it connects
    """

    __slots__ = (
        "absence",
        "authenticator",
        "before_send",
        "connect_waiters",
        "connection_limiter",
        "entry",
        "forfeited",
        "hello",
        "key",
        "late_matches",
        "lost",
        "matches",
        "max_matches",
        "rate_limiter",
        "session",
        "unstarted",
    )

    def __init__(
        self,
        key: str,
        entry: str,
        rate_limiter: RateLimiter,
        connection_limiter: RateLimiter,
        max_matches: int,
        authenticator: Authenticator | None,
    ) -> None:
        self.key = key
        self.entry = entry
        self.rate_limiter = rate_limiter
        self.connection_limiter = connection_limiter
        self.max_matches = max_matches
        self.authenticator = authenticator
        self.session: Session | None = None
        self.hello: CheckedHello | None = None
        self.lost: str | None = None
        self.unstarted = False
        self.absence = Termination.NEVER_STARTED
        self.matches: dict[str, tuple[HostedMatch, int]] = {}
        self.forfeited: set[str] = set()
        self.late_matches: dict[str, tuple[HostedMatch, int]] = {}
        self.connect_waiters: list[asyncio.Future[None]] = []
        self.before_send: Callable[[], None] | None = None

    def update_reading(self) -> None:
        """Stop reading while the bot has only forfeited matches left; otherwise read its stream."""
        if self.session is None:
            return
        if self.forfeited and self.forfeited.issuperset(self.matches):
            self.session.pause_reading(after_late_reply=self._awaits_late_reply())
        else:
            self.session.resume_reading()

    def _awaits_late_reply(self) -> bool:
        """Return True if a late reply of this bot to a running match is still awaited."""
        running = ((hosted.match, seat) for hosted, seat in self.matches.values())
        return any(match is not None and match.awaits_late_reply(seat) for match, seat in running)

    @property
    def has_room(self) -> bool:
        """True if the bot is connected and can play one more match."""
        return (
            self.session is not None
            and self.lost is None
            and self.hello is not None
            and len(self.matches) < self.hello.max_matches
        )


class HostedMatch:
    """A match with its bots and its timer.

    Before it begins
        added_us        when it began to wait for its bots, by the clock of the referee
        start_overdue   True once the time to connect or, for a joint deal, to send a nonce is over
        committed       True once the bots of a joint deal have been asked for their nonces
        nonces          nonces received so far, by seat
        absent          seats whose bots will not take part, with the reason
        recovered       the match as an earlier referee left it, until its bots are back
    From its beginning
        match           None before
        started_us      when it began, by the clock of the referee
        stood_us        how long the clock of the referee had stood still by then
        timer_us        time in the match for which `timer` is set
        commits_us      durations of the journal commits that are counted for this match
        faults_logged   number of faults that are in the log
        number          its number in the journal
        journaled       number of its records that are in the journal
    Once it is over
        duration_us     its duration
        failure         why it is void; "" if it is not
    All the time
        result          the future that `Referee.play` awaits
        update_waiters  futures that are completed when messages were sent, or when it is over
    """

    __slots__ = (
        "absent",
        "added_us",
        "bots",
        "commits_us",
        "committed",
        "duration_us",
        "failure",
        "faults_logged",
        "journaled",
        "match",
        "nonces",
        "number",
        "recovered",
        "result",
        "spec",
        "start_overdue",
        "started_unix_ms",
        "started_us",
        "stood_us",
        "timer",
        "timer_us",
        "update_waiters",
    )

    def __init__(
        self, spec: MatchSpec, bots: tuple[HostedBot, ...], result: asyncio.Future[MatchRecord]
    ) -> None:
        self.spec = spec
        self.bots = bots
        self.result = result
        self.match: Match | None = None
        self.recovered: Match | None = None
        self.added_us = 0
        self.start_overdue = False
        self.committed = False
        self.nonces: dict[int, bytes] = {}
        self.absent: dict[int, Absence] = {}
        self.timer: ClockTimer | None = None
        self.timer_us = NEVER
        self.started_us = 0
        self.stood_us = 0
        self.started_unix_ms = 0
        self.duration_us: int | None = None
        self.failure = ""
        self.commits_us: list[int] = []
        self.faults_logged = 0
        self.number = 0
        self.journaled = 0
        self.update_waiters: list[asyncio.Future[None]] = []

    def time_us(self, now: int) -> int:
        """Return the time in the match: microseconds since it began."""
        return now - self.started_us

    def is_late_reply(self, seat: int, decision_id: int) -> bool:
        """Return True if a reply to this decision would be the late reply awaited from the seat."""
        match = self.match
        if match is None or not match.awaits_late_reply(seat):
            return False
        return decision_id == match.decision_id(seat)

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        self.timer_us = NEVER

    async def updated(self) -> None:
        """Wait until new messages of the match are sent, or until the match is over."""
        waiter = asyncio.get_running_loop().create_future()
        self.update_waiters.append(waiter)
        await waiter


def wake(waiters: list[asyncio.Future[None]]) -> None:
    """Complete all of these futures and clear the list."""
    for waiter in waiters:
        if not waiter.done():
            waiter.set_result(None)
    waiters.clear()
