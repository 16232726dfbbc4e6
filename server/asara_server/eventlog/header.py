"""What a replay holds: a header, what happened in order, and how it ended.

A match makes the records while it runs; `write_replay` turns them into a file and `read_replay`
brings back an equal `Replay`.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Self

from asara_codec.limits import Clocks, Limits
from asara_codec.results import SeatResult
from asara_game.edition import parse_edition
from asara_game.rules import RULES_VERSION, Rules
from asara_game.vocabulary import RuleSet
from asara_server.match.inputs import Record
from asara_server.match.spec import ClockSettings, MatchRecord, MatchSpec, Player

PUBLIC_KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
"""Of Ed25519."""


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
    actions_per_reply: int
    rejections_forgiven: int
    deal_secret: bytes
    """The referee's 32 bytes that the deal comes from."""
    deal_commitment: bytes
    """Its SHA-256, which the bots were told."""
    started_unix_ms: int
    nonces: tuple[bytes, ...] = ()
    """By seat, what the bots added to a joint deal, empty where one sent none."""
    mirrored_block: str = ""
    """Name of the deal block whose matches all have this deal; empty where no other has it."""
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

    def spec(self) -> MatchSpec:
        """The match to be played again, by nobody in particular; raises ReplayError."""
        rules = self.rules()
        try:
            clocks = ClockSettings.from_microseconds(self.clocks)
            players = tuple(Player(name, str(seat)) for seat, name in enumerate(self.entries))
            return MatchSpec(
                self.match_id,
                rules,
                players,
                clocks,
                self.deal_secret,
                joint=bool(self.nonces),
                nonces=self.nonces,
                mirrored_block=self.mirrored_block,
            )
        except ValueError as error:
            raise ReplayError(str(error)) from None

    def limits(self) -> Limits:
        """The limits that a match depends on; the others stay open."""
        return Limits(0, 0, 0, self.actions_per_reply, self.rejections_forgiven, 0)

    @classmethod
    def of(cls, spec: MatchSpec, limits: Limits, started_unix_ms: int) -> Self:
        """The header of a match that is played."""
        return cls(
            match_id=spec.match_id,
            edition=spec.rules.edition.data,
            rule_sets=spec.rules.rule_sets,
            entries=spec.entries,
            clocks=spec.clocks.in_microseconds(),
            actions_per_reply=limits.actions_per_reply,
            rejections_forgiven=limits.rejections_forgiven,
            deal_secret=spec.secret,
            deal_commitment=spec.commitment,
            nonces=spec.nonces,
            mirrored_block=spec.mirrored_block,
            started_unix_ms=started_unix_ms,
        )


@lru_cache(maxsize=64)  # the tables of the rules are dear, and a tournament has few kinds of match
def _rules(edition: bytes, rule_sets: frozenset[RuleSet], seats: int) -> Rules:
    return Rules(parse_edition(edition), rule_sets, seats)


@dataclass(frozen=True, slots=True)
class Replay:
    """A finished match."""

    header: ReplayHeader
    records: tuple[Record, ...]
    results: tuple[SeatResult, ...]
    """One per seat, in seat order."""
    digests: tuple[bytes, ...]
    """By seat, the digest of all that was sent to it."""


def replay_of(match: MatchRecord) -> Replay:
    """The replay of a match that is over, and not void."""
    header = ReplayHeader.of(match.spec, match.limits, match.started_unix_ms)
    return Replay(header, match.records, match.results, match.digests)
