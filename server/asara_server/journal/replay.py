"""Replays as values: the set-up of a match, its inputs, and how it ended."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from asara_codec.clocks import Clocks
from asara_codec.results import SeatEnd
from asara_game.edition import parse_edition
from asara_game.rules import RULES_VERSION, Rules
from asara_game.vocabulary import RuleSet
from asara_server.match.inputs import Record
from asara_server.match.spec import (
    MatchLimits,
    MatchSpec,
    Player,
    ProcessPolicy,
)
from asara_server.user_error import UserError


class ReplayError(UserError, ValueError):
    """Raised when a replay cannot be read or re-simulated; the text gives place and remedy."""


@dataclass(frozen=True, slots=True)
class ReplayHeader:
    """Everything needed to set up the same match again."""

    match_id: str
    edition: bytes
    """The content of the edition file, byte for byte."""
    rule_sets: frozenset[RuleSet]
    entries: tuple[str, ...]
    """Names of the entries, by seat; there is one per seat."""
    clocks: Clocks
    limits: MatchLimits
    deal_secret: bytes
    """The referee's 32 bytes from which the deal is derived."""
    started_unix_ms: int
    nonces: tuple[bytes, ...] = ()
    """By seat, the nonces that the bots added to a joint deal; empty for a bot that sent none."""
    shared_deal: str = ""
    """Name of the deal, if other matches may have the same deal; otherwise ""."""
    processes: tuple[ProcessPolicy | None, ...] = ()
    """By seat, the lifetime of the bot's process; None for a process started elsewhere. The whole
    tuple is empty if every process was started elsewhere, or nothing is known."""
    hide_forced: bool = False
    """True if a pause hides that a seat had no choice."""
    rules_version: int = RULES_VERSION
    """Version of the rules under which the match was played."""

    @classmethod
    def of(cls, spec: MatchSpec, limits: MatchLimits, started_unix_ms: int) -> Self:
        processes = tuple(player.processes for player in spec.players)
        return cls(
            match_id=spec.match_id,
            edition=spec.rules.edition.data,
            rule_sets=spec.rules.rule_sets,
            entries=spec.entries,
            clocks=spec.clocks,
            limits=limits,
            deal_secret=spec.secret,
            nonces=spec.nonces,
            shared_deal=spec.shared_deal,
            processes=processes if any(processes) else (),
            hide_forced=spec.hide_forced,
            started_unix_ms=started_unix_ms,
        )

    def rules(self) -> Rules:
        """Return the rules of the match; raises ReplayError if this program lacks them."""
        if self.rules_version != RULES_VERSION:
            raise ReplayError(
                f"played by version {self.rules_version} of the rules; this program has version "
                f"{RULES_VERSION}: use the version of the program that wrote the replay"
            )
        try:
            return _rules(self.edition, self.rule_sets, len(self.entries))
        except ValueError as error:
            raise ReplayError(str(error)) from None

    def spec(self) -> MatchSpec:
        """Return a spec to play the match again, with meaningless tokens; raises ReplayError."""
        return _spec(self)


@lru_cache(maxsize=4)  # an audit asks for it twice
def _spec(header: ReplayHeader) -> MatchSpec:
    rules = header.rules()
    try:
        processes = header.processes or (None,) * len(header.entries)
        players = tuple(
            Player(name, str(seat), lifetime)
            for seat, (name, lifetime) in enumerate(zip(header.entries, processes, strict=True))
        )
        return MatchSpec(
            header.match_id,
            rules,
            players,
            header.clocks,
            header.deal_secret,
            joint=bool(header.nonces),
            nonces=header.nonces,
            shared_deal=header.shared_deal,
            hide_forced=header.hide_forced,
        )
    except ValueError as error:
        raise ReplayError(str(error)) from None


@lru_cache(maxsize=64)  # slow to prepare, and few differ within a tournament
def _rules(edition: bytes, rule_sets: frozenset[RuleSet], seats: int) -> Rules:
    return Rules(parse_edition(edition), rule_sets, seats)


@dataclass(frozen=True, slots=True)
class Replay:
    """A finished match, as its replay records it."""

    header: ReplayHeader
    records: tuple[Record, ...]
    ends: tuple[SeatEnd, ...]
    """The ends, by seat. What a seat has left follows from the records."""
    digests: tuple[bytes, ...]
    """By seat, the digest of all messages sent to the seat."""
