"""Results of matches. The journal and `results.jsonl` have a line per finished match, in the order
in which they end.

A line is a `MatchResult` in JSON, and a leaf of the Merkle tree that is signed at the end of the
run (see `trust.tree_head`). A void match, in which the referee failed, also has a line, but counts
for nothing. It was played again under the next attempt number if attempts were left.
"""

import re
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Final, NamedTuple, Self

from pydantic import BeforeValidator, Field, PlainSerializer, TypeAdapter, model_validator
from pydantic.dataclasses import dataclass

from asara_codec.results import SeatEnd, Termination
from asara_game.rules import format_rule_sets
from asara_server.text import on_one_line, reason_text
from asara_server.tournament.schedule.schedule import Attempt, attempt_name

_NUMBER: Final = re.compile(r"(\d+)")
_MOST_PRESTIGE = 1_000_000
"""An upper bound on the prestige that a match can give."""


_TERMINATIONS: Final = {kind.name.lower(): kind for kind in Termination}


def _termination(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return _TERMINATIONS[value]
    except KeyError:
        raise ValueError("seats: a termination is none that a match can have") from None


TerminationName = Annotated[
    Termination,
    BeforeValidator(_termination),
    PlainSerializer(lambda termination: termination.name.lower(), return_type=str),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatOutcome:
    """A `SeatEnd` with its entry, checked and flat, because that is the form of the published line.

    It is small, because a run may have 400,000 of them.
    """

    entry: str
    rank: int
    """1 for the best; tied seats share a rank, and the ranks that follow are skipped."""
    prestige: int = Field(ge=-_MOST_PRESTIGE, le=_MOST_PRESTIGE)
    termination: TerminationName
    detail: str = ""
    """Why the seat forfeited, as every seat was told; "" if it did not."""
    printed: tuple[str, ...] | None = None
    """The last lines that the bot printed, if they may explain a forfeit; otherwise None. Other
    bots and their authors must not read them."""

    @classmethod
    def of(cls, entry: str, end: SeatEnd, printed: Sequence[str] | None = None) -> Self:
        return cls(
            entry=entry, printed=None if printed is None else tuple(printed), **end._asdict()
        )

    @property
    def reason(self) -> str:
        """Why the seat forfeited, as a sentence."""
        return reason_text(self.detail)

    @property
    def explanation(self) -> str:
        """The reason and the last two printed lines, on one line.

        After an error in the author's code, the clients print the error and where it happened last.
        """
        if self.printed is None:
            return on_one_line(self.reason)
        lines = "\n".join(self.printed[-2:])
        return on_one_line(f"{self.reason}; it printed{': ' if lines else ' nothing'}{lines}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchResult:
    """The result of one attempt at a match. It is small, because a run may have 100,000 of them."""

    match_id: str
    attempt: int = 1
    """2 or more if earlier attempts at the match were void."""
    round: int
    rule_sets: str
    """The rule sets, such as "pro+gifts"."""
    block: str = ""
    """Name of the block, whose matches are not independent of each other; empty for a single
    match.
    """
    duplicate_deal: str = ""
    """Name of the deal in a duplicate block: matches with this deal have no entry in common, and
    their scores are compared. Empty for all other matches.
    """
    seats: tuple[SeatOutcome, ...]
    """Outcomes in seat order; empty if the match is void."""
    void: bool = False
    """True if the referee failed; the match then counts for nothing."""
    void_reason: str = ""
    """Why the attempt is void; "" if it counts."""
    lost: tuple[str, ...] = ()
    """Reasons why earlier workers did not return the attempt, oldest first. The attempt was then
    played again with the same deal.
    """
    replay_sha256: str = ""
    """SHA-256 of the attempt's replay file, in hexadecimal; "" if the attempt is void."""
    started: str
    """Start time, ISO 8601, UTC."""
    seconds: float = Field(allow_inf_nan=False)
    """Wall-clock duration in seconds."""

    @classmethod
    def of(
        cls,
        attempt: Attempt,
        *,
        started: str,
        seconds: float = 0.0,
        seats: tuple[SeatOutcome, ...] = (),
        void_reason: str = "",
    ) -> Self:
        """Return the result of an attempt; it is void if there is a `void_reason`."""
        match = attempt.match
        duplicate = match.kind == "duplicate" and not void_reason
        return cls(
            match_id=match.match_id,
            attempt=attempt.number,
            round=match.round,
            rule_sets=format_rule_sets(match.rule_sets),
            block=match.block,
            duplicate_deal=match.block if duplicate else "",
            seats=seats,
            void=bool(void_reason),
            void_reason=void_reason,
            started=started,
            seconds=seconds,
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> "MatchResult":
        """Return the result in a text that `to_json` returned; raises ValidationError."""
        return _JSON.validate_json(text)

    def to_json(self) -> str:
        """Return the result as JSON, on one line."""
        return _JSON.dump_json(self).decode()

    @model_validator(mode="after")
    def _check_ranks(self) -> Self:
        ranks = tuple([seat.rank for seat in self.seats])
        if not self.void and len(ranks) not in {2, 3, 4}:
            raise ValueError(f"seats: a match has 2 to 4, not {len(ranks)}")
        if not _can_end(ranks):
            raise ValueError(f"seats: no match ends with the ranks {list(ranks)}")
        return self

    @property
    def deal_block(self) -> str:
        """Name of the block; for a match outside any block, the match's own name."""
        return self.block or self.match_id

    @property
    def played_as(self) -> str:
        """Match ID of this attempt, as used by bots, the journal and the replay."""
        return attempt_name(self.match_id, self.attempt)

    @property
    def forfeits(self) -> tuple[SeatOutcome, ...]:
        return tuple(seat for seat in self.seats if seat.termination.forfeit)


class PlayedAttempt(NamedTuple):
    """An attempt that is over."""

    result: MatchResult
    records: tuple[bytes, ...] = ()
    """Records of the attempt's replay without the signature; empty if the attempt is void."""


_JSON: Final = TypeAdapter(MatchResult)


@lru_cache(maxsize=128)
def _can_end(ranks: tuple[int, ...]) -> bool:
    """Return True if a match can end with these ranks."""
    return all(rank == 1 + sum(other < rank for other in ranks) for rank in ranks)


def without_forfeits(results: Iterable[MatchResult]) -> list[MatchResult]:
    """Return the results of all blocks without a forfeit.

    A forfeit excludes its whole block, because the remaining matches would not be balanced over the
    seats.
    """
    every = list(results)
    forfeited = {result.deal_block for result in every if result.forfeits}
    return [result for result in every if result.deal_block not in forfeited]


def by_schedule(results: Iterable[MatchResult]) -> list[MatchResult]:
    """Sort results by match name, with numbers in numerical order, then by attempt."""
    return sorted(
        results,
        key=lambda result: (
            # One string takes less memory than its parts.
            "\0".join(part.zfill(12) for part in _NUMBER.split(result.match_id)),
            result.attempt,
        ),
    )


def utc_now() -> str:
    """Return the current time in ISO 8601, with milliseconds."""
    return utc_text(time.time())


def utc_text(unix_s: float) -> str:
    """Return a Unix time in ISO 8601, with milliseconds."""
    return datetime.fromtimestamp(unix_s, UTC).isoformat(timespec="milliseconds")
