"""What a referee counts of the matches that are over.

A match is counted when it ends, all at once. What is counted of a match that runs would tell a bot
that reads it something: how many decisions its opponent was asked, for example, depends on what the
opponent holds.

Counting belongs to the event loop, reading to any thread.
"""

from bisect import bisect_right
from collections.abc import Iterable
from threading import Lock
from typing import Final

from asara_codec.results import RejectionReason, Termination
from asara_server.match.inputs import RejectionRecord, ReplyRecord
from asara_server.match.spec import MatchRecord
from asara_server.referee.stream_errors import VIOLATIONS

BOUNDS_US: Final = (
    *(10, 25, 50, 100, 250, 500),
    *(1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000),
    *(1_000_000, 2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000),
)
"""Upper ends of what is counted together, microseconds; one more count is of what is above."""


class Histogram:
    """Lengths of time: how many there were between the bounds, and their sum."""

    __slots__ = ("counts", "sum_us")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_US) + 1)
        self.sum_us = 0

    def add(self, lengths_us: Iterable[int]) -> None:
        """Count these. Many at once cost least: about 0.1 µs each."""
        ordered = sorted(lengths_us)
        below = 0
        for index, bound in enumerate(BOUNDS_US):
            so_far = bisect_right(ordered, bound)
            self.counts[index] += so_far - below
            below = so_far
        self.counts[-1] += len(ordered) - below
        self.sum_us += sum(ordered)


class Counters:
    """All counts of a referee. Whoever reads several that belong together holds `lock`."""

    def __init__(self) -> None:
        self.lock = Lock()
        #: Matches with a result, and without one because the referee failed.
        self.sound = 0
        self.void = 0
        #: By decision, how long the referee waited for the bot, and its own work.
        self.bot = Histogram()
        self.referee = Histogram()
        #: By commit of the journal; one that several matches share counts for one of them.
        self.commits = Histogram()
        self.rejections = {reason: 0 for reason in RejectionReason if reason}
        #: By entry and kind; only such as happened.
        self.forfeits: dict[tuple[str, Termination], int] = {}
        #: By the reason that the stream's status has; not left for the end of a match, for it says
        #: nothing of the game, and the forfeit is public at once.
        self.violations = {ending.value[1]: 0 for ending in VIOLATIONS}

    def match_over(self, match: MatchRecord, commits_us: Iterable[int]) -> None:
        """Count a match, with the commits that were made for it (microseconds each)."""
        with self.lock:
            if match.void:
                self.void += 1
            else:
                self.sound += 1
            replies = [record for record in match.records if isinstance(record, ReplyRecord)]
            self.bot.add(reply.bot_us for reply in replies)
            self.referee.add(reply.referee_us for reply in replies)
            self.commits.add(commits_us)
            for record in match.records:
                if isinstance(record, RejectionRecord):
                    self.rejections[record.reason] += 1
            for result in match.results:
                if result.termination.forfeit:
                    key = result.entry, result.termination
                    self.forfeits[key] = self.forfeits.get(key, 0) + 1

    def violation(self, reason: str) -> None:
        """Count a violation of the protocol."""
        self.violations[reason] = self.violations.get(reason, 0) + 1
