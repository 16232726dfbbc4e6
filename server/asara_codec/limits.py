"""The terms on which a bot is let in and plays: time and limits, as the protocol carries them."""

from typing import NamedTuple


class Clocks(NamedTuple):
    """The time a bot has, in microseconds."""

    start_up_us: int
    """From the start of the match until the bot must have dialled in."""
    bank_us: int
    increment_us: int
    """Added to the bank with every decision."""
    grace_us: int
    """Not charged, per decision, for the network."""
    reconnect_us: int
    """How long a bot may stay away after a break."""


class Limits(NamedTuple):
    """What the referee tolerates; the fields are those of the message Limits."""

    request_bytes: int
    requests_per_second: int
    matches: int
    actions_per_reply: int
    rejections_forgiven: int
    responses_unread: int
