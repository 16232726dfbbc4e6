"""Seeds: the secret from which deals, and the seeds of bots, derive.

A bot can try out seeds on its own `ASARA_SEED`, and anybody on the published commitments, hundreds
of thousands a second. So a seed has 256 bits, drawn at random and written as 64 hexadecimal digits:
no search finds it, and then what derives from it under one label reveals nothing of what derives
under another (HMAC-SHA256).
"""

import hashlib
import re
import secrets
import zlib
from typing import Final

_DIGITS: Final = 64
_LEAST_COMPRESSED: Final = 36
"""Bytes that 32 bytes drawn at random exceed when compressed, except once in more than 2^32 draws;
a pattern repeated does not."""


def draw_seed() -> str:
    """Return a new seed."""
    return secrets.token_hex(_DIGITS // 2)


def check_seed(text: str) -> str:
    """Return a seed in lower case; raise ValueError, with a remedy, if it is not a strong one."""
    fault = _fault(text)
    if fault:
        raise ValueError(
            f"{fault}; bots could guess anything else. Leave it out to get a random seed for each "
            f"run, or use this new one: {draw_seed()}"
        )
    return text.lower()


def local_seed(text: str) -> str:
    """Return the seed that stands for a text of one's own choice: its SHA-256, or itself if strong.

    It is as easy to find as the text, so it is for matches between one's own bots only.
    """
    return text.lower() if not _fault(text) else hashlib.sha256(text.encode()).hexdigest()


def _fault(text: str) -> str:
    """Return why a text is not a strong seed; "" if it is one."""
    if not re.fullmatch(f"[0-9a-fA-F]{{{_DIGITS}}}", text):
        return f"needs {_DIGITS} random hexadecimal digits"
    if len(zlib.compress(bytes.fromhex(text), 9)) < _LEAST_COMPRESSED:
        return "repeats itself"
    return ""
