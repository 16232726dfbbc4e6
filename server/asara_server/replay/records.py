"""What a replay holds: a header, the records in the order they happened, the results.

A match produces the records while it runs; `write_replay` turns them into a file and `read_replay`
brings back an equal `Replay`.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from asara_game.actions import Action
from asara_game.edition import parse_edition
from asara_game.rules import RULES_VERSION, Rules
from asara_game.vocabulary import RuleSet
from asara_server.results import RejectionReason, SeatResult, Termination
from asara_server.translate.terms import Clocks


class ReplayError(ValueError):
    """A replay cannot be read or re-driven; the text says where it fails and what to do."""


@dataclass(frozen=True, slots=True)
class ReplayHeader:
    """What is needed to set the match up again."""

    match_id: str
    edition: bytes
    """The edition file, byte for byte."""
    rule_sets: frozenset[RuleSet]
    entries: tuple[str, ...]
    """Name of the entry in each seat; their number is the number of seats."""
    clocks: Clocks
    deal_secret: bytes
    """The 32 bytes that every shuffle comes from."""
    started_unix_ms: int
    rules_version: int = RULES_VERSION
    """Version of the rules that the match was played by."""

    def rules(self) -> Rules:
        """The rules of the match; raises ReplayError where this program cannot play by them."""
        if self.rules_version != RULES_VERSION:
            raise ReplayError(
                f"played by version {self.rules_version} of the rules, and this program knows "
                f"version {RULES_VERSION}: use the version of this program that wrote it"
            )
        try:
            return _rules(self.edition, self.rule_sets, len(self.entries))
        except ValueError as error:
            raise ReplayError(str(error)) from None


@lru_cache(maxsize=64)  # the tables of the rules are dear, and a tournament has few kinds of match
def _rules(edition: bytes, rule_sets: frozenset[RuleSet], seats: int) -> Rules:
    return Rules(parse_edition(edition), rule_sets, seats)


class MoveRecord(NamedTuple):
    """An accepted action that a seat was asked for; forced actions follow from the rules."""

    seat: int
    action: Action
    bot_us: int = 0
    """Microseconds that the referee waited for the bot; 0 for what the steward decided, and for the
    later actions of a reply that carried several."""
    referee_us: int = 0
    """Microseconds of the referee's own work on this action."""
    steward: bool = False
    """Whether the steward decided, for a seat that forfeited."""


class RejectionRecord(NamedTuple):
    """A reply that was not accepted."""

    seat: int
    reason: RejectionReason
    detail: str
    """Why, in words, as the bot was told."""


class ForfeitRecord(NamedTuple):
    """A seat forfeited; from here on the steward decides for it."""

    seat: int
    termination: Termination
    detail: str


Record = MoveRecord | RejectionRecord | ForfeitRecord


@dataclass(frozen=True, slots=True)
class Replay:
    """A finished match."""

    header: ReplayHeader
    records: tuple[Record, ...]
    results: tuple[SeatResult, ...]
    """One per seat, in seat order."""
