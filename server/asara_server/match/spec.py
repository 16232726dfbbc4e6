"""The parameters of a match, and what is left of a finished one."""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from asara_codec.clocks import Clocks
from asara_codec.results import SeatEnd
from asara_game.rules import Rules
from asara_server.match.deal_secrets import commitment, deal_secret

SECOND_US: Final = 1_000_000
ProcessPolicy = Literal["match", "run"]
"""Lifetime of a bot's process. With "match", it ends with the match. With "run", the process also
plays further matches, but never the same deal twice."""
_LONGEST_ID: Final = 128
_LONGEST_US: Final = 10**9 * SECOND_US
"""Maximum of each clock limit. Sums of longer times could exceed 64 bits."""


class MatchLimits(NamedTuple):
    """The limits that affect the course of a match; replays contain them."""

    actions_per_reply: int = 64
    rejections_forgiven: int = 3
    """Rejected replies per seat that are forgiven before a rejection forfeits."""


@dataclass(frozen=True, slots=True)
class Player:
    """The player of a seat: the name of its entry, and the token that its bot presents."""

    entry: str
    token: str
    processes: ProcessPolicy | None = None
    """Lifetime of the bot's process; None if it is started elsewhere, as for a remote bot."""


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """One match to be played; raises ValueError if its fields contradict each other."""

    match_id: str
    """Unique within a run. Bots and spectators see it, so it reveals nothing about the deal."""
    rules: Rules
    players: tuple[Player, ...]
    """The players, by seat."""
    clocks: Clocks
    secret: bytes
    """The referee's 32 bytes, from which `deal_secrets` derives the deal."""
    joint: bool = False
    """True if every bot has to send a nonce before the match begins."""
    nonces: tuple[bytes, ...] = ()
    """Nonce of each seat, known when a joint match begins; empty if the seat sent no nonce."""
    shared_deal: str = ""
    """Name of the deal, if other matches may have the same deal; otherwise "".

    The secret of a shared deal is not disclosed, and the match has no spectators, because other
    matches with the same deal may follow or be running.
    """
    hide_forced: bool = False
    """True if a pause hides that a seat had no choice; see `asara_server.match.pauses`."""

    def __post_init__(self) -> None:
        if not 0 < len(self.match_id.encode()) <= _LONGEST_ID:
            raise ValueError(f"match_id {self.match_id!r}: use 1 to {_LONGEST_ID} bytes")
        if len(self.players) != self.rules.seats:
            raise ValueError(
                f"match {self.match_id}: {len(self.players)} players for {self.rules.seats} seats"
            )
        for name, limit_us in zip(Clocks._fields, self.clocks, strict=True):
            if not 0 <= limit_us <= _LONGEST_US:
                raise ValueError(
                    f"match {self.match_id}: {name} is {limit_us}; use 0 to {_LONGEST_US}"
                )
        if len({player.token for player in self.players}) < len(self.players):
            raise ValueError(f"match {self.match_id}: one bot cannot play two seats of a match")
        if len(self.nonces) not in (0, len(self.players)):
            raise ValueError(
                f"match {self.match_id}: {len(self.nonces)} nonces for {len(self.players)} seats"
            )
        if len(self.shared_deal.encode()) > _LONGEST_ID:
            raise ValueError(f"match {self.match_id}: shared_deal: use {_LONGEST_ID} bytes at most")
        if self.shared_deal and (self.joint or self.nonces):
            raise ValueError(
                f"match {self.match_id}: a joint deal cannot be shared: "
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
    def commitment(self) -> bytes:
        """SHA-256 of the secret, sent to all bots before the match.

        The secret itself is sent at the end, unless the deal is shared.
        """
        return commitment(self.secret)

    @property
    def deal_secret(self) -> bytes:
        """The 32 bytes from which every shuffle is derived."""
        return deal_secret(self.secret, self.nonces)


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A match that is over."""

    ends: tuple[SeatEnd, ...]
    """The ends by seat; empty if the match is void."""
    records: tuple[bytes, ...]
    """The records of its replay without the signature, serialized; empty if the match is void."""
    started_unix_ms: int
    duration_us: int
    void_reason: str = ""
    """Why the match is void, without revealing anything about the match; "" if the match counts."""

    @property
    def void(self) -> bool:
        """True if the referee failed: the match does not count, and has to be played again."""
        return bool(self.void_reason)
