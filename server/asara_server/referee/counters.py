"""Counters of finished matches, as Prometheus metrics.

A match is counted as a whole when it ends. Counting a running match would leak information to a bot
that reads the metrics. For example, the number of an opponent's decisions depends on what the
opponent holds.
"""

from collections.abc import Iterable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

from asara_codec.results import RejectionReason
from asara_server.match.inputs import RejectionRecord, ReplyRecord
from asara_server.match.match import Match
from asara_server.match.spec import SECOND_US
from asara_server.referee.stream_errors import VIOLATIONS, ErrorKind

BUCKETS_S: Final = (
    *(10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6),
    *(1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 500e-3),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
"""Upper bounds of the histograms' buckets, in seconds."""


class Counters:
    """The counters of one referee, in a separate Prometheus registry.

    The event loop counts; any thread may read. Counting costs about 3 µs per decision, at the end
    of its match.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.matches = Counter(
            "asara_matches",
            "Matches that are over; void: the referee failed.",
            ["result"],
            registry=self.registry,
        )
        self.decisions = Counter(
            "asara_decisions",
            "Decisions that bots made, in finished matches.",
            registry=self.registry,
        )
        self.decision_seconds = Histogram(
            "asara_decision_seconds",
            "Time of a decision, in matches that are over: waiting for the bot, and the referee's "
            "own work.",
            ["phase"],
            buckets=BUCKETS_S,
            registry=self.registry,
        )
        self.commit_seconds = Histogram(
            "asara_journal_commit_seconds",
            "Time of a commit of the journal, in matches that are over.",
            buckets=BUCKETS_S,
            registry=self.registry,
        )
        self.rejections = Counter(
            "asara_rejections",
            "Replies that were rejected, in matches that are over.",
            ["reason"],
            registry=self.registry,
        )
        self.forfeits = Counter(
            "asara_forfeits",
            "Seats that forfeited, in matches that are over.",
            ["entry", "kind"],
            registry=self.registry,
        )
        self.violations = Counter(
            "asara_protocol_violations",
            "Streams ended because their bots violated the protocol or a limit.",
            ["reason"],
            registry=self.registry,
        )
        self.stalled_seconds = Counter(
            "asara_referee_stalled_seconds",
            "Time for which the referee did not run, which is charged to nobody, until the end of "
            "the match that ended last.",
            registry=self.registry,
        )
        self._stalled_us = 0
        self._show_zeros()

    def _show_zeros(self) -> None:
        """Create the series whose labels are known, so that they start at 0."""
        for result in ("sound", "void"):
            self.matches.labels(result)
        for phase in ("bot", "referee"):
            self.decision_seconds.labels(phase)
        for reason in RejectionReason:
            if reason:
                self.rejections.labels(reason.name.lower())
        for kind in ErrorKind:
            if kind in VIOLATIONS:
                self.violations.labels(kind.reason)

    def count_match(self, match: Match | None, commits_us: Iterable[int]) -> None:
        """Count a match that is over, and the commits attributed to it (microseconds each).

        A commit that several matches share is attributed to one of them. `match` is None if the
        referee failed before the match began.
        """
        void = match is None or match.void_reason
        self.matches.labels("void" if void else "sound").inc()
        _observe(self.commit_seconds, commits_us)
        if match is None:
            return
        replies = [record for record in match.records if isinstance(record, ReplyRecord)]
        self.decisions.inc(len(replies))
        _observe(self.decision_seconds.labels("bot"), (reply.bot_us for reply in replies))
        _observe(self.decision_seconds.labels("referee"), (reply.referee_us for reply in replies))
        for record in match.records:
            if isinstance(record, RejectionRecord):
                self.rejections.labels(record.reason.name.lower()).inc()
        for result in match.results:
            termination = result.end.termination
            if termination.forfeit:
                self.forfeits.labels(result.entry, termination.name.lower()).inc()

    def count_stalls(self, stalled_us: int) -> None:
        """Update the total time for which the referee's clock has stood still."""
        self.stalled_seconds.inc((stalled_us - self._stalled_us) / SECOND_US)
        self._stalled_us = stalled_us

    def count_violation(self, kind: ErrorKind) -> None:
        """Count a violation now: it reveals nothing about the game, and the forfeit is public."""
        self.violations.labels(kind.reason).inc()


def _observe(histogram: Histogram, durations_us: Iterable[int]) -> None:
    for duration_us in durations_us:
        histogram.observe(duration_us / SECOND_US)
