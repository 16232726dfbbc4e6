"""`results.jsonl`: one line per finished match, written when it ends, in the order they end.

A line is a `MatchResult` in JSON. Void matches (the referee failed) are lines too; they count for
nothing, and the match was played again under the next attempt where attempts were left.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    model_validator,
)

from asara_codec.results import Termination

_MOST_PRESTIGE = 1_000_000
"""More than any match can give."""


def _termination(value: object) -> object:
    return Termination[value.upper()] if isinstance(value, str) else value


TerminationName = Annotated[
    Termination,
    BeforeValidator(_termination),
    PlainSerializer(lambda termination: termination.name.lower(), return_type=str),
]


class SeatOutcome(BaseModel):
    """How the match ended for one seat."""

    model_config = ConfigDict(frozen=True)

    entry: str
    rank: int
    """1 for the best; ties share a rank, and the next ranks are left out."""
    prestige: int = Field(ge=-_MOST_PRESTIGE, le=_MOST_PRESTIGE)
    termination: TerminationName
    detail: str = ""
    """Why, in words, where the seat forfeited."""


class MatchResult(BaseModel):
    """How a match ended."""

    model_config = ConfigDict(frozen=True)

    match_id: str
    attempt: int = 1
    """2 and more where the match was void before."""
    round: int
    rule_sets: str
    """Such as "pro+gifts"."""
    block: str = ""
    """Name of its deal block; matches of one block are not independent of each other. Empty for a
    match that stands alone."""
    seats: tuple[SeatOutcome, ...]
    """In seat order; empty where the match is void."""
    void: bool = False
    """The referee failed; the match counts for nothing."""
    started: str
    """ISO 8601, UTC."""
    seconds: float
    """From the start to the end, by the wall."""

    @model_validator(mode="after")
    def _seats_can_be(self) -> Self:
        ranks = [seat.rank for seat in self.seats]
        if not self.void and len(ranks) not in {2, 3, 4}:
            raise ValueError(f"seats: a match has 2 to 4, not {len(ranks)}")
        if any(rank != 1 + sum(other < rank for other in ranks) for rank in ranks):
            raise ValueError(f"seats: no match ends with the ranks {ranks}")
        return self

    @property
    def deal_block(self) -> str:
        """The name of its block; a match that is of none is one of its own."""
        return self.block or self.match_id

    @property
    def played_as(self) -> str:
        """The name of the match in this attempt, for bots, journal and replay."""
        return attempt_name(self.match_id, self.attempt)

    @property
    def forfeits(self) -> tuple[SeatOutcome, ...]:
        return tuple(seat for seat in self.seats if seat.termination.forfeit)


def attempt_name(match_id: str, attempt: int) -> str:
    """The first attempt at a match has its name; the others add their number."""
    return match_id if attempt == 1 else f"{match_id}.{attempt}"


class ResultsError(ValueError):
    """A results file that cannot be read; the text says where."""


def read_results(path: Path) -> Iterator[MatchResult]:
    """The matches of a results file. A last line that was cut in the middle is left out."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith("\n"):
                return
            yield result_in(line, path, number)


def result_in(line: str | bytes, path: Path, number: int) -> MatchResult:
    """The match of a line, which is the one of this number in a results file."""
    try:
        return MatchResult.model_validate_json(line)
    except ValidationError as error:
        what = error.errors(include_url=False)[0]["msg"]
        raise ResultsError(f"{path}: line {number}: {what}") from None


def utc_now() -> str:
    """ISO 8601, to the millisecond."""
    return utc_text(time.time())


def utc_text(unix_s: float) -> str:
    return datetime.fromtimestamp(unix_s, UTC).isoformat(timespec="milliseconds")
