"""Time controls as the protocol carries them."""

from typing import NamedTuple


class Clocks(NamedTuple):
    """A bot's time limits, in microseconds, with the same fields as the message Clocks."""

    start_up_us: int = 30_000_000
    """Time from the start of the match until the bot must have connected."""
    bank_us: int = 60_000_000
    increment_us: int = 500_000
    """Time added to the bank with every decision."""
    grace_us: int = 50_000
    """Time per decision that is not charged, to allow for the network."""
    reconnect_us: int = 10_000_000
    """Time for reconnecting after a stream broke."""
