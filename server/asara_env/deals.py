"""Deals of environments: secrets derived from a seed in the same way as in a tournament.

A seed is a whole number below 2²⁵⁶. Written as 64 hexadecimal digits, the seed also works as the
`seed` of a tournament: matches with the same name then have the same deal. Matches are named by
number, from 1. Row r of a vector of matches (from 0) plays matches `r.1`, `r.2` and so on.
"""

from __future__ import annotations

import hashlib
import hmac
import operator
import secrets
from collections.abc import Mapping
from typing import Any, Final, SupportsIndex

__all__ = ["LARGEST_SEED", "Deals", "given_secret"]

LARGEST_SEED: Final = 2**256 - 1


class Deals:
    """The secrets of one environment's matches, one after the other."""

    def __init__(self, seed: SupportsIndex | None, prefix: str = "") -> None:
        """Start a sequence of deals, random without a seed; raise ValueError for a bad seed."""
        if seed is None:
            seed = secrets.randbits(256)
        number = _whole(seed)
        if not 0 <= number <= LARGEST_SEED:
            raise ValueError(f"seed {seed!r}: not a whole number from 0 to 2**256 - 1")
        self._tournament = _hmac(f"{number:064x}".encode(), b"asara/tournament/deals")
        self._prefix = prefix
        self._matches = 0

    def next_secret(self) -> bytes:
        """Return the secret of the next match, 32 bytes."""
        self._matches += 1
        name = f"match/{self._prefix}{self._matches}"
        return _hmac(self._tournament, name.encode())


def given_secret(options: Any) -> bytes | None:
    """Return the option `secret` of `reset`, or None if it is not given.

    Other options are ignored. Raise TypeError or ValueError if the secret is not 32 bytes.
    """
    if options is None:
        return None
    if not isinstance(options, Mapping):
        raise TypeError(f"options {options!r}: a dictionary is needed")
    secret = options.get("secret")
    if secret is None:
        return None
    if not isinstance(secret, bytes | bytearray):
        found = type(secret).__name__
        raise TypeError(f"options: the secret of a deal is 32 bytes, not of type {found}")
    if len(secret) != 32:
        raise ValueError(f"options: the secret of a deal is 32 bytes, not {len(secret)}")
    return bytes(secret)


def _whole(seed: SupportsIndex) -> int:
    """Return a seed as an int, or -1 if it is not an integer."""
    if isinstance(seed, bool):
        return -1
    try:
        return operator.index(seed)
    except TypeError:
        return -1


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, hashlib.sha256)
