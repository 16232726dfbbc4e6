"""Seeds: the secret from which deals and the bots' seeds are derived.

Hundreds of thousands of seeds a second can be tried out: by a bot against its own `ASARA_SEED`, or
by anyone against the published commitments. A seed therefore has 256 random bits, written as 64
hexadecimal digits, so that no search finds it. Values derived from it under one label then reveal
nothing about values derived under another label (HMAC-SHA256).
"""

import hashlib
import re
import secrets
import zlib
from typing import Final

_DIGITS: Final = 64
_LEAST_COMPRESSED: Final = 36
"""Compressed size in bytes that 32 random bytes exceed, except once in more than 2^32 draws. A
repeated pattern does not exceed it.
"""


def draw_seed() -> str:
    """Return a new seed."""
    return secrets.token_hex(_DIGITS // 2)


def check_seed(text: str) -> str:
    """Return a seed in lower case; raise ValueError, with a remedy, if it is not strong."""
    fault = _fault(text)
    if fault:
        raise ValueError(
            f"{fault}; bots could guess anything else. Leave it out to get a random seed for each "
            f"run, or use this new one: {draw_seed()}"
        )
    return text.lower()


def local_seed(text: str) -> str:
    """Return the seed for a text chosen by the user: its SHA-256, or the text itself if it is
    strong.

    Such a seed is as easy to guess as the text, so use it only for matches between your own bots.
    """
    return text.lower() if not _fault(text) else hashlib.sha256(text.encode()).hexdigest()


def _fault(text: str) -> str:
    """Return why a text is not a strong seed; "" if it is strong."""
    if not re.fullmatch(f"[0-9a-fA-F]{{{_DIGITS}}}", text):
        return f"needs {_DIGITS} random hexadecimal digits"
    if len(zlib.compress(bytes.fromhex(text), 9)) < _LEAST_COMPRESSED:
        return "repeats itself"
    return ""
