"""Time controls as the protocol carries them."""

from typing import NamedTuple


class Clocks(NamedTuple):
    """A bot's time limits, in microseconds, with the same fields as the message Clocks."""

    start_up_us: int
    """Time from the start of the match until the bot must have connected."""
    bank_us: int
    increment_us: int
    """Time added to the bank with every decision."""
    grace_us: int
    """Time per decision that is not charged, to allow for the network."""
    reconnect_us: int
    """Time for reconnecting after a stream broke."""
