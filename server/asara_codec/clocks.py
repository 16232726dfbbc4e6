"""Time controls as the protocol carries them."""

from typing import NamedTuple


class Clocks(NamedTuple):
    """The time that a bot has, in microseconds; the fields are those of the message Clocks."""

    start_up_us: int
    """From the start of the match until the bot must have connected."""
    bank_us: int
    increment_us: int
    """Added to the bank with every decision."""
    grace_us: int
    """Not charged, per decision, to allow for the network."""
    reconnect_us: int
    """For reconnecting after a stream broke."""
