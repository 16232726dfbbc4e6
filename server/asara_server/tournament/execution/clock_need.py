"""Calculates the clock that a bot would have needed. Pure."""

from collections.abc import Iterable

from asara_codec.clocks import Clocks


def bank_needed_us(answers_us: Iterable[int], clocks: Clocks) -> int:
    """Return the smallest time bank with which none of these decisions would have timed out.

    `answers_us` are the bot's answer times in order, including the grace. All times are in
    microseconds.
    """
    needed = used = 0
    for number, answer_us in enumerate(answers_us, 1):
        used += max(answer_us - clocks.grace_us, 0)
        needed = max(needed, used - number * clocks.increment_us)
    return needed
