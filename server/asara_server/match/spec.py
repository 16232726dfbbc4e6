"""What a match is played with, and what remains of it."""

from dataclasses import dataclass
from typing import Final, Self

from asara_codec.limits import Clocks, Limits
from asara_codec.results import SeatForfeited, SeatResult
from asara_game.events import Event
from asara_game.rules import Rules
from asara_server.match.deal_secrets import commitment, deal_secret
from asara_server.match.inputs import Record

SECOND_US: Final = 1_000_000
_LONGEST_ID: Final = 128


@dataclass(frozen=True, slots=True)
class ClockSettings:
    """The time allowed, in seconds; raises ValueError where it is negative or without end."""

    start_up_s: float = 30.0
    """From the start of the match until a bot must have dialled in."""
    bank_s: float = 60.0
    increment_s: float = 0.5
    """Added to the bank with every decision."""
    grace_s: float = 0.05
    """Not charged, per decision, for the network."""
    reconnect_s: float = 10.0
    """How long a bot may stay away after a break."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            seconds = getattr(self, name)
            if not 0 <= seconds <= 10**9:
                raise ValueError(f"{name} is {seconds}; it must be a number of seconds")

    def in_microseconds(self) -> Clocks:
        """The same, as the protocol carries it."""
        return Clocks(
            start_up_us=round(self.start_up_s * SECOND_US),
            bank_us=round(self.bank_s * SECOND_US),
            increment_us=round(self.increment_s * SECOND_US),
            grace_us=round(self.grace_s * SECOND_US),
            reconnect_us=round(self.reconnect_s * SECOND_US),
        )

    @classmethod
    def from_microseconds(cls, clocks: Clocks) -> Self:
        """Those that the protocol carries like this; raises ValueError."""
        return cls(*(microseconds / SECOND_US for microseconds in clocks))


@dataclass(frozen=True, slots=True)
class Player:
    """Who plays a seat: the name of the entry, and the token of the bot that dials in for it."""

    entry: str
    token: str


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """One match to be played; raises ValueError where it cannot be."""

    match_id: str
    """Unique in a run; bots and watchers see it, so it says nothing of the deal."""
    rules: Rules
    players: tuple[Player, ...]
    """By seat."""
    clocks: ClockSettings
    secret: bytes
    """The referee's 32 bytes; `asara_server.deals` tells how the deal comes from them."""
    joint: bool = False
    """Whether every bot is asked for a nonce before the match begins."""
    nonces: tuple[bytes, ...] = ()
    """By seat, once a joint match begins; empty for a seat that sent none."""
    mirrored_block: str = ""
    """Name of the deal block whose matches all have this deal; empty where no other match has it.

    Nobody is told the secret of such a deal, nor may watch: the others may still be to come."""

    def __post_init__(self) -> None:
        if not 0 < len(self.match_id.encode()) <= _LONGEST_ID:
            raise ValueError(f"match_id {self.match_id!r}: use 1 to {_LONGEST_ID} bytes")
        if len(self.players) != self.rules.seats:
            raise ValueError(
                f"match {self.match_id}: {len(self.players)} players for {self.rules.seats} seats"
            )
        if len({player.token for player in self.players}) < len(self.players):
            raise ValueError(f"match {self.match_id}: one bot cannot play two seats of a match")
        if len(self.nonces) not in (0, len(self.players)):
            raise ValueError(
                f"match {self.match_id}: {len(self.nonces)} nonces for {len(self.players)} seats"
            )
        if len(self.mirrored_block.encode()) > _LONGEST_ID:
            raise ValueError(
                f"match {self.match_id}: mirrored_block: use {_LONGEST_ID} bytes at most"
            )
        if self.mirrored_block and (self.joint or self.nonces):
            raise ValueError(
                f"match {self.match_id}: a joint deal cannot be mirrored: "
                "the nonces of another match would make another deal"
            )
        try:
            deal_secret(self.secret, self.nonces)
        except ValueError as error:
            raise ValueError(f"match {self.match_id}: {error}") from None

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of the entries, by seat."""
        return tuple(player.entry for player in self.players)

    @property
    def mirrored(self) -> bool:
        """Whether other matches have the same deal."""
        return bool(self.mirrored_block)

    @property
    def commitment(self) -> bytes:
        """What all bots are told before the match; `secret` opens it.

        They are told that at the end, unless the match is mirrored.
        """
        return commitment(self.secret)

    @property
    def deal_secret(self) -> bytes:
        """The 32 bytes that every shuffle comes from."""
        return deal_secret(self.secret, self.nonces)


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A match that is over."""

    spec: MatchSpec
    results: tuple[SeatResult, ...]
    """By seat; empty where the match is void."""
    records: tuple[Record, ...]
    events: tuple[Event | SeatForfeited, ...]
    void: bool
    """Whether the referee failed: the match does not count and has to be played again."""
    digests: tuple[bytes, ...]
    """By seat, the digest of all that was sent to it."""
    limits: Limits
    started_unix_ms: int
    duration_us: int
